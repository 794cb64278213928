package systemd

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

type fakeNode struct {
	mu           sync.Mutex
	ready, alive error
	told         []string
}

func (n *fakeNode) Ready() error { n.mu.Lock(); defer n.mu.Unlock(); return n.ready }
func (n *fakeNode) Alive() error { n.mu.Lock(); defer n.mu.Unlock(); return n.alive }

func (n *fakeNode) set(ready, alive error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ready, n.alive = ready, alive
}

func (n *fakeNode) send(state string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, state)
	return nil
}

// count returns how often a state was sent.
func (n *fakeNode) count(state string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, s := range n.told {
		if s == state {
			count++
		}
	}
	return count
}

var errNotYet = errors.New("not in a cluster yet")

func TestReadyIsToldOnceWhenTheNodeServes(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		n := &fakeNode{ready: errNotYet}
		notifier := start(n, n.send, 0, slog.New(slog.DiscardHandler))
		time.Sleep(2 * time.Second)
		if n.count("READY=1") != 0 || n.count("STATUS=not ready: not in a cluster yet") != 1 {
			t.Errorf("told %q before the node is ready", n.told)
		}
		n.set(nil, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if n.count("READY=1") != 1 || n.count("STATUS=serving") != 1 {
			t.Errorf("told %q of a ready node", n.told)
		}
		n.set(errNotYet, nil)
		time.Sleep(time.Minute)
		if n.count("READY=1") != 1 || !strings.HasPrefix(n.told[len(n.told)-1], "STATUS=not ready") {
			t.Errorf("told %q of a node that is not ready any more", n.told)
		}
		notifier.Stopping(time.Minute)
		notifier.Close()
		notifier.Close()
		if last := n.told[len(n.told)-1]; last != "STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=60000000" {
			t.Errorf("told %q at the stop", last)
		}
	})
}

// The next node may only be started when the start of this one is done.
func TestReadyIsToldAtLastWithoutTheCluster(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		n := &fakeNode{ready: errNotYet}
		notifier := start(n, n.send, 0, slog.New(slog.DiscardHandler))
		defer notifier.Close()
		time.Sleep(readyWithin - time.Second)
		before := n.count("READY=1")
		time.Sleep(2 * time.Second)
		if after := n.count("READY=1"); before != 0 || after != 1 {
			t.Errorf("READY was told %d times before %v and %d times after", before, readyWithin, after)
		}
	})
}

func TestWatchdogIsFedWhileTheNodeIsAlive(t *testing.T) {
	for _, interval := range []time.Duration{100 * time.Millisecond, 2 * time.Second, 30 * time.Second} {
		fakenet.Bubble(t, func(t *testing.T) {
			n := &fakeNode{}
			var last time.Time
			longest := time.Duration(0)
			send := func(state string) error {
				if state == "WATCHDOG=1" {
					if now := time.Now(); !last.IsZero() {
						longest = max(longest, now.Sub(last))
					}
					last = time.Now()
				}
				return n.send(state)
			}
			notifier := start(n, send, interval, slog.New(slog.DiscardHandler))
			time.Sleep(10 * interval)
			synctest.Wait()
			if fed := n.count("WATCHDOG=1"); fed < 10 || longest > interval*9/10 {
				t.Errorf("%v: fed %d times, at most %v apart", interval, fed, longest)
			}
			n.set(nil, errors.New("the storage engine has stopped"))
			fed := n.count("WATCHDOG=1")
			time.Sleep(10 * interval)
			if more := n.count("WATCHDOG=1"); more > fed+1 {
				t.Errorf("%v: a dead node feeds the watchdog: %d, then %d", interval, fed, more)
			}
			notifier.Close()
		})
	}
}

func TestNoNotifierTellsNothing(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	notifier := Start(&fakeNode{}, slog.New(slog.DiscardHandler))
	if notifier != nil {
		t.Fatal("a notifier without NOTIFY_SOCKET")
	}
	notifier.Stopping(time.Second)
	notifier.Close()
	if sockets, err := Sockets(); err != nil || !slices.Equal(sockets, nil) {
		t.Errorf("sockets %v, %v without LISTEN_FDS", sockets, err)
	}
}
