package resp

import (
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
)

// A fakeLease is lost for so many looks, or for good.
type fakeLease struct {
	mu     sync.Mutex
	spell  uint64
	held   int  // how many looks find that it is held before that
	lost   int  // how many looks find that it was lost since the mark
	back   bool // what Await returns
	awaits int
	asked  int // for how many tokens Await was asked last
}

func (f *fakeLease) Mark() (spell, rows uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.spell, 1
}

func (f *fakeLease) HeldSince(spell uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held > 0 {
		f.held--
	} else if f.lost != 0 {
		f.lost--
		f.spell++
	}
	return spell == f.spell
}

func (f *fakeLease) WaitUnchanged(_ uint64, of []ring.Token, _ time.Duration, _, _ <-chan struct{}) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = len(of)
	f.awaits++
	return f.back
}

func (f *fakeLease) lose(looks int, back bool) { f.loseAfter(0, looks, back) }

func (f *fakeLease) loseAfter(held, looks int, back bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.lost, f.back, f.awaits = held, looks, back, 0
}

// waited tells how often somebody waited for the lease to come back, and for how many
// tokens the last did.
func (f *fakeLease) waited() (times, tokens int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.awaits, f.asked
}

// leasedTest is two servers of which the first has all keys, under a lease.
func leasedTest(t *testing.T) (*routed, *fakeLease, *resptest.Conn) {
	r := routedTest(t, 2)
	lease := new(fakeLease)
	r.servers[0].SetLease(lease)
	p, err := ring.NewPlacement([]ring.Row{{Primary: "n0"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.servers {
		r.place(i, p, nil)
	}
	return r, lease, resptest.Dial(t, r.addrs[0], 2)
}

// What was read while the lease was lost may be old, and is read again.
func TestReadsAreRepeatedWhenTheLeaseWasLost(t *testing.T) {
	_, lease, o := leasedTest(t)
	o.Want("+OK", "SET", "a", "1")
	lease.lose(2, false)
	o.Want("$1", "GET", "a")
	lease.lose(1, false)
	o.Want("*($1 _$)", "MGET", "a", "b")
	// Replies that are dropped are dropped once.
	lease.lose(1, true)
	resptest.Write(o.C, "CLIENT", "REPLY", "SKIP")
	resptest.Write(o.C, "GET", "a")
	o.Want("$1", "GET", "a")
}

// A write whose lease is over has an outcome that nobody here knows.
func TestWritesAreUnknownWhenTheLeaseWasLost(t *testing.T) {
	r, lease, o := leasedTest(t)
	lease.lose(1, true)
	o.Want("+OK", "SET", "a", "1")
	if times, _ := lease.waited(); times != 1 {
		t.Errorf("asked %d times", times)
	}
	lease.lose(1, false)
	o.Want("-"+msgLostWrite, "SET", "a", "2")
	// Also one that changes nothing says what was there.
	lease.lose(1, false)
	o.Want("-"+msgLostWrite, "SETNX", "a", "3")
	lease.loseAfter(1, 1, false)
	o.Want("-"+msgLostWrite, "FLUSHALL")
	if got := r.servers[0].stats.LeaseLost.Load(); got != 2 {
		t.Errorf("counted %d", got)
	}
}

// A command on all keys is not run before the node has its lease, as after a start: what it covers is not known yet.
func TestCommandsOnAllKeysWaitForTheLease(t *testing.T) {
	_, lease, o := leasedTest(t)
	o.Want("+OK", "SET", "a", "1")
	lease.lose(1, false)
	o.Want(":1", "DBSIZE")
	lease.lose(-1, false)
	o.Want("-"+msgLeaseLost, "FLUSHALL")
	lease.lose(0, false)
	o.Want("$1", "GET", "a")
	lease.lose(1, false)
	o.Want("+OK", "FLUSHALL")
	o.Want("_$", "GET", "a")
}

func TestEachReplyOfAPipelineIsJudgedAlone(t *testing.T) {
	_, lease, o := leasedTest(t)
	lease.lose(1, false)
	if _, err := o.C.Write([]byte("GET a\r\nSET a 1\r\nPING\r\nGET a\r\n")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"-" + msgLeaseLost, "-" + msgLostWrite, "-" + msgLeaseLost, "-" + msgLeaseLost} {
		if v, err := o.Read(); err != nil || v.String() != want {
			t.Errorf("reply %d: %s, %v; want %s", i, v, err, want)
		}
	}
}

// What touches no key needs no lease.
func TestCommandsWithoutKeysNeedNoLease(t *testing.T) {
	_, lease, o := leasedTest(t)
	lease.lose(-1, false)
	o.Want("+PONG", "PING")
	o.Want("$x", "ECHO", "x")
}

func TestCommandsOnAllKeysNeedALease(t *testing.T) {
	_, lease, o := leasedTest(t)
	for _, command := range [][]string{{"KEYS", "*"}, {"RANDOMKEY"}, {"DBSIZE"}} {
		lease.lose(-1, false)
		if v := o.Do(command...); v.Kind != '-' {
			t.Errorf("%v: %s", command, v)
		}
	}
}

// Another node asks again for what only reads, and tells its client of a write.
func TestForwardedRequestsUnderALostLease(t *testing.T) {
	r, lease, _ := leasedTest(t)
	o := resptest.Dial(t, r.addrs[1], 2)
	o.Want("+OK", "SET", "a", "1")
	lease.lose(1, false)
	o.Want("$1", "GET", "a")
	lease.lose(1, false)
	o.Want("-"+msgLostWrite, "SET", "a", "2")
	lease.lose(0, false)
	o.Want("$2", "GET", "a")
}

// A unit is judged by its own keys, as far as it knows them all.
func TestLostLeaseIsJudgedByTheKeysOfTheUnit(t *testing.T) {
	_, lease, o := leasedTest(t)
	for _, test := range []struct {
		Row    []string
		tokens int
	}{
		{[]string{"SET", "a", "1"}, 1},
		{[]string{"MSET", "a", "1", "b", "2", "c", "3"}, 3},
		{[]string{"FLUSHALL"}, 0},
	} {
		lease.lose(1, true)
		o.Want("+OK", test.Row...)
		if times, tokens := lease.waited(); times != 1 || tokens != test.tokens {
			t.Errorf("%v: asked %d times, for %d tokens", test.Row, times, tokens)
		}
	}
}

// TestCommandWithoutKeysNeedsNoLease loses the lease under commands that touch no key.
func TestCommandWithoutKeysNeedsNoLease(t *testing.T) {
	_, lease, o := leasedTest(t)
	o.Want("+OK", "SET", "a", "1")
	sha := o.Do("SCRIPT", "LOAD", "return 1").Text
	for _, words := range [][]string{
		{"EVAL", "return 1", "0"}, {"EVALSHA", sha, "0"}, {"EVAL_RO", "return 1", "0"}, {"EVALSHA_RO", sha, "0"},
		{"EVAL", "return #redis.call('PING').ok - 3", "0", "an argument"},
	} {
		lease.lose(-1, false)
		o.Want(":1", words...)
	}
	o.Send("MULTI")
	o.Send("PING")
	o.Send("EVAL", "return 1", "0")
	o.Send("EXEC")
	for _, want := range []string{"+OK", "+QUEUED", "+QUEUED", "*(+PONG :1)"} {
		if got := o.Next().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	// One that touches a key which it has not named needs it.
	o.Want("-"+msgLostWrite, "EVAL", "return redis.call('GET', 'a')", "0")
	o.Want("-"+msgLostWrite, "EVAL", "return redis.call('SET', 'a', '2')", "0")
	// In one pipeline with a write only that is unknown.
	if _, err := o.C.Write(resptest.EncodeCommands([][]string{{"SET", "a", "3"}, {"EVAL", "return 1", "0"}, {"EVAL", "return redis.call('INCR', 'a')", "0"}})); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"-" + msgLostWrite, "-" + msgLeaseLost, "-" + msgLostWrite} {
		if got := o.Next().String(); got != want && (i != 1 || got != ":1") {
			t.Errorf("reply %d: %s, want %s", i, got, want)
		}
	}
}
