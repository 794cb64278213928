package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// watched is what is known of a node that was met. One goroutine at a time has it.
type watched struct {
	Node
	line  *Conn
	runID string // tells its starts apart; empty before it was asked
	fault error  // why it has not told; nil: it has
	there bool   // it is up, as far as others know

	at        time.Time // when it told what follows
	counted   counts    // by this start
	perSecond float64   // commands, since the time before
	cores     float64
	term      int64 // rises with the placement's changes
	strategy  string
	own       Holding
	backup    Holding
	primaries int64
	backups   int64
	running   int64 // handoffs that it has a part in
	memory    int64 // of its process
}

// asks is how many commands of a look a node counts among others'.
const asks = 2

// ask takes the node's figures and returns what it has counted since the last time. What it
// had counted when it was met first does not count, unless it has started since began.
func (n *watched) ask(ctx context.Context, a access, began time.Time) (since counts, err error) {
	defer func() {
		if n.fault = err; err != nil {
			n.hangUp()
		}
	}()
	if n.line == nil {
		if n.line, err = a.dial(ctx, n.Addr); err != nil {
			return since, err
		}
	}
	f, err := n.read(ctx)
	if err != nil {
		return since, err
	}
	if f["node"] != n.ID {
		return since, fmt.Errorf("it is node %s, and not %s", f["node"], n.ID)
	}
	now, count := time.Now(), f.counts()
	steady := n.runID == f["run_id"]
	switch {
	case steady:
		count.executed = max(n.counted.executed, count.executed-asks)
	case now.Add(-time.Duration(f.int("uptime_in_seconds")) * time.Second).After(began):
		n.counted = counts{}
	default:
		n.counted = count
	}
	since = count.sub(n.counted)
	n.perSecond, n.cores = 0, 0
	if took := now.Sub(n.at).Seconds(); steady && took > 0 {
		n.perSecond, n.cores = float64(since.executed)/took, since.cpu/took
	}
	if steady {
		count.executed += asks
	}
	n.runID, n.at, n.counted = f["run_id"], now, count
	n.term, n.strategy, n.memory = f.int("term"), f["strategy"], f.int("used_memory_rss")
	n.own = Holding{f.int("own_keys_estimate"), f.int("own_bytes_estimate")}
	n.backup = Holding{f.int("backup_keys_estimate"), f.int("backup_bytes_estimate")}
	n.primaries, n.backups, n.running = f.int("primaries"), f.int("backups"), f.int("handoffs_running")
	return since, nil
}

// read asks for all figures at a time.
func (n *watched) read(ctx context.Context) (figures, error) {
	defer n.line.bound(ctx)()
	sections := [][]byte{[]byte("INFO"), []byte("server"), []byte("stats")}
	if !n.Embedded { // else these are the whole process's, and take a while
		sections = append(sections, []byte("cpu"), []byte("memory"))
	}
	n.line.Add(sections...)
	n.line.Add([]byte("RING"), []byte("INFO"))
	if err := n.line.Flush(); err != nil {
		return nil, err
	}
	info, err := n.line.Reply()
	if err != nil {
		return nil, err
	}
	ring, err := n.line.Reply()
	if err != nil {
		return nil, err
	}
	return readFigures(info + "\r\n" + ring), nil
}

func (n *watched) hangUp() {
	if n.line != nil {
		n.line.Close()
		n.line = nil
	}
}

// unknown tells that a reply is that of a server that does not know a command.
func unknown(err error) bool { return strings.HasPrefix(err.Error(), "ERR unknown command") }
