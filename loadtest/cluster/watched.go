package cluster

import (
	"context"
	"fmt"
	"time"
)

// Moved is what nodes have handed over.
type Moved struct{ Keys, Bytes, Handoffs int64 }

// Sub is what has been moved since an earlier time.
func (m Moved) Sub(before Moved) Moved {
	return Moved{m.Keys - before.Keys, m.Bytes - before.Bytes, m.Handoffs - before.Handoffs}
}

// counts are what a node counts, from zero on when it starts anew.
type counts struct {
	moved     Moved
	forwarded int64   // requests that it passed on
	executed  int64   // commands, without those of the watch
	cpu       float64 // seconds
}

func (c counts) sub(before counts) counts {
	return counts{
		c.moved.Sub(before.moved), c.forwarded - before.forwarded, c.executed - before.executed, c.cpu - before.cpu,
	}
}

func (c counts) add(d counts) counts { return c.sub(counts{}.sub(d)) }

func (f figures) counts() counts {
	return counts{
		moved:     Moved{f.int("moved_keys"), f.int("moved_bytes"), f.int("handoffs_done")},
		forwarded: f.int("requests_forwarded"),
		executed:  f.int("total_commands_processed"),
		cpu:       f.float("used_cpu_sys") + f.float("used_cpu_user"),
	}
}

// own is what the node serves.
func (f figures) own() Holding {
	return Holding{f.int("own_keys_estimate"), f.int("own_bytes_estimate")}
}

// all is what the node serves and keeps copies of.
func (f figures) all() Holding {
	own := f.own()
	return Holding{own.Keys + f.int("backup_keys_estimate"), own.Bytes + f.int("backup_bytes_estimate")}
}

// watched is what is known of a node that was met. One goroutine at a time has it.
type watched struct {
	Node
	line  *Conn
	fault error // why it has not told; nil: it has
	there bool  // it is up, as far as others know

	at        time.Time // when it told its figures
	figures   figures
	counted   counts  // by this start
	since     counts  // by the last ask
	perSecond float64 // commands, since the time before
	cores     float64
}

// asks is how many commands of a look a node counts among others'.
const asks = 2

// ask takes the node's figures, and what it has counted since the last time. What it
// had counted when it was met first does not count, unless it has started since began.
func (n *watched) ask(ctx context.Context, a access, began time.Time) (err error) {
	defer func() {
		if err != nil {
			n.hangUp()
		}
	}()
	if n.line == nil {
		if n.line, err = a.dial(ctx, n.Addr); err != nil {
			return err
		}
	}
	f, err := n.read(ctx)
	if err != nil {
		return err
	}
	if f["node"] != n.ID {
		return fmt.Errorf("it is node %s, and not %s", f["node"], n.ID)
	}
	now, count := time.Now(), f.counts()
	steady := n.figures["run_id"] == f["run_id"]
	switch {
	case steady:
		count.executed = max(n.counted.executed, count.executed-asks)
	case now.Add(-time.Duration(f.int("uptime_in_seconds")) * time.Second).After(began):
		n.counted = counts{}
	default:
		n.counted = count
	}
	n.since = count.sub(n.counted)
	n.perSecond, n.cores = 0, 0
	if took := now.Sub(n.at).Seconds(); steady && took > 0 {
		n.perSecond, n.cores = float64(n.since.executed)/took, n.since.cpu/took
	}
	if steady {
		count.executed += asks
	}
	n.at, n.figures, n.counted = now, f, count
	return nil
}

// read asks for all figures at a time.
func (n *watched) read(ctx context.Context) (figures, error) {
	defer n.line.bound(ctx, patience)()
	sections := []string{"INFO", "server", "stats"}
	if !n.Embedded { // else these are the whole process's, and take a while
		sections = append(sections, "cpu", "memory")
	}
	n.line.AddWords(sections...)
	info, err := n.line.Do("RING", "INFO") // sends both, and reads the first reply
	if err != nil {
		return nil, err
	}
	ring, err := n.line.Reply()
	return readFigures(info + "\r\n" + ring), err
}

func (n *watched) hangUp() {
	if n.line != nil {
		n.line.Close()
		n.line = nil
	}
}
