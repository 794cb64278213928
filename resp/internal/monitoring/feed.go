package monitoring

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A feed asks another node, again and again, for its lines. A goroutine of its own does. The lock of Monitors guards what
// is not said to be otherwise.
type feed struct {
	of   *Monitors
	peer relay.Peer
	over chan struct{} // closed when it ends

	session string // empty: none has begun
	// hears: the node has answered in this session, so that a client misses something if it does not again.
	hears bool
	// answered: no client waits for the node, which tells what it runs, or cannot.
	answered bool

	call   func([]byte, time.Duration) ([]byte, error) // the goroutine's
	callOf any
}

// What a node asks for: RING MONITOR node session word.
const (
	wordBegin = "begin" // a session begins
	wordNext  = "next"  // the answer may wait until there are lines
	wordEnd   = "end"   // that answer is to come at once, and the session is over
)

const (
	// askTimeout is how long a node may take to answer that there are no lines.
	askTimeout = beat + time.Second
	// endTimeout bounds the last request of a session.
	endTimeout = 250 * time.Millisecond
	// retryPause is between attempts to reach a node.
	retryPause = 50 * time.Millisecond
	// refusedPause is between requests to a node that does not know RING MONITOR: it is of an older version.
	refusedPause = time.Second
)

func (f *feed) run() {
	for {
		pause := f.ask()
		select {
		case <-f.over:
			return
		default:
		}
		if pause == 0 {
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-f.over:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// ask asks once, and shows what there is. It returns how long to wait before it asks again.
func (f *feed) ask() (pause time.Duration) {
	m := f.of
	m.mu.Lock()
	word, peer := wordNext, f.peer
	if f.session == "" {
		word = wordBegin
		m.sessions++
		f.session = m.cfg.Run + "-" + strconv.FormatUint(m.sessions, 10)
	}
	session := f.session
	m.mu.Unlock()
	if f.call == nil || f.callOf != peer.Link {
		f.call, f.callOf = peer.Open(), peer.Link
	}
	reply, err := f.call(f.request(session, word), askTimeout)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.isOver() {
		if word == wordBegin { // the end may have overtaken it
			f.sayEnd(session)
		}
		return 0
	}
	dropped, lines, ok := parseAnswer(reply)
	if err == nil && ok {
		f.hears = true
		f.answerLocked()
		if dropped > 0 {
			m.tellLocked(f.notice(strconv.FormatUint(dropped, 10) + " commands of this node are not shown"))
		}
		m.tellLocked(lines)
		return 0
	}
	f.lostLocked(err)
	if err == nil && len(reply) > 0 && reply[0] == '-' {
		f.answerLocked()
		return refusedPause
	}
	return retryPause
}

// answerLocked notes that the node has answered. The caller holds the lock.
func (f *feed) answerLocked() {
	if f.answered {
		return
	}
	f.answered = true
	close(f.of.progress)
	f.of.progress = make(chan struct{})
}

// lostLocked ends the session, whose last lines may be lost. The caller holds the lock.
func (f *feed) lostLocked(err error) {
	if f.hears {
		f.of.cfg.Logger.Warn("clients of MONITOR may miss commands of a node", "node", f.peer.ID, "err", err)
		f.of.tellLocked(f.notice("commands of this node may be missing"))
	}
	f.session, f.hears = "", false
}

// notice is a line of the stream that is about the node itself.
func (f *feed) notice(text string) []byte {
	return Line(time.Now(), 0, f.peer.ID, [][]byte{[]byte(text)})
}

// endLocked has the goroutine end, and the node answer what it still waits for. The caller holds the lock.
func (f *feed) endLocked() {
	close(f.over)
	if f.session != "" {
		f.sayEnd(f.session)
	}
}

func (f *feed) isOver() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

// sayEnd has a goroutine tell the node that a session is over. The caller holds the lock.
func (f *feed) sayEnd(session string) {
	open := f.peer.Open
	f.of.running.Go(func() { _, _ = open()(f.request(session, wordEnd), endTimeout) })
}

// request is RING MONITOR.
func (f *feed) request(session, word string) []byte {
	return wire.AppendRequest(nil, "RING", "MONITOR", f.of.cfg.Self(), session, word)
}

// answerOf is what a node replies with: the number of lines that it has dropped before others, and these.
func answerOf(dropped uint64, lines []byte) []byte {
	return wire.AppendBulk(nil, append(fmt.Appendf(nil, "%d\n", dropped), lines...))
}

// parseAnswer reads an answer. It is false if the reply is something else.
func parseAnswer(reply []byte) (dropped uint64, lines []byte, ok bool) {
	if len(reply) == 0 || reply[0] != '$' {
		return 0, nil, false
	}
	text, ok := wire.ReplyText(reply)
	number, lines, found := bytes.Cut(text, []byte("\n"))
	dropped, err := strconv.ParseUint(string(number), 10, 64)
	return dropped, lines, ok && found && err == nil
}
