package trace

import (
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// What a stage is.
const (
	Latch    = "latch"     // other requests had the keys
	Run      = "run"       // the commands ran, or waited for their turn on the connection
	LogQueue = "log queue" // the log was being written for others
	LogWrite = "log"       // the log was written, and fsynced if the fsync mode says so
	Backup   = "backup"    // a backup had not acknowledged the changes; it begins with those of the log
	Hop      = "hop"       // the requests were at another node, or on their way
)

// A Stage is a part of the time of a request. Stages may overlap.
type Stage struct {
	Name       string
	Node       string        // of a hop or a backup
	Start, End time.Duration // on the server's clock
	span       spanID        // of a sampled hop
}

// An Ack is when a backup has acknowledged a change.
type Ack struct {
	Node string
	At   time.Time
}

// A Timing is where the time of a connection's requests goes, from their arrival until their replies have left. It
// belongs to the goroutine that has the replies.
type Timing struct {
	Arrived time.Duration
	// LatchFrom and LatchTo are when the newest unit waited for latches; both are 0 if it need not.
	LatchFrom, LatchTo time.Duration
	Committed          time.Duration // when the commit of the newest unit began; 0 if none has
	Commit             store.CommitTimes
	Token              ring.Token // of the first key of the newest unit
	Keyed              bool       // there is one
	hops               []Stage
	Sampled            *Sampled // nil: the requests are not traced
}

// maxHops bounds the hops that are noted.
const maxHops = 64

// Begin begins with new requests.
func (t *Timing) Begin(arrived time.Duration) {
	t.Arrived, t.LatchFrom, t.LatchTo, t.Committed = arrived, 0, 0, 0
	t.Commit, t.Keyed, t.Sampled = store.CommitTimes{}, false, nil
	t.hops = t.hops[:0]
}

// A Departure is a batch of requests that has left for another node.
type Departure struct {
	timing *Timing
	node   string
	began  time.Time // when the server's clock was 0
	at     time.Duration
	span   spanID
}

// Leave notes that requests leave for another node now. context is what that node is told: nil if the requests are
// not sampled. The server's clock was 0 at began.
func (t *Timing) Leave(node string, began time.Time) (d Departure, context []byte) {
	d = Departure{timing: t, node: node, began: began, at: time.Since(began)}
	if t.Sampled != nil {
		d.span = newSpanID()
		context = t.Sampled.context(d.span)
	}
	return d, context
}

// Arrive notes that the replies have arrived, at a time, or now if that is zero. It does so once, and not for the zero
// Departure.
func (d *Departure) Arrive(at time.Time) {
	t := d.timing
	if d.timing = nil; t == nil || len(t.hops) == maxHops {
		return
	}
	if at.IsZero() {
		at = time.Now()
	}
	t.hops = append(t.hops, Stage{Name: Hop, Node: d.node, Start: d.at, End: at.Sub(d.began), span: d.span})
}

// Stages returns the stages, in the order of their beginnings; that of a hop is the first that has one. The server's
// clock was 0 at began. acks are those of the newest unit.
func (t *Timing) Stages(began time.Time, acks []Ack) (all []Stage) {
	add := func(name, node string, start, end time.Duration) {
		if end > start && start > 0 {
			all = append(all, Stage{Name: name, Node: node, Start: start, End: end})
		}
	}
	add(Latch, "", t.LatchFrom, t.LatchTo)
	add(Run, "", max(t.Arrived, t.LatchTo), t.Committed)
	if !t.Commit.Ended.IsZero() {
		from, to := t.Commit.Began.Sub(began), t.Commit.Ended.Sub(began)
		add(LogQueue, "", t.Committed, from)
		add(LogWrite, "", max(from, t.Committed), to)
	}
	for _, a := range acks {
		add(Backup, a.Node, t.Committed, a.At.Sub(began))
	}
	return append(all, t.hops...)
}
