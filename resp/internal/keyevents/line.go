package resp

import (
	"encoding/binary"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

const (
	// eventPatience is how long a node may take to confirm events before replies stop
	// waiting for it.
	eventPatience = time.Second
	// eventBeat is how often a node hears that there is nothing to hear.
	eventBeat = 500 * time.Millisecond
	// eventPause is between attempts to reach a node.
	eventPause = 20 * time.Millisecond
	// eventBatch is about how many bytes of events are sent together.
	eventBatch = 256 << 10
)

// An eventCommit is the events of one commit, on their way.
type eventCommit struct {
	number uint64
	text   []byte
	done   func()
	left   atomic.Int32 // lines that it waits for
}

func (c *eventCommit) sent() {
	if c.left.Add(-1) == 0 {
		c.done()
	}
}

// An eventLine takes events to one other node, in order, and tells it what this node wants to
// know. A goroutine of its own sends. What is not said to be otherwise is guarded by
// keyEvents.mu.
type eventLine struct {
	of   *keyEvents
	node string
	link *Route
	wake chan struct{}

	queue  []*eventCommit
	bytes  int
	cut    bool            // it does not answer: nobody waits for it, and nothing is kept
	ending bool            // the node is not there any more, or this one ends:
	sayEnd bool            // then it is told
	known  []chan struct{} // closed once the node knows what is wanted by now
	// answered: the node has said what it wants to know.
	answered bool
	late     bool // when it hears what is wanted, that may have been so for a while

	way   Way // the goroutine's
	wayOf Link
}

func newEventLine(e *keyEvents, node string) *eventLine {
	l := &eventLine{of: e, node: node, wake: make(chan struct{}, 1)}
	l.rouse() // it says who is there
	return l
}

func (l *eventLine) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// add queues events, and reports whether a reply waits for them. It is counted in c.left then.
func (l *eventLine) add(c *eventCommit) bool {
	if l.cut || l.ending {
		return false
	}
	// Writers wait for their events, but not what expires.
	if l.bytes += len(c.text); int64(l.bytes) > l.of.srv.keptMost() {
		l.bytes -= len(c.text)
		return false // which the number tells
	}
	c.left.Add(1)
	l.queue = append(l.queue, c)
	l.rouse()
	return true
}

// announce has the node told at once what this one wants to know.
func (l *eventLine) announce() <-chan struct{} {
	ch := make(chan struct{})
	l.known = append(l.known, ch)
	l.rouse()
	return ch
}

// end has the goroutine end.
func (l *eventLine) end() {
	l.ending = true
	l.rouse()
}

func (l *eventLine) run() {
	e := l.of
	defer e.sending.Done()
	beat := time.NewTicker(eventBeat)
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
func (l *eventLine) over() bool {
	e := l.of
	e.mu.Lock()
	ending, say := l.ending, l.sayEnd
	e.mu.Unlock()
	if !ending {
		return false
	}
	if say {
		_, _, _ = l.send(0, nil, true, eventPatience/4)
	}
	l.giveUp()
	return true
}

// deliver sends what there is, or a beat, and reports whether there is more. It insists for
// eventPatience, once.
func (l *eventLine) deliver() (more bool) {
	e := l.of
	for end := time.Now().Add(eventPatience); ; {
		e.mu.Lock()
		n, size := 0, 0
		for n < len(l.queue) && size < eventBatch {
			size += len(l.queue[n].text)
			n++
		}
		commits := l.queue[:n:n]
		known := len(l.known)
		next := e.number + 1
		insist := !l.cut && !l.ending
		e.mu.Unlock()
		if n > 0 {
			next = commits[0].number
		}
		wants, noted, err := l.send(next, commits, false, eventPatience)
		if err == nil {
			return l.confirmed(commits, known, wants, noted)
		}
		if !insist || time.Now().After(end) {
			l.giveUp()
			return false
		}
		time.Sleep(eventPause)
	}
}

// confirmed takes away what the node has.
func (l *eventLine) confirmed(commits []*eventCommit, known int, wants, noted store.EventClass) (more bool) {
	e := l.of
	e.mu.Lock()
	l.cut = false
	l.queue = l.queue[len(commits):]
	for _, c := range commits {
		l.bytes -= len(c.text)
	}
	for _, ch := range l.known[:known] {
		close(ch)
	}
	l.known = l.known[known:]
	if !l.ending {
		if l.late && e.all&^store.EventMiss&^noted != 0 && e.srv.pubsub.Len() > 0 {
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
func (l *eventLine) giveUp() {
	e := l.of
	e.mu.Lock()
	l.cut = true
	commits := l.queue
	l.queue, l.bytes = nil, 0
	e.mu.Unlock()
	for _, c := range commits {
		c.sent()
	}
}

// send sends commits, the first of them with that number, and returns what the node wants to
// know, and what it has noted before.
func (l *eventLine) send(first uint64, commits []*eventCommit, end bool, timeout time.Duration) (wants, noted store.EventClass, err error) {
	e := l.of
	e.mu.Lock()
	link := l.link.Link
	e.mu.Unlock()
	if l.way == nil || l.wayOf != link {
		l.way, l.wayOf = link.Way(), link
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
	b = wire.AppendBulkString(b, e.srv.selfID())
	b = wire.AppendBulkString(b, e.srv.runID)
	b = wire.AppendBulkString(b, strconv.FormatUint(uint64(e.own.Load()), 10))
	b = wire.AppendBulkString(b, strconv.FormatUint(first, 10))
	b = wire.AppendBulk(b, text)
	if err := l.way.Send(b, 1, Terms{}, timeout, nil); err != nil {
		return 0, 0, err
	}
	replies, err := l.way.Wait()
	if err != nil {
		return 0, 0, err
	}
	answer, ok := wire.ReplyInt(replies.Bytes)
	if !ok {
		return 0, 0, ErrUnknownOutcome
	}
	return store.EventClass(answer), store.EventClass(answer >> notedShift), nil
}
