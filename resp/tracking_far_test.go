package resp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// What another node has answered is kept until it changes there, through whichever node.
func TestTrackingOfAnotherNodesKeys(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c := newCacher(t, r.addrs[0])
	near, far := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
	for round, o := range []*resptest.Conn{near, far, near, far} {
		for _, key := range keys {
			c.ask("GET", key)
			c.silent("nothing has changed")
			o.Do("SET", key, fmt.Sprint(round))
			if got := c.told(); got != invalid(key) {
				t.Errorf("%s: %s", key, got)
			}
			o.Do("SET", key, fmt.Sprint(round, "again"))
			c.silent("it has no entry any more")
		}
	}
	c.ask("MGET", keys[0], keys[1])
	c.silent("both")
	far.Do("MSET", keys[0], "1", keys[1], "1")
	got := []string{c.told(), c.told()}
	if slices.Sort(got); !slices.Equal(got, []string{invalid(min(keys[0], keys[1])), invalid(max(keys[0], keys[1]))}) {
		t.Errorf("both: %s", got)
	}
	for _, key := range keys {
		c.ask("MULTI")
		c.ask("GET", key)
		c.ask("EXEC")
		c.silent("a transaction")
		near.Do("SET", key, "2")
		if got := c.told(); got != invalid(key) {
			t.Errorf("after a transaction: %s", got)
		}
		c.ask("EVAL", "return redis.call('GET', KEYS[1])", "1", key)
		c.silent("a script")
		near.Do("SET", key, "3")
		if got := c.told(); got != invalid(key) {
			t.Errorf("after a script: %s", got)
		}
	}
	far.Do("SET", keys[1], "x", "PX", "30")
	c.ask("GET", keys[1])
	if got := c.told(); got != invalid(keys[1]) {
		t.Errorf("expiry: %s", got)
	}
	c.ask("GET", keys[1])
	near.Do("FLUSHALL")
	if got := c.told(); got != allInvalid {
		t.Errorf("FLUSHALL: %s", got)
	}
	long := strings.Repeat("k", maxTrackedKey+1)
	for r.token([]byte(long))>>31 == 0 {
		long += "k"
	}
	c.pushes = nil
	c.ask("GET", long)
	for got := c.told(); got != invalid(long); got = c.told() {
		if got != allInvalid { // a second one, of the other node
			t.Errorf("a long key: %s", got)
		}
	}
}

// The modes of one node hold for keys of others.
func TestTrackingModesOfAnotherNodesKeys(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	key, other := keys[1], "{"+keys[1]+"}2"
	near, far := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)

	in := newCacher(t, r.addrs[0], "OPTIN")
	here := []string{"CLIENT", "CACHING", "YES"}
	// The command that is meant is run here while one behind it is on its way.
	in.C.SetDeadline(time.Now().Add(resptest.Patience))
	if _, err := in.C.Write(resptest.EncodeCommands([][]string{here, {"GET", keys[0]}, {"GET", key}})); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		in.Next()
	}
	far.Do("MSET", keys[0], "1", key, "1")
	if got := in.told(); got != invalid(keys[0]) {
		t.Errorf("OPTIN, here: %s", got)
	}
	in.silent("OPTIN, here")
	for _, caching := range []bool{false, true} {
		pipeline := [][]string{{"GET", key}, {"GET", other}} // of which the first is meant
		if caching {
			pipeline = slices.Insert(pipeline, 0, []string{"CLIENT", "CACHING", "YES"})
		}
		in.C.SetDeadline(time.Now().Add(resptest.Patience))
		if _, err := in.C.Write(resptest.EncodeCommands(pipeline)); err != nil {
			t.Fatal(err)
		}
		for range pipeline {
			if v, err := in.Read(); err != nil || v.Kind == '>' {
				t.Fatal(v, err)
			}
		}
		far.Do("MSET", key, "1", other, "1")
		if caching {
			if got := in.told(); got != invalid(key) {
				t.Errorf("OPTIN: %s", got)
			}
		}
		in.silent("OPTIN")
	}
	out := newCacher(t, r.addrs[0], "OPTOUT")
	out.ask("GET", key)
	out.ask("CLIENT", "CACHING", "NO")
	out.ask("GET", other)
	far.Do("MSET", key, "1", other, "1")
	if got := out.told(); got != invalid(key) {
		t.Errorf("OPTOUT: %s", got)
	}
	out.silent("OPTOUT")

	loop, noLoop := newCacher(t, r.addrs[0]), newCacher(t, r.addrs[0], "NOLOOP")
	cast := newCacher(t, r.addrs[0], "BCAST", "NOLOOP", "PREFIX", key, "PREFIX", other)
	for _, c := range []*cacher{loop, noLoop, cast} {
		c.ask("GET", key)
	}
	noLoop.ask("SET", key, "mine")
	noLoop.silent("NOLOOP")
	for _, c := range []*cacher{loop, cast} {
		if got := c.told(); got != invalid(key) {
			t.Errorf("of another client: %s", got)
		}
	}
	cast.ask("SET", key, "x")
	cast.silent("BCAST NOLOOP")
	near.Do("SET", key, "x")
	if got := cast.told(); got != invalid(key) {
		t.Errorf("BCAST: %s", got)
	}
	noLoop.ask("GET", key)
	near.Do("SET", key, "y")
	if got := noLoop.told(); got != invalid(key) {
		t.Errorf("NOLOOP, by another: %s", got)
	}

	target := resptest.Dial(t, r.addrs[0], 2)
	target.Want("*($subscribe $__redis__:invalidate :1)", "SUBSCRIBE", "__redis__:invalidate")
	id := ""
	for _, srv := range r.servers[0].snapshot() {
		if srv.subs.Any() {
			id = fmt.Sprint(srv.session.id)
		}
	}
	from := resptest.Dial(t, r.addrs[0], 2)
	from.Want("+OK", "CLIENT", "TRACKING", "ON", "REDIRECT", id)
	from.Do("GET", key)
	far.Do("SET", key, "z")
	if got := target.Next().String(); got != "*($message $__redis__:invalidate *($"+key+"))" {
		t.Errorf("REDIRECT: %s", got)
	}
}

// Who is told of all changes hears of those at other nodes, unless it asks these itself.
func TestBroadcastCoversTheCluster(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	o := resptest.Dial(t, r.addrs[1], 2)
	all := newCacher(t, r.addrs[0], "BCAST")
	here := resptest.Dial(t, r.addrs[0], 3)
	here.Want("+OK", "RING", "ROUTE", "redirect")
	here.Want("+OK", "CLIENT", "TRACKING", "ON", "BCAST")
	prefix := newCacher(t, r.addrs[0], "BCAST", "PREFIX", keys[1])
	for range 3 {
		for _, key := range keys {
			o.Do("SET", key, "1")
			if got := all.told(); got != invalid(key) {
				t.Error(got)
			}
		}
		if got := prefix.told(); got != invalid(keys[1]) {
			t.Errorf("with a prefix: %s", got)
		}
		if got := here.Next().String(); got != invalid(keys[0]) {
			t.Errorf("of one node: %s", got)
		}
	}
	all.silent("each once")
	prefix.silent("each once")
	here.Want("+PONG", "PING")
	here.Want("+OK", "RING", "ROUTE", "forward")
	o.Do("SET", keys[1], "1")
	if got := here.Next().String(); got != invalid(keys[1]) {
		t.Errorf("forward again: %s", got)
	}
}

// A write is acknowledged once those have heard of it who keep the key for their clients, or
// may not take it for true any more.
func TestWritesWaitForNodesThatKeepTheKey(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c := newCacher(t, r.addrs[0])
	o := resptest.Dial(t, r.addrs[1], 2)
	ts, owner := &r.servers[0].tracking, &r.servers[1].tracking
	for _, write := range [][]string{{"SET", keys[1], "1"}, {"DEL", keys[1]}, {"MSET", keys[1], "2"}, {"FLUSHALL"}} {
		c.ask("GET", keys[1])
		c.pushes = nil
		// What the remote tracker hears next is held back.
		var answer func(Replies, error)
		resptest.WaitFor(t, "the keeper to ask", func() bool {
			owner.mu.Lock()
			defer owner.mu.Unlock()
			k := owner.remote["n0"]
			answer, k.parked = k.parked, nil
			return answer != nil
		})
		acknowledged := make(chan struct{})
		go func() {
			defer close(acknowledged)
			o.Do(write...)
		}()
		resptest.WaitFor(t, "the change", func() bool {
			owner.mu.Lock()
			defer owner.mu.Unlock()
			return owner.remote["n0"].queue.Len() > 0
		})
		select {
		case <-acknowledged:
			t.Errorf("%s is acknowledged before a node that keeps the key has heard of it", write)
		case <-time.After(100 * time.Millisecond):
		}
		owner.mu.Lock()
		k := owner.remote["n0"]
		k.parked = answer
		k.answer()
		owner.mu.Unlock()
		<-acknowledged
		ts.mu.Lock()
		entered := len(ts.keys[keys[1]])
		ts.mu.Unlock()
		if entered > 0 {
			t.Errorf("%s is acknowledged, and a client's node keeps the key", write)
		}
	}
	// A node that asks no more is waited for until what it keeps is void.
	c.ask("GET", keys[1])
	owner.mu.Lock()
	k := owner.remote["n0"]
	k.session = "gone" // what it asks is for another
	k.reply(k.text())
	began := owner.srv.clock()
	k.heardAt = began
	owner.mu.Unlock()
	o.Do("SET", keys[1], "2")
	if took := owner.srv.clock() - began; took < trackerLease {
		// It began anew, which tells that it keeps nothing.
		ts.mu.Lock()
		entered := len(ts.keys[keys[1]])
		ts.mu.Unlock()
		if entered > 0 {
			t.Errorf("waited for %v, and it keeps the key", took)
		}
	}
}

// Whoever does not hear a node keeps nothing of what that has answered.
func TestNothingIsKeptOfANodeThatIsNotHeard(t *testing.T) {
	for _, options := range [][]string{nil, {"BCAST"}} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			r, keys := halvesOf(t, routedApart(t, 2))
			c := newCacher(t, r.addrs[0], options...)
			c.ask("GET", keys[1])
			c.silent("it is heard")
			owner := &r.servers[1].tracking
			owner.mu.Lock()
			owner.ended = true // from now on it knows nobody
			k := owner.remote["n0"]
			done := owner.drop(k, nil)
			owner.mu.Unlock()
			run(done)
			if got := c.told(); got != allInvalid {
				t.Errorf("it is not heard any more: %s", got)
			}
			c.ask("GET", keys[0])
			c.silent("an own key")
			c.ask("GET", keys[1])
			if got := c.told(); got != invalid(keys[1]) {
				t.Errorf("meanwhile: %s", got)
			}
			c.ask("MGET", keys[0], keys[1])
			if got := c.told(); !strings.Contains(got, "$"+keys[1]) {
				t.Errorf("meanwhile, both: %s", got)
			}
			owner.mu.Lock()
			owner.ended = false
			owner.mu.Unlock()
			resptest.WaitFor(t, "that it is heard again", func() bool { return r.servers[0].tracking.hasFeed("n1", &tracker{}) })
			if options != nil { // it may have read by other connections
				if got := c.told(); got != allInvalid {
					t.Errorf("it is heard again: %s", got)
				}
			}
			c.ask("GET", keys[1])
			c.silent("it is heard again")
			resptest.Dial(t, r.addrs[0], 2).Do("SET", keys[1], "1")
			if got := c.told(); got != invalid(keys[1]) {
				t.Error(got)
			}
		})
	}
}

// A client in BCAST mode keeps nothing of a node that does not know its prefix yet; nothing of
// what it reads with another prefix is invalid.
func TestNothingIsKeptOfANodeThatDoesNotKnowThePrefix(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c := newCacher(t, r.addrs[0], "BCAST", "PREFIX", "k")
	c.ask("GET", keys[1])
	c.silent("it is known")
	ts := &r.servers[0].tracking
	ts.mu.Lock()
	for _, t := range ts.clients {
		t.wanted = ts.wanted + 1
	}
	ts.mu.Unlock()
	c.ask("GET", keys[1])
	if got := c.told(); got != invalid(keys[1]) {
		t.Errorf("meanwhile: %s", got)
	}
	other := "other{" + keys[1] + "}"
	c.ask("GET", other)
	c.silent("another prefix")
}

// A node that hears twice that all keys may have changed, before it has asked again, hears the
// second and goes on: it would otherwise begin again later, and who hands keys over waits for it.
func TestTrackerFeedHearsOfAllKeysTwice(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c := newCacher(t, r.addrs[0])
	c.ask("GET", keys[1])
	owner := &r.servers[1].tracking
	var session string
	var answer func(Replies, error)
	resptest.WaitFor(t, "the keeper to ask", func() bool {
		owner.mu.Lock()
		defer owner.mu.Unlock()
		k := owner.remote["n0"]
		session, answer, k.parked = k.session, k.parked, nil
		return answer != nil
	})
	first := owner.everything()
	second := owner.everything()
	owner.mu.Lock()
	k := owner.remote["n0"]
	k.parked = answer
	k.answer()
	owner.mu.Unlock()
	<-first.over()
	<-second.over()
	owner.mu.Lock()
	defer owner.mu.Unlock()
	if now := owner.remote["n0"]; now == nil || now.session != session {
		t.Errorf("session %s has become %+v", session, now)
	}
}

// A node that hands keys over goes on only when those have heard who keep them.
func TestQuiesceWaitsForNodesThatKeepKeys(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c := newCacher(t, r.addrs[0])
	c.ask("GET", keys[1])
	ctx := t.Context()
	r.place(1, r.servers[1].routes.Load().Placement, map[int]bool{1: true})
	if _, err := r.servers[1].Quiesce(ctx, ring.Whole); err != nil {
		t.Fatal(err)
	}
	ts := &r.servers[0].tracking
	ts.mu.Lock()
	entered := len(ts.keys)
	ts.mu.Unlock()
	if entered > 0 {
		t.Error("the range is still, and a node keeps keys of it")
	}
	if got := c.told(); got != allInvalid {
		t.Error(got)
	}
}

// A table that is full makes nodes forget.
func TestRemoteTrackersAreBounded(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c := newCacher(t, r.addrs[0])
	r.servers[1].settings.TrackingKeys.Store(10)
	for i := range 50 {
		c.ask("GET", fmt.Sprintf("{%s}%d", keys[1], i))
	}
	resptest.WaitFor(t, "what does not fit to be forgotten", func() bool { _, keys, _, _ := r.servers[0].tracking.counts(); return keys <= 10 })
	if _, keys, items, _ := r.servers[1].tracking.counts(); keys != 10 || items != 10 {
		t.Errorf("%d keys, %d entries", keys, items)
	}
	c.C.Close()
	resptest.WaitFor(t, "the end of what is heard", func() bool {
		owner := &r.servers[1].tracking
		owner.mu.Lock()
		defer owner.mu.Unlock()
		return len(owner.remote) == 0 && len(owner.keys) == 0
	})
}

// Other keys are a node's than before: its clients hear that all may have changed.
func TestTrackingWhenKeysMove(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c, all := newCacher(t, r.addrs[0]), newCacher(t, r.addrs[0], "BCAST")
	c.ask("GET", keys[0])
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n1"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(p)
	for _, c := range []*cacher{c, all} {
		if got := c.told(); got != allInvalid {
			t.Errorf("keys have moved: %s", got)
		}
	}
	for _, key := range keys { // BCAST goes on
		resptest.Dial(t, r.addrs[1], 2).Do("SET", key, "1")
		for got := all.told(); got != invalid(key); got = all.told() {
			if got != allInvalid {
				t.Error(got)
			}
		}
	}
}

// Who reads by routes that are old by then may have missed that keys moved: its clients hear
// that once more, behind the reply.
func TestTrackingOfReadsByOldRoutes(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c, o := newCacher(t, r.addrs[0]), resptest.Dial(t, r.addrs[0], 2)
	if _, err := c.C.Write(resptest.EncodeCommands([][]string{{"EVAL_RO", "while true do redis.call('GET', KEYS[1]) end", "1", keys[0]}})); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "the read to have its routes", func() bool {
		return r.servers[0].scripts.Any(func(*scripts.Run) bool { return true })
	})
	all, err := ring.NewPlacement([]ring.Row{{Primary: "n0"}})
	if err != nil {
		t.Fatal(err)
	}
	r.place(0, all, nil) // the other node's keys stay, so nothing is told of these
	o.Do("SCRIPT", "KILL")
	if v, err := c.Read(); err != nil || !strings.Contains(v.String(), "killed") {
		t.Errorf("the read: %s, %v", v.String(), err)
	}
	if got := c.told(); got != allInvalid {
		t.Errorf("keys have moved: %s", got)
	}
	if got := c.told(); got != allInvalid {
		t.Errorf("the read was by old routes: %s", got)
	}
	c.ask("GET", keys[0])
	c.silent("these are the newest")
}

// What comes again is not told again, and what is missing between two answers is noticed.
func TestTrackerFeedReportsEachChangeOnce(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	c := newCacher(t, r.addrs[0])
	c.ask("MGET", keys[0], keys[1])
	e := &trackerFeed{of: &r.servers[0].tracking, heard: 5}
	answer := func(first uint64, items ...relay.Invalidation) error {
		return e.takeIn(wire.AppendBulk(nil, relay.AppendInvalidations(nil, first, items)))
	}
	if err := answer(5, relay.Invalidation{Key: []byte(keys[0])}, relay.Invalidation{Key: []byte(keys[1])}); err != nil || e.heard != 6 {
		t.Fatalf("up to %d, %v", e.heard, err)
	}
	if got := c.told(); got != invalid(keys[1]) {
		t.Error(got)
	}
	c.silent("it has been told before")
	if err := answer(8, relay.Invalidation{Key: []byte(keys[0])}); !errors.Is(err, relay.ErrInvalidations) || e.heard != 6 {
		t.Errorf("number 7 is missing: %v, up to %d", err, e.heard)
	}
	c.silent("it asks anew")
	if err := answer(7); err != nil {
		t.Errorf("nothing is new: %v", err)
	}
}

// TestCacheOfOthersIsForgottenAfterSuspension moves the clock of a node ahead, as it is after the
// machine was suspended, while the process' own clock goes on. The other node may have dropped
// this one meanwhile.
func TestCacheOfOthersIsForgottenAfterSuspension(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	var suspended atomic.Int64
	clock := r.servers[0].cfg.Clock
	r.servers[0].cfg.Clock = func() time.Duration { return clock() + time.Duration(suspended.Load()) }
	c := newCacher(t, r.addrs[0])
	c.ask("GET", keys[1])
	c.silent("it is heard")
	suspended.Store(int64(time.Hour))
	if got := c.told(); got != allInvalid {
		t.Errorf("after a suspension: %s", got)
	}
	for { // it hears the other node anew
		c.ask("GET", keys[1])
		r.servers[0].tracking.mu.Lock()
		kept := len(r.servers[0].tracking.keys[keys[1]]) > 0
		r.servers[0].tracking.mu.Unlock()
		if kept {
			return
		}
		if got := c.told(); got != invalid(keys[1]) && got != allInvalid {
			t.Fatalf("meanwhile: %s", got)
		}
	}
}
