package keyevents

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A testNode is a node of which there is no more than a store and its events.
type testNode struct {
	*Events
	t      *testing.T
	id     string
	store  *store.Store
	pubsub pubsub.Registry
	deaf   atomic.Bool // it answers nobody
	order  atomic.Pointer[database.Policies]
}

func newTestNode(t *testing.T, id string, tellAll time.Duration) *testNode {
	t.Helper()
	st, err := store.Open(store.Config{Dir: "/d", FS: memdisk.New(), Strategy: "buckets", Hash: "native", Token: buckets.Token})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	n := &testNode{t: t, id: id, store: st}
	n.Events = New(Config{
		Store: st, PubSub: &n.pubsub, Policies: n.order.Load, Self: func() string { return id }, Run: "run of " + id,
		Clock: func() time.Duration { return time.Since(began) }, TellAll: tellAll, MaxQueued: func() int64 { return 1 << 20 },
		Stop: make(chan struct{}), Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		n.Close()
		_ = st.Close()
	})
	return n
}

// meet gives nodes routes on which each of them is.
func meet(nodes ...*testNode) {
	for _, n := range nodes {
		var peers []relay.Peer
		for _, other := range nodes {
			if other == n {
				continue
			}
			peers = append(peers, relay.Peer{ID: other.id, Link: other, Open: func() func([]byte, time.Duration) ([]byte, error) {
				return func(request []byte, _ time.Duration) ([]byte, error) {
					if other.deaf.Load() {
						return nil, errors.New("cut")
					}
					reply, ok := other.Answer(wire.Split(request, nil))
					if !ok {
						n.t.Errorf("%q is refused", request)
					}
					return wire.AppendInt(nil, reply), nil
				}
			}})
		}
		n.Begin()
		n.Relink(peers, func(id string) bool {
			return slices.ContainsFunc(nodes, func(n *testNode) bool { return n.id == id })
		})
	}
}

// set changes a key, and waits until its reply could leave.
func (n *testNode) set(key string) {
	n.t.Helper()
	u := n.store.NewUnit()
	u.Begin(n.store.Now(), []store.Place{u.Place([]byte(key))})
	v, err := u.Get([]byte(key))
	if err == nil {
		err = u.PutString([]byte(key), v, []byte("x"), 0, false)
	}
	var done store.Signal
	if _, commitErr := u.Commit(&done); errors.Join(err, commitErr) != nil {
		n.t.Fatal(err, commitErr)
	}
	if err := done.Wait(); err != nil {
		n.t.Fatal(err)
	}
}

// A heard is a follower that notes what it is told.
type heard struct {
	mu   sync.Mutex
	told []string
}

func (h *heard) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, what)
}

func (h *heard) Changed(key []byte) { h.note("changed " + string(key)) }
func (h *heard) Flushed(n int)      { h.note(fmt.Sprint("flushed ", n)) }
func (h *heard) Gap(node string)    { h.note("gap " + node) }

func (h *heard) want(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.told, want) {
		t.Errorf("the follower was told %q, want %q", h.told, want)
	}
	h.told = nil
}

func TestFollowerHearsOfEveryChangeBeforeItsReplyLeaves(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b := newTestNode(t, "a", 0), newTestNode(t, "b", 0)
		meet(a, b)
		b.set("before")
		var h heard
		a.Follow(&h)
		for _, n := range []*testNode{a, b} {
			n.set("k")
			h.want(t, "changed k")
			n.Flushed(-1)
			h.want(t, "flushed -1")
			n.Flushed(3)
			h.want(t, "flushed 3")
		}
		a.Follow(nil)
		b.set("after")
		time.Sleep(5 * beat)
		h.want(t)
		a.Follow(&h)
		b.set("again")
		h.want(t, "changed again")
	})
}

// A node that has just started numbers all commits, and sends none to nodes that want nothing.
func TestFollowerOfNodeThatHasNumberedCommitsHasNoGap(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b := newTestNode(t, "a", time.Minute), newTestNode(t, "b", time.Minute)
		meet(a, b)
		time.Sleep(2 * beat)
		for range 5 {
			b.set("before")
		}
		var h heard
		a.Follow(&h)
		b.set("k")
		h.want(t, "changed k")
		time.Sleep(5 * beat)
		b.set("l")
		h.want(t, "changed l")
	})
}

func TestFollowerHearsOfGapWhenChangesWereLost(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b := newTestNode(t, "a", 0), newTestNode(t, "b", 0)
		meet(a, b)
		var h heard
		a.Follow(&h)
		b.set("k")
		h.want(t, "changed k")
		a.deaf.Store(true)
		b.set("lost") // which waits until it gives the node up
		a.deaf.Store(false)
		time.Sleep(5 * beat)
		h.want(t, "gap b")
		b.set("l")
		h.want(t, "changed l")
	})
}

// What was lost after a follower has begun is a gap although nothing was sent to it before.
func TestFollowerHearsOfGapWhenFirstChangesWereLost(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b := newTestNode(t, "a", 0), newTestNode(t, "b", 0)
		meet(a, b)
		var h heard
		a.Follow(&h)
		a.deaf.Store(true)
		time.Sleep(5 * patience) // the way to the node is given up
		b.set("lost")
		a.deaf.Store(false)
		time.Sleep(5 * beat)
		h.want(t, "gap b")
	})
}

// The changes that wait for a node when it is given up are lost, too.
func TestFollowerHearsOfGapWhenWaitingChangesWereLost(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b := newTestNode(t, "a", 0), newTestNode(t, "b", 0)
		meet(a, b)
		var h heard
		a.deaf.Store(true)
		a.Follow(&h)
		b.set("lost")
		a.deaf.Store(false)
		time.Sleep(5 * beat)
		h.want(t, "gap b")
	})
}

func TestFollowerReadsSwappedDatabasesAnew(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a := newTestNode(t, "a", 0)
		meet(a)
		var h heard
		a.Follow(&h)
		order := new(database.Order).Begin(database.Swap{A: 2, B: 5, Change: 1})
		for _, next := range []*database.Order{order, order.End(true)} {
			h.want(t)
			a.order.Store(new(database.Policies).Ordered(next.Body(), nil))
			meet(a)
		}
		h.want(t, "flushed 2", "flushed 5")
		meet(a)
		h.want(t)
	})
}
