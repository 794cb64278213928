package monitoring

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A testNode is Monitors that others reach by calls.
type testNode struct {
	*Monitors
	id    string
	hangs atomic.Bool // it sends no replies
	old   atomic.Bool // it does not know RING MONITOR
}

func newTestNode(id string) *testNode {
	n := &testNode{id: id}
	n.Monitors = New(Config{Self: func() string { return id }, Run: "run of " + id, Stop: make(chan struct{}), Logger: slog.New(slog.DiscardHandler)})
	return n
}

// meet gives nodes routes on which each of them is.
func meet(nodes ...*testNode) {
	for _, n := range nodes {
		var peers []relay.Peer
		for _, other := range nodes {
			if other != n {
				peers = append(peers, relay.Peer{ID: other.id, Link: other, Open: func() func([]byte, time.Duration) ([]byte, error) { return other.serve }})
			}
		}
		n.Follow(peers)
	}
}

// serve answers a request of another node, as package resp does.
func (n *testNode) serve(request []byte, timeout time.Duration) ([]byte, error) {
	switch {
	case n.hangs.Load():
		time.Sleep(timeout)
		return nil, errors.New("timeout")
	case n.old.Load():
		return []byte("-ERR unknown subcommand\r\n"), nil
	}
	words := wire.Split(request, nil)
	node, session := string(words[2]), string(words[3])
	reply, waits := n.Hear(node, session, string(words[4]))
	if !waits {
		return reply, nil
	}
	answered := make(chan []byte, 1)
	n.Park(node, session, func(reply []byte) { answered <- reply })
	select {
	case reply := <-answered:
		return reply, nil
	case <-time.After(timeout):
		return nil, errors.New("timeout")
	}
}

// A screen is a client that keeps the lines it sees.
type screen struct {
	mu    sync.Mutex
	lines string
}

func (s *screen) Push(lines []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines += string(lines)
}

// seen returns what there is once nothing is on its way, and forgets it.
func (s *screen) seen() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = ""
	return lines
}

// Nothing of this closes a node: the goroutines that the last client leaves behind would fail the test.
func TestClientSeesTheLinesOfItsAudienceOnceEach(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b, c := newTestNode("a"), newTestNode("b"), newTestNode("c")
		meet(a, b, c)
		all, own := new(screen), new(screen)
		a.Add(own, Own, nil)
		if b.Any() || c.Any() {
			t.Error("a client of one node's lines has others asked")
		}
		began := time.Now()
		a.Add(all, Cluster, nil)
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v until the others knew", took)
		}
		if !b.Any() || !c.Any() {
			t.Error("a node does not know of the client")
		}
		for range 2 { // the second time the answers wait
			a.Show([]byte("+1\r\n"), Own|Cluster)
			b.Show([]byte("+2\r\n"), Own)
			b.Show([]byte("+3\r\n"), Cluster)
			b.Show([]byte("+4\r\n"), Own|Cluster)
			if got := all.seen(); got != "+1\r\n+3\r\n+4\r\n" {
				t.Errorf("a client of all nodes sees %q", got)
			}
			if got := own.seen(); got != "+1\r\n" {
				t.Errorf("a client of one node sees %q", got)
			}
			time.Sleep(10 * beat)
		}
		a.Change(all, Own, nil)
		a.Change(new(screen), Cluster, nil) // of a client that sees nothing
		synctest.Wait()
		b.Show([]byte("+5\r\n"), Own|Cluster)
		if got := all.seen() + own.seen(); got != "" || b.Any() || c.Any() {
			t.Errorf("%q; after a change a client of one node has others asked", got)
		}
		a.Remove(all)
		a.Change(own, Cluster, nil)
		a.Remove(own)
		if synctest.Wait(); a.Any() || b.Any() || c.Any() {
			t.Error("a node still shows lines")
		}
	})
}

func TestClientDoesNotWaitLongForNodesThatDoNotAnswer(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b, c := newTestNode("a"), newTestNode("b"), newTestNode("c")
		meet(a, b, c)
		s := new(screen)
		add := func() time.Duration {
			began := time.Now()
			a.Add(s, Cluster, nil)
			return time.Since(began)
		}
		b.old.Store(true)
		if took := add(); took > 0 {
			t.Errorf("it took %v beside a node of an older version", took)
		}
		a.Remove(s)
		c.hangs.Store(true)
		if took := add(); took != patience {
			t.Errorf("it took %v beside a node that does not answer", took)
		}
		c.hangs.Store(false)
		b.old.Store(false) // it was upgraded
		time.Sleep(2 * refusedPause)
		b.Show([]byte("+1\r\n"), Cluster)
		c.Show([]byte("+2\r\n"), Cluster)
		if got := s.seen(); !strings.Contains(got, "+1\r\n") || !strings.Contains(got, "+2\r\n") || strings.Contains(got, "missing") {
			t.Errorf("once they answer: %q", got)
		}
		a.Remove(s)
		gone := make(chan struct{})
		close(gone)
		c.hangs.Store(true)
		began := time.Now()
		if a.Add(s, Cluster, gone); time.Since(began) > 0 {
			t.Error("a client that is gone waits")
		}
		a.Close()
	})
}

func TestClientIsToldThatLinesOfANodeMayBeMissing(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b := newTestNode("a"), newTestNode("b")
		meet(a, b)
		s := new(screen)
		a.Add(s, Cluster, nil)
		remarks := func() int { return strings.Count(s.seen(), "[0 b] \"commands of this node may be missing\"\r\n") }
		b.hangs.Store(true)
		time.Sleep(10 * time.Second)
		if n := remarks(); n != 1 {
			t.Errorf("%d lines about a node that does not answer", n)
		}
		b.hangs.Store(false)
		time.Sleep(2 * time.Second)
		b.Show([]byte("+1\r\n"), Cluster)
		if got := s.seen(); got != "+1\r\n" {
			t.Errorf("of a node that answers again: %q", got)
		}
		a.Follow(nil) // it is dead
		if n := remarks(); n != 1 {
			t.Errorf("%d lines about a node that is gone", n)
		}
		if b.Any() {
			t.Error("a node that is not asked any more still shows lines")
		}
		meet(a, b)
		synctest.Wait()
		b.Show([]byte("+2\r\n"), Cluster)
		if got := s.seen(); got != "+2\r\n" {
			t.Errorf("of a node that has come back: %q", got)
		}
		b.Close()
		a.Remove(s)
	})
}

func TestNodeThatDoesNotAskIsForgotten(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a := newTestNode("a")
		a.Hear("b", "1", wordBegin)
		line := []byte("+" + strings.Repeat("x", 1000) + "\r\n")
		for range 3 * maxQueued / len(line) {
			a.Show(line, Cluster)
		}
		a.Show(make([]byte, maxQueued+1), Cluster)
		reply, waits := a.Hear("b", "1", wordNext)
		dropped, lines, ok := parseAnswer(reply)
		if !ok || waits || len(lines) > maxQueued || int(dropped)+len(lines)/len(line) != 3*maxQueued/len(line)+1 {
			t.Errorf("%d lines dropped, %d bytes left", dropped, len(lines))
		}
		if _, waits := a.Hear("b", "1", wordNext); !waits {
			t.Error("the same is told twice")
		}
		time.Sleep(silence - 1)
		if synctest.Wait(); !a.Any() {
			t.Error("a node is forgotten too early")
		}
		time.Sleep(time.Nanosecond)
		if synctest.Wait(); a.Any() {
			t.Error("a node that does not ask is kept")
		}
		if reply, _ := a.Hear("b", "1", wordNext); string(reply) != string(replyLost) {
			t.Errorf("%q", reply)
		}
	})
}

func TestAnswerHasItsLines(t *testing.T) {
	for _, lines := range []string{"", "+1 \"\\n\"\r\n+2\r\n"} {
		if dropped, got, ok := parseAnswer(answerOf(7, []byte(lines))); dropped != 7 || string(got) != lines || !ok {
			t.Errorf("%d, %q, %t", dropped, got, ok)
		}
	}
	for _, reply := range []string{"", "+LOST\r\n", "$0\r\n\r\n", "$1\r\n1\r\n", "$2\r\nx\n\r\n"} {
		if _, _, ok := parseAnswer([]byte(reply)); ok {
			t.Errorf("%q is an answer", reply)
		}
	}
}
