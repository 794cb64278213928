package stats

import (
	"cmp"
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// Answers times the commands of a connection as its client sees them: from the arrival of a request until its reply has
// left, at whichever node it runs, with the wait for the log and for backups. It belongs to the goroutine that has the
// connection's replies.
type Answers struct {
	arrived time.Duration // the requests that are run now, on the server's clock
	runs    []answerRun   // replies that have not left, in order
}

// An answerRun is replies to the same command, whose requests arrived together.
type answerRun struct {
	cmd     *command.Row // nil: not timed
	n       int
	arrived time.Duration
}

// maxAnswerRuns bounds the runs of a connection: replies behind them are not timed.
const maxAnswerRuns = 1024

// Arrived notes when the requests arrived that are run from now on.
func (a *Answers) Arrived(at time.Duration) { a.arrived = at }

// Add notes a reply that waits to leave. nil stands for a command that is not timed, such as one that waited for
// what its client asked it to wait for.
func (a *Answers) Add(cmd *command.Row) {
	if i := len(a.runs) - 1; i >= 0 && a.runs[i].cmd == cmd && a.runs[i].arrived == a.arrived {
		a.runs[i].n++
	} else if len(a.runs) < maxAnswerRuns {
		a.runs = append(a.runs, answerRun{cmd, 1, a.arrived})
	}
}

// Drop takes the last replies back.
func (a *Answers) Drop(n int) {
	for n > 0 && len(a.runs) > 0 {
		last := &a.runs[len(a.runs)-1]
		if last.n > n {
			last.n -= n
			return
		}
		n -= last.n
		a.runs = a.runs[:len(a.runs)-1]
	}
}

// Left reports whether there are none.
func (a *Answers) Left() bool { return len(a.runs) == 0 }

// Sent counts all replies as having left now. It returns the command that took longest, and how long.
func (a *Answers) Sent(s *Stats, now time.Duration) (slowest *command.Row, longest time.Duration) {
	for _, run := range a.runs {
		if run.cmd == nil {
			continue
		}
		cmd, took := cmp.Or(run.cmd.As, run.cmd), now-run.arrived
		if took > longest {
			slowest, longest = cmd, took
		}
		c := &s.Commands[cmd.ID]
		c.answered[durations.Bucket(took)].Add(int64(run.n))
		c.answeredNanos.Add(int64(took) * int64(run.n))
	}
	if a.runs = a.runs[:0]; cap(a.runs) > keepAnswerRuns {
		a.runs = nil
	}
	return slowest, longest
}

// keepAnswerRuns is for how many runs a connection keeps memory.
const keepAnswerRuns = 16

// EachAnswered calls visit for each command that has been answered, with how long that took.
func (s *Stats) EachAnswered(visit func(command string, calls durations.Histogram)) {
	for _, cmd := range s.Table.All {
		c := &s.Commands[cmd.ID]
		if h := c.answered.Histogram(time.Duration(c.answeredNanos.Load())); h.Count > 0 {
			visit(cmd.Full, h)
		}
	}
}
