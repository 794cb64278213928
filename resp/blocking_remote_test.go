package resp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A brokenLink fails the requests that it is told to: before they are sent, or when their
// answers are on their way.
type brokenLink struct {
	Link
	mu     sync.Mutex
	breaks string // a word of the requests whose answers are lost
	times  int
	lost   int
	short  bool // they have little time
	guests int  // requests that would let one in
}

func (l *brokenLink) Way() Way { return &brokenWay{Way: l.Link.Way(), link: l} }

func (l *brokenLink) lose(word string, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.breaks, l.times, l.lost = word, times, 0
}

func (l *brokenLink) loses(batch []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(string(batch), "ENQUEUE") {
		l.guests++
	}
	if l.times == 0 || !strings.Contains(string(batch), l.breaks) {
		return false
	}
	l.times--
	l.lost++
	return true
}

type brokenWay struct {
	Way
	link *brokenLink
	lost bool
}

func (w *brokenWay) Send(batch []byte, n int, terms Terms, timeout time.Duration, arrived func()) error {
	if w.lost = w.link.loses(batch); w.lost && w.link.short {
		timeout = 100 * time.Millisecond
	}
	return w.Way.Send(batch, n, terms, timeout, arrived)
}

func (w *brokenWay) Wait() (Replies, error) {
	replies, err := w.Way.Wait()
	if w.lost {
		return Replies{}, ErrUnknownOutcome
	}
	return replies, err
}

// brokenTest is two servers of which the second has all keys, and how the first gets there.
func brokenTest(t *testing.T) (*routed, *brokenLink) {
	r := routedTest(t, 2)
	link := &brokenLink{Link: r.links["n1"].Link}
	route := r.links["n1"]
	route.Link = link
	r.links["n1"] = route
	r.placeAll(r.all(1))
	return r, link
}

// A connection between nodes that breaks does not cost a client its place.
func TestRemoteWaitSurvivesBrokenConnection(t *testing.T) {
	r, link := brokenTest(t)
	first, second := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
	link.short = true
	link.lose("AWAIT", 3)
	first.Send("BLPOP", "l", "0")
	r.waits(1, 1)
	second.Send("BLPOP", "l", "0")
	r.waits(1, 2)
	resptest.WaitFor(t, "connections to break", func() bool {
		link.mu.Lock()
		defer link.mu.Unlock()
		return link.guests == 4
	})
	r.waits(1, 2)
	push := resptest.Dial(t, r.addrs[1], 2)
	push.Want(":1", "RPUSH", "l", "x")
	if got := first.Next().String(); got != "*($l $x)" {
		t.Errorf("the first got %s", got)
	}
	push.Want(":1", "RPUSH", "l", "y")
	if got := second.Next().String(); got != "*($l $y)" {
		t.Errorf("the second got %s", got)
	}
}

// Where it cannot be told whether a client was served, it is told that; where it can, it gets
// what it was served.
func TestRemoteWaitIsUnknownWhenReplyIsLost(t *testing.T) {
	r, link := brokenTest(t)
	o, push := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
	// The answer that says what it was served.
	link.lose("AWAIT", 1)
	o.Send("BLPOP", "l", "0")
	r.waits(1, 1)
	push.Want(":1", "RPUSH", "l", "x")
	if got := o.Next().String(); !strings.HasPrefix(got, "-UNKNOWN ") {
		t.Errorf("a lost answer: %s", got)
	}
	// That to the command itself, which was served at once.
	push.Want(":1", "RPUSH", "l", "x")
	link.lose("ENQUEUE", 1)
	if got := o.Do("BLPOP", "l", "0").String(); !strings.HasPrefix(got, "-UNKNOWN ") {
		t.Errorf("a lost answer: %s", got)
	}
	// That which says that it waits: it is asked for, and waits on.
	link.lose("ENQUEUE", 1)
	o.Send("BLPOP", "l", "0")
	resptest.WaitFor(t, "somebody to wait", func() bool {
		link.mu.Lock()
		defer link.mu.Unlock()
		return link.lost == 1 && r.servers[1].blocked.queued.Load() == 1
	})
	push.Want(":1", "RPUSH", "l", "y")
	if got := o.Next().String(); got != "*($l $y)" {
		t.Errorf("it got %s", got)
	}
	// Who only reads is never told so.
	link.lose("ENQUEUE", 1)
	o.Send("XREAD", "BLOCK", "0", "STREAMS", "s", "0")
	r.waits(1, 1)
	push.Want("$1-1", "XADD", "s", "1-1", "a", "b")
	if got := o.Next().String(); got != "*(*($s *(*($1-1 *($a $b)))))" {
		t.Errorf("it got %s", got)
	}
	// Not even if it was served: it reads again, from where it was to.
	link.lose("AWAIT", 1)
	o.Send("XREAD", "BLOCK", "0", "STREAMS", "s", "$")
	r.waits(1, 1)
	push.Want("$2-1", "XADD", "s", "2-1", "a", "b")
	if got := o.Next().String(); got != "*(*($s *(*($2-1 *($a $b)))))" {
		t.Errorf("it got %s", got)
	}
}

// What remote waiters take of memory counts for the node where they wait, what they were served too
// as long as it is kept, and there is a bound to it.
func TestRemoteWaitersCountForTheBudget(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	budget := &r.servers[1].budget
	long := []string{"BLPOP"}
	for i := range 8 {
		long = append(long, fmt.Sprintf("{l}%d%s", i, strings.Repeat("x", 30_000)))
	}
	long = append(long, "0")
	r.servers[1].settings.ClientMemory.Store(1 << 20)
	var waiting []*resptest.Conn
	for n := range 3 {
		o := resptest.Dial(t, r.addrs[0], 2)
		o.Send(long...)
		r.waits(1, n+1)
		waiting = append(waiting, o)
	}
	if n := budget.RemoteWaiters.Load(); n < 3*240_000 || n > 3*250_000 {
		t.Errorf("three guests take %d bytes", n)
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	more := slices.Insert(slices.Clone(long), 1, long[1], long[2], long[3])
	if got := o.Do(more...).String(); !strings.HasPrefix(got, "-ERR not enough memory for a command") {
		t.Errorf("a fourth: %s", got)
	}
	o.Send("BLPOP", "{l}", "0") // few bytes are always there
	r.waits(1, 4)
	_ = waiting[0].C.Close()
	r.waits(1, 3)
	push := resptest.Dial(t, r.addrs[1], 2)
	push.Want(":2", "RPUSH", long[1], "a", "b")
	push.Want(":1", "RPUSH", "{l}", "c")
	for _, o := range append(waiting[1:], o) {
		if got := o.Next(); len(got.Elems) != 2 {
			t.Errorf("it got %.100s", got)
		}
	}
	resptest.WaitFor(t, "nothing to be taken any more", func() bool { return budget.RemoteWaiters.Load() == 0 })
	// One that is served and does not hear of it.
	if replies, err := forwarded(t, r.servers[1], []string{"RING", "ENQUEUE", "id", "0", ""}, []string{"BLMPOP", "0", "1", "l", "LEFT", "COUNT", "100"}); err != nil || len(replies) != 2 {
		t.Fatalf("%q, %v", replies, err)
	}
	push.Want(":1", "RPUSH", "l", strings.Repeat("x", 100_000))
	resptest.WaitFor(t, "what it was served to be kept", func() bool { return budget.RemoteWaiters.Load() > 100_000 })
	if replies, err := forwarded(t, r.servers[1], []string{"RING", "DEQUEUE", "id"}); err != nil || len(replies) != 1 || len(replies[0]) < 100_000 {
		t.Fatalf("%.100q, %v", replies, err)
	}
	resptest.WaitFor(t, "nothing to be taken any more", func() bool { return budget.RemoteWaiters.Load() == 0 })
}

// A remote waiter that nobody asks for is not served for long.
func TestForgottenRemoteWaiterIsNotServed(t *testing.T) {
	r := routedTest(t, 1)
	srv := r.servers[0]
	replies, err := forwarded(t, srv, []string{"RING", "ENQUEUE", "id", "0", ""}, []string{"BLPOP", "l", "0"})
	if err != nil || len(replies) != 2 || !strings.HasPrefix(replies[1], "+WAITS ") {
		t.Fatalf("%q, %v", replies, err)
	}
	for _, wrong := range [][]string{{"RING", "ENQUEUE", "", "0", ""}, {"RING", "ENQUEUE", "id", "x", ""}, {"RING", "ENQUEUE", "id", "0", "x"}} {
		if replies, err := forwarded(t, srv, wrong); err != nil || strings.TrimSpace(replies[0]) != "-"+command.MsgSyntax {
			t.Errorf("%v: %q, %v", wrong, replies, err)
		}
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	for _, words := range [][]string{{"RING", "ENQUEUE", "id", "0", ""}, {"RING", "AWAIT", "id"}, {"RING", "DEQUEUE", "id"}} {
		o.Want("-ERR RING "+words[1]+" is what nodes send each other", words...)
	}
	r.waits(0, 1)
	r.waits(0, 0)
	o.Want(":1", "RPUSH", "l", "x")
	o.Want(":1", "LLEN", "l")
	if replies, err := forwarded(t, srv, []string{"RING", "AWAIT", "id"}); err != nil || !strings.HasPrefix(replies[0], "+GONE ") {
		t.Errorf("%q, %v", replies, err)
	}
	if n := len(srv.blocked.remote); n > 0 {
		t.Errorf("%d guests", n)
	}
}

// A client that was served by a unit that failed for want of the lease is told that its
// outcome is unknown, and nobody is told that he got what he did not.
func TestWaitIsUnknownWhenLeaseIsLost(t *testing.T) {
	r, lease, push := leasedTest(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Send("BLPOP", "l", "0")
	r.waits(0, 1)
	lease.lose(-1, false)
	push.Want("-"+msgLostWrite, "RPUSH", "l", "x")
	if got := o.Next().String(); got != "-"+msgLostWrite {
		t.Errorf("it got %s", got)
	}
}

// A unit that fails as a whole leaves those waiting whom it would have served.
func TestFailedUnitServesNoWaiter(t *testing.T) {
	srv, addr := serveTest(t, nil)
	rpush := srv.table.ByName["rpush"]
	run := rpush.Run
	rpush.Run = func(x *command.Call) {
		run(x)
		x.Unit.Fail(errors.New("as a test wants it"))
	}
	o, push := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Send("BLPOP", "l", "0")
	awaitBlocked(t, push, 1)
	push.Want("-ERR as a test wants it", "RPUSH", "l", "y")
	resptest.WaitFor(t, "somebody to wait", func() bool { return srv.blocked.queued.Load() == 1 })
	push.Want(":1", "LPUSH", "l", "x")
	if got := o.Next().String(); got != "*($l $x)" {
		t.Errorf("it got %s", got)
	}
}

// Who is just being served waits for what comes of that, though its time is over.
func TestTimeoutDoesNotRevokeServedWaiter(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Send("BLPOP", "l", "0.3")
	resptest.WaitFor(t, "somebody to wait", func() bool { return srv.blocked.queued.Load() == 1 })
	w := srv.blocked.next([]byte("l"), nil)
	if !srv.blocked.claim(w) {
		t.Fatal("nobody waits any more")
	}
	o.Silent(500 * time.Millisecond)
	w.out.BulkString("x")
	w.end(waitServed, "")
	if got := o.Next().String(); got != "$x" {
		t.Errorf("it got %s", got)
	}
}

// Who has asked a node in vain for what has become of a remote waiter knows that it was not served
// only if the same process says so, which it has heard of it lately, and only of the question that
// the remote waiter's end would have answered.
func TestOutcomeOfVanishedRemoteWaiter(t *testing.T) {
	lately, longAgo := time.Now(), time.Now().Add(-remoteResultKept)
	for i, one := range []struct {
		run, says string
		status    Status
		all       bool
		heard     time.Time
		want      remoteOutcome
	}{
		{"p", "+GONE p\r\n", StatusGone, true, lately, remoteNotServed},
		{"p", "+GONE q\r\n", StatusGone, true, lately, remoteUnknown},
		{"p", "+GONE p\r\n", StatusGone, false, lately, remoteUnknown},
		{"p", "+GONE p\r\n", StatusGone, true, longAgo, remoteUnknown},
		{"p", "+LEFT\r\n", StatusLeft, false, longAgo, remoteNotServed},
		{"p", "+WAITS\r\n", StatusWaits, true, lately, remoteUnknown},
		{"p", "$1\r\nx\r\n", StatusRun, false, longAgo, remoteServed},
		{"p", "+LEFT\r\n", StatusRun, false, longAgo, remoteServed},
		{"p", "$1\r\nx\r\n", StatusUnknown, false, longAgo, remoteUnknown},
	} {
		f := remoteWait{run: one.run, heard: one.heard}
		if got := f.judge([]byte(one.says), one.status, one.all); got != one.want {
			t.Errorf("%d: %q is judged %d, want %d", i, one.says, got, one.want)
		}
	}
}

// Commands that have come through one node are served in their order, whatever order they arrive in, and behind those of
// other nodes that waited before. Nodes of earlier versions do not number their commands.
func TestRemoteWaitersAreServedInTheOrderOfTheirClients(t *testing.T) {
	srv, addr := serveTest(t, nil)
	ids := []string{"b-1-1-7", "old-1-1", "a-1-1-2", "a-2-1-4", "a-3-1-3", "b-2-1-9", "a-4-1-1", "b-3-1-8", "old-2-1"}
	want := []string{"b-1-1-7", "old-1-1", "a-4-1-1", "a-1-1-2", "a-3-1-3", "a-2-1-4", "b-3-1-8", "b-2-1-9", "old-2-1"}
	for _, id := range ids {
		if replies, err := forwarded(t, srv, []string{"RING", "ENQUEUE", id, "0", ""}, []string{"BLPOP", "l", "0"}); err != nil || len(replies) != 2 || !strings.HasPrefix(replies[1], "+WAITS ") {
			t.Fatal(replies, err)
		}
	}
	o := resptest.Dial(t, addr, 2)
	for i, id := range want {
		o.Want(":1", "RPUSH", "l", fmt.Sprint(i))
		if replies, err := forwarded(t, srv, []string{"RING", "AWAIT", id}); err != nil || !strings.Contains(replies[0], fmt.Sprint("\r\n", i, "\r\n")) {
			t.Errorf("%s is not served as number %d: %q, %v", id, i, replies, err)
		}
	}
}

// Two commands that one of a later number has overtaken get the same place before it, and are both served at once.
func TestWaitersBeforeTheSameOneAreServedByOneCommand(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, id := range []string{"a-1-1-9", "a-2-1-3", "a-3-1-5", "a-4-1-7", "a-5-1-1"} {
		if replies, err := forwarded(t, srv, []string{"RING", "ENQUEUE", id, "0", ""}, []string{"BLPOP", "l", "0"}); err != nil || len(replies) != 2 || !strings.HasPrefix(replies[1], "+WAITS ") {
			t.Fatal(replies, err)
		}
	}
	o := resptest.Dial(t, addr, 2)
	o.Want(":5", "RPUSH", "l", "0", "1", "2", "3", "4")
	if n := srv.blocked.queued.Load(); n > 0 {
		t.Fatalf("%d commands wait, and the list has %s elements", n, o.Do("LLEN", "l"))
	}
	for i, id := range []string{"a-5-1-1", "a-2-1-3", "a-3-1-5", "a-4-1-7", "a-1-1-9"} {
		if replies, err := forwarded(t, srv, []string{"RING", "AWAIT", id}); err != nil || !strings.Contains(replies[0], fmt.Sprint("\r\n", i, "\r\n")) {
			t.Errorf("%s is not served as number %d: %q, %v", id, i, replies, err)
		}
	}
}

// There is one remote waiter of a name, and what another would take is given back.
func TestRemoteWaiterIsRegisteredOnce(t *testing.T) {
	r := routedTest(t, 1)
	srv := r.servers[0]
	for _, want := range []string{"+WAITS ", "-" + msgNotMine} {
		replies, err := forwarded(t, srv, []string{"RING", "ENQUEUE", "id", "0", ""}, []string{"BLPOP", "l", "0"})
		if err != nil || len(replies) != 2 || !strings.HasPrefix(replies[1], want) {
			t.Fatalf("%q, %v, want %s", replies, err, want)
		}
	}
	if n := srv.budget.RemoteWaiters.Load(); n < remoteWaiterCost || n > 2*remoteWaiterCost-1 {
		t.Errorf("one guest takes %d bytes", n)
	}
	if replies, err := forwarded(t, srv, []string{"RING", "DEQUEUE", "id"}); err != nil || replies[0] != string(replyLeft) {
		t.Errorf("%q, %v", replies, err)
	}
	if n := srv.budget.RemoteWaiters.Load(); n != 0 {
		t.Errorf("no guest takes %d bytes", n)
	}
}
