package resp

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A tracker feed asks another node, again and again, what has changed there of what clients of this
// node keep (RING HEED, see tracking_remote.go). A goroutine of its own does. The lock of trackers
// guards what is not said to be otherwise.
//
// Invariant: what another node has answered is kept only while this node hears of it: from
// before it was read until trackerLease after the asking of what was last answered. Clients are
// told to forget everything as soon as it does not any more.
type trackerFeed struct {
	of   *trackers
	node string
	link *Route
	wake chan struct{}

	until  time.Duration // by trackers.leaseClock: until then it hears; 0: it does not
	said   uint64        // the prefixes that the node knows, by trackers.wanted
	ending bool

	// The goroutine's.
	session string
	heard   uint64
	ways    [2]Way
	waysOf  Link
	arrived chan struct{}
}

const (
	// earPause is between attempts to reach a node.
	earPause = 50 * time.Millisecond
	// earPatience is how long clients wait until other nodes say what changes there.
	earPatience = time.Second
)

// updateFeeds goes by new routes.
func (ts *trackers) updateFeeds(r *Routes) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.updateFeedsLocked(r)
}

// updateFeedsLocked has a tracker feed for each node that may have keys, while there are clients.
func (ts *trackers) updateFeedsLocked(r *Routes) {
	for node, e := range ts.feeds {
		if r == nil || ts.ended || len(ts.clients) == 0 || !r.hasPeer(node) {
			e.ending = true
			delete(ts.feeds, node)
			ts.dropFeed(e)
			e.rouse()
		}
	}
	if r == nil || ts.ended || len(ts.clients) == 0 {
		return
	}
	for _, peer := range r.peers {
		if peer.Proxy {
			continue
		}
		e := ts.feeds[peer.ID]
		if e == nil {
			e = &trackerFeed{of: ts, node: peer.ID, wake: make(chan struct{}, 1), arrived: make(chan struct{}, 1)}
			ts.feeds[peer.ID] = e
			e.link = peer
			ts.running.Go(e.run)
		}
		e.link = peer
		if e.said != ts.wanted {
			e.rouse()
		}
	}
}

// leaseClock is what a tracker feed counts trackerLease by: it goes on while the machine is
// suspended, and jumps ahead where the machine seems to have been paused. The remote tracker counts
// the same time by a clock that does neither, so that it never takes the lease for over before the
// tracker feed does.
func (ts *trackers) leaseClock() time.Duration { return ts.srv.cfg.Clock() }

// dropOverdueFeeds has clients forget everything where a tracker feed's time is over, without
// waiting for the answer that it still expects: the machine may just have been resumed.
func (ts *trackers) dropOverdueFeeds() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, e := range ts.feeds {
		if e.until != 0 && ts.leaseClock() >= e.until {
			ts.dropFeed(e)
		}
	}
}

// hasFeed reports whether another node says what changes there that a client wants to know.
func (ts *trackers) hasFeed(node string, of *tracker) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	e := ts.feeds[node]
	return e != nil && ts.leaseClock() < e.until && e.said >= of.wanted
}

// awaitFeeds returns when all nodes that seem to be there say what changes, or have not for
// long.
func (ts *trackers) awaitFeeds(c *conn) {
	timeout := time.NewTimer(earPatience)
	defer timeout.Stop()
	ts.mu.Lock()
	wanted := ts.wanted
	ts.mu.Unlock()
	for {
		ts.mu.Lock()
		ready, progress := true, ts.progress
		for _, e := range ts.feeds {
			ready = ready && e.until > 0 && e.said >= wanted
		}
		ts.mu.Unlock()
		if ready {
			return
		}
		select {
		case <-progress:
		case <-timeout.C:
			return
		case <-c.gone:
			return
		case <-c.srv.stop:
			return
		}
	}
}

// dropFeed is called when a node may not say any more what changes; the lock is held.
func (ts *trackers) dropFeed(e *trackerFeed) {
	if e.until == 0 {
		return
	}
	e.until = 0
	ts.forget()
}

func (e *trackerFeed) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *trackerFeed) run() {
	for {
		err := e.ask()
		if e.mustEnd() {
			return
		}
		if err == nil {
			continue
		}
		e.session = ""
		pause := time.NewTimer(earPause)
		select {
		case <-pause.C:
		case <-e.of.stop:
		}
		pause.Stop()
	}
}

// mustEnd ends the tracker feed, if it is to.
func (e *trackerFeed) mustEnd() bool {
	e.of.mu.Lock()
	ending := e.ending
	e.of.mu.Unlock()
	if ending && e.session != "" && e.ways[1] != nil {
		if e.ways[1].Send(e.request(heedEnd, nil), 1, Terms{}, trackerLease/4, nil) == nil {
			_, _ = e.ways[1].Wait()
		}
	}
	return ending
}

// request is RING HEED.
func (e *trackerFeed) request(how string, prefixes []string) []byte {
	words := []string{"HEED", e.of.srv.selfID(), e.session, strconv.FormatUint(e.heard, 10), how}
	return ringRequest(append(words, prefixes...)...)
}

// ask asks once, and takes in the answer.
func (e *trackerFeed) ask() error {
	ts := e.of
	ts.mu.Lock()
	link, wanted, until := e.link.Link, ts.wanted, e.until
	how, prefixes := heedPark, []string(nil)
	if e.session == "" || until == 0 || e.said != wanted {
		how = heedSay
		prefixes = ts.prefixes(func(t *tracker) bool { return !t.conn.session.redirects.Load() })
	}
	if e.session == "" || until == 0 {
		how, e.heard = heedFresh, 0
		ts.sessions++
		e.session = fmt.Sprintf("%s-%d", ts.srv.runID, ts.sessions)
	}
	ts.mu.Unlock()
	if e.waysOf != link {
		e.ways, e.waysOf = [2]Way{link.Way(), link.Way()}, link
	}
	sent := ts.leaseClock()
	if until == 0 {
		until = sent + ts.lease
	}
	text, err := e.exchange(e.request(how, prefixes), until-sent)
	if err == nil {
		err = e.takeIn(text)
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if err != nil || ts.leaseClock() >= until {
		ts.dropFeed(e)
		return err
	}
	if how == heedFresh && !e.ending {
		for _, t := range ts.clients {
			if t.broadcast && t.ready {
				t.tell() // nobody has told it of changes before
			}
		}
	}
	if !e.ending {
		e.until = sent + ts.lease
	}
	if how != heedPark {
		e.said = wanted
	}
	close(ts.progress)
	ts.progress = make(chan struct{})
	return nil
}

// exchange sends a request, and returns the answer; what is to be said meanwhile has it come
// at once.
func (e *trackerFeed) exchange(request []byte, most time.Duration) ([]byte, error) {
	select {
	case <-e.arrived:
	default:
	}
	way := e.ways[0]
	if err := way.Send(request, 1, Terms{}, most, e.answered); err != nil {
		return nil, err
	}
	timeout := time.NewTimer(most)
	defer timeout.Stop()
	for waiting := true; waiting; {
		select {
		case <-e.arrived:
			waiting = false
		case <-timeout.C:
			e.of.mu.Lock()
			e.of.dropFeed(e)
			e.of.mu.Unlock()
			waiting = false
		case <-e.wake:
			if e.ways[1].Send(e.request(heedRouse, nil), 1, Terms{}, most, nil) == nil {
				_, _ = e.ways[1].Wait()
			}
		}
	}
	replies, err := way.Wait()
	return replies.Bytes, err
}

func (e *trackerFeed) answered() {
	select {
	case e.arrived <- struct{}{}:
	default:
	}
}

// takeIn tells clients what has changed.
func (e *trackerFeed) takeIn(reply []byte) error {
	if len(reply) == 0 || reply[0] != '$' {
		return fmt.Errorf("%w: %q", relay.ErrInvalidations, reply[:min(len(reply), 64)])
	}
	text, _ := wire.ReplyText(reply)
	first, items, err := relay.ParseInvalidations(text)
	if err != nil {
		return err
	}
	// All keys are those of the numbers before as well, which the node does not repeat.
	if first > e.heard+1 && !(len(items) > 0 && items[0].Key == nil) {
		return fmt.Errorf("%w: number %d follows %d", relay.ErrInvalidations, first, e.heard)
	}
	ts := e.of
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var author int64
	var keys [][]byte // of that author, which clients in BCAST mode get in one message
	tell := func() {
		ts.broadcast(author, slices.Values(keys), true)
		keys = keys[:0]
	}
	for i, item := range items {
		number := first + uint64(i)
		if number <= e.heard {
			continue
		}
		e.heard = number
		if item.Key == nil || item.Author != author {
			tell()
			author = item.Author
		}
		if item.Key == nil {
			ts.forget()
			continue
		}
		ts.invalidate(item.Author, item.Key)
		keys = append(keys, item.Key)
	}
	tell()
	ts.told()
	return nil
}
