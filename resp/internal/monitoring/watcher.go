package monitoring

import "time"

// A watcher is another node with clients that see the lines of this one. The lock of Monitors guards it.
type watcher struct {
	of      *Monitors
	node    string
	session string

	lines   []byte // that it has not been told
	count   uint64 // of them
	dropped uint64 // before them

	parked func(reply []byte) // answers what it waits for
	asked  time.Time          // when it last asked, or was answered
	timer  *time.Timer
}

const (
	// maxQueued is how many bytes of lines may wait for a node.
	maxQueued = 1 << 20
	// keepQueued is how many bytes of memory an empty queue keeps.
	keepQueued = 64 << 10
	// beat is how long an answer waits for a line.
	beat = 250 * time.Millisecond
	// silence is after how long a node that does not ask any more is given up.
	silence = time.Second
)

var (
	replyLost = []byte("+LOST\r\n") // the session is not known: the node has to register again
	replyOK   = []byte("+OK\r\n")
)

// Hear takes in what another node asks. It returns the answer, and whether that may wait: then it can be left to Park.
func (m *Monitors) Hear(node, session, word string) (reply []byte, waits bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.watchers[node]
	if word == wordBegin && !m.ended {
		if w != nil {
			w.drop()
		}
		w = &watcher{of: m, node: node, session: session, asked: time.Now()}
		w.timer = time.AfterFunc(silence, w.look)
		m.watchers[node] = w
		m.adaptLocked()
	}
	if w == nil || w.session != session {
		return replyLost, false
	}
	if word == wordEnd {
		w.drop()
		return replyOK, false
	}
	w.reset(silence)
	waits = word == wordNext && len(w.lines) == 0 && w.dropped == 0
	return w.take(), waits
}

// Park keeps an answer until there is a line.
func (m *Monitors) Park(node, session string, answer func(reply []byte)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.watchers[node]
	if w == nil || w.session != session {
		answer(replyLost)
		return
	}
	w.answer() // an earlier one
	w.parked = answer
	w.reset(beat)
	if len(w.lines) > 0 || w.dropped > 0 {
		w.answer()
	}
}

// add queues a line, and drops what waits if that is too much.
func (w *watcher) add(line []byte) {
	if len(w.lines)+len(line) > maxQueued {
		w.dropped += w.count
		w.lines, w.count = w.lines[:0], 0
	}
	if len(line) > maxQueued {
		w.dropped++
	} else {
		w.lines = append(w.lines, line...)
		w.count++
	}
	w.answer()
}

// take returns the answer that tells what there is, which does not wait any longer.
func (w *watcher) take() []byte {
	reply := answerOf(w.dropped, w.lines)
	w.lines, w.count, w.dropped = w.lines[:0], 0, 0
	if cap(w.lines) > keepQueued {
		w.lines = nil
	}
	return reply
}

// answer answers what the node waits for, if it does.
func (w *watcher) answer() {
	if w.parked == nil {
		return
	}
	parked := w.parked
	w.parked = nil
	w.reset(silence)
	parked(w.take())
}

func (w *watcher) reset(d time.Duration) {
	w.asked = time.Now()
	w.timer.Reset(d)
}

// look answers a node that has waited for long, and gives up one that does not ask.
func (w *watcher) look() {
	m := w.of
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.watchers[w.node] != w:
	case w.parked != nil:
		w.answer()
	case time.Since(w.asked) < silence:
		w.timer.Reset(silence)
	default:
		m.cfg.Logger.Warn("a node has stopped asking for the commands that its clients of MONITOR see", "node", w.node)
		w.drop()
	}
}

// drop forgets the node.
func (w *watcher) drop() {
	m := w.of
	delete(m.watchers, w.node)
	w.timer.Stop()
	if parked := w.parked; parked != nil {
		w.parked = nil
		parked(replyLost)
	}
	m.adaptLocked()
}
