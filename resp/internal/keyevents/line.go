package keyevents

import (
	"encoding/binary"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

const (
	// patience is how long a node may take to confirm events before replies stop
	// waiting for it.
	patience = time.Second
	// beat is how often a node hears that there is nothing to hear.
	beat = 500 * time.Millisecond
	// pause is between attempts to reach a node.
	pause = 20 * time.Millisecond
	// batchSize is about how many bytes of events are sent together.
	batchSize = 256 << 10
)

// An commit is the events of one commit, on their way.
type commit struct {
	number uint64
	text   []byte
	done   func()
	left   atomic.Int32 // lines that it waits for
}

func (c *commit) sent() {
	if c.left.Add(-1) == 0 {
		c.done()
	}
}

// An line takes events to one other node, in order, and tells it what this node wants to
// know. A goroutine of its own sends. What is not said to be otherwise is guarded by
// Events.mu.
type line struct {
	of   *Events
	node string
	peer relay.Peer
	wake chan struct{}

	queue  []*commit
	bytes  int
	cut    bool            // it does not answer: nobody waits for it, and nothing is kept
	ending bool            // the node is not there any more, or this one ends:
	sayEnd bool            // then it is told
	known  []chan struct{} // closed once the node knows what is wanted by now
	// answered: the node has said what it wants to know.
	answered bool
	late     bool // when it hears what is wanted, that may have been so for a while
	// anchor: the node's follower has begun, and what it wants is complete from the next commit that it gets on.
	anchor bool

	way   func([]byte, time.Duration) ([]byte, error) // the goroutine's
	wayOf any
}

func newLine(e *Events, node string) *line {
	l := &line{of: e, node: node, wake: make(chan struct{}, 1)}
	l.rouse() // it says who is there
	return l
}

func (l *line) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// add queues events, and reports whether a reply waits for them. It is counted in c.left then.
func (l *line) add(c *commit) bool {
	if l.cut || l.ending {
		l.anchor = false
		return false
	}
	// Writers wait for their events, but not what expires.
	if l.bytes += len(c.text); int64(l.bytes) > l.of.cfg.MaxQueued() {
		l.bytes -= len(c.text)
		l.anchor = false
		return false // which the number tells
	}
	c.left.Add(1)
	l.queue = append(l.queue, c)
	l.rouse()
	return true
}

// announce has the node told at once what this one wants to know.
func (l *line) announce() <-chan struct{} {
	ch := make(chan struct{})
	l.known = append(l.known, ch)
	l.rouse()
	return ch
}

// end has the goroutine end.
func (l *line) end() {
	l.ending = true
	l.rouse()
}

func (l *line) run() {
	e := l.of
	defer e.sending.Done()
	beat := time.NewTicker(beat)
	defer beat.Stop()
	for {
		select {
		case <-l.wake:
		case <-beat.C:
		}
		for more := true; more; {
			if more = l.deliver(); l.over() {
				return
			}
		}
	}
}

// over ends the line, if it is to, once.
func (l *line) over() bool {
	e := l.of
	e.mu.Lock()
	ending, say := l.ending, l.sayEnd
	e.mu.Unlock()
	if !ending {
		return false
	}
	if say {
		_, _, _ = l.send(0, nil, 0, true, patience/4)
	}
	l.giveUp()
	return true
}

// deliver sends what there is, or a beat, and reports whether there is more. It insists for
// patience, once.
func (l *line) deliver() (more bool) {
	e := l.of
	for end := time.Now().Add(patience); ; {
		e.mu.Lock()
		n, size := 0, 0
		for n < len(l.queue) && size < batchSize {
			size += len(l.queue[n].text)
			n++
		}
		commits := l.queue[:n:n]
		known := len(l.known)
		next := e.number + 1
		insist, anchor, flags := !l.cut && !l.ending, l.anchor, l.flagsLocked()
		e.mu.Unlock()
		if n > 0 {
			next = commits[0].number
		}
		wants, noted, err := l.send(next, commits, flags, false, patience)
		if err == nil {
			return l.confirmed(commits, known, anchor, wants, noted)
		}
		if !insist || time.Now().After(end) {
			l.giveUp()
			return false
		}
		time.Sleep(pause)
	}
}

// confirmed takes away what the node has.
func (l *line) confirmed(commits []*commit, known int, anchored bool, wants, noted store.EventClass) (more bool) {
	e := l.of
	e.mu.Lock()
	l.cut = false
	l.anchor = l.anchor && !anchored
	l.queue = l.queue[len(commits):]
	for _, c := range commits {
		l.bytes -= len(c.text)
	}
	for _, ch := range l.known[:known] {
		close(ch)
	}
	l.known = l.known[known:]
	if !l.ending {
		if l.late && e.all&^store.EventMiss&^noted != 0 && e.listens() {
			e.reportGap(l.node)
		}
		l.late = false
		e.setOther(l.node, wants)
		l.answered = true
	}
	more = len(l.queue)+len(l.known) > 0
	e.mu.Unlock()
	for _, c := range commits {
		c.sent()
	}
	return more
}

// giveUp lets go of what waits for the node. If it is there after all, it finds by the
// numbers that it has missed something.
func (l *line) giveUp() {
	e := l.of
	e.mu.Lock()
	l.cut = true
	commits := l.queue
	l.queue, l.bytes = nil, 0
	l.anchor = l.anchor && len(commits) == 0
	e.mu.Unlock()
	for _, c := range commits {
		c.sent()
	}
}

// Flags among what this node wants to know, for nodes that want EventChanged.
const (
	// followFlag tells that this node knows of the follower of the other one. What was sent without it may have been on
	// the way when the follower began, and commits before it are none of its own.
	followFlag = 1 << 30
	// anchorFlag tells that the follower misses nothing from the first commit on that is sent with it, whatever the
	// number of that is.
	anchorFlag = 1 << 31
)

// flagsLocked returns the flags of what is sent now. The caller holds the lock.
func (l *line) flagsLocked() (flags uint64) {
	if l.of.others[l.node]&store.EventChanged != 0 {
		flags = followFlag
	}
	if l.anchor {
		flags |= anchorFlag
	}
	return flags
}

// send sends commits, the first of them with that number, and returns what the node wants to
// know, and what it has noted before.
func (l *line) send(first uint64, commits []*commit, flags uint64, end bool, timeout time.Duration) (wants, noted store.EventClass, err error) {
	e := l.of
	e.mu.Lock()
	peer, own := l.peer, e.wants()
	e.mu.Unlock()
	if l.way == nil || l.wayOf != peer.Link {
		l.way, l.wayOf = peer.Open(), peer.Link
	}
	var text []byte
	for _, c := range commits {
		text = append(binary.AppendUvarint(text, uint64(len(c.text))), c.text...)
	}
	if end {
		first = 0
	}
	b := wire.AppendArray(nil, 7)
	b = wire.AppendBulkString(b, "RING")
	b = wire.AppendBulkString(b, "EVENTS")
	b = wire.AppendBulkString(b, e.cfg.Self())
	b = wire.AppendBulkString(b, e.cfg.Run)
	b = wire.AppendBulkString(b, strconv.FormatUint(uint64(own)|flags, 10))
	b = wire.AppendBulkString(b, strconv.FormatUint(first, 10))
	b = wire.AppendBulk(b, text)
	reply, err := l.way(b, timeout)
	if err != nil {
		return 0, 0, err
	}
	answer, ok := wire.ReplyInt(reply)
	if !ok {
		return 0, 0, errAnswer
	}
	return store.EventClass(answer), store.EventClass(answer >> notedShift), nil
}

var errAnswer = errors.New("the answer to key events is not a number")
