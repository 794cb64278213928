package resp

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A cacher is a client of RESP3 that is told what changes.
type cacher struct {
	*resptest.Conn
	pushes []string
}

func newCacher(t *testing.T, addr string, options ...string) *cacher {
	c := &cacher{Conn: resptest.Dial(t, addr, 3)}
	if got := c.ask(append([]string{"CLIENT", "TRACKING", "ON"}, options...)...).String(); got != "+OK" {
		t.Fatal(got)
	}
	return c
}

// ask sends a command and returns its reply; what is pushed before it is kept.
func (c *cacher) ask(args ...string) resptest.Value {
	c.T.Helper()
	c.C.SetDeadline(time.Now().Add(resptest.Patience))
	if _, err := c.C.Write(resptest.EncodeCommands([][]string{args})); err != nil {
		c.T.Fatal(err)
	}
	for {
		v, err := c.Read()
		if err != nil {
			c.T.Fatalf("%v: %v", args, err)
		}
		if v.Kind != '>' {
			return v
		}
		c.pushes = append(c.pushes, v.String())
	}
}

// told waits until something is pushed and returns it.
func (c *cacher) told() string {
	c.T.Helper()
	for len(c.pushes) == 0 {
		c.C.SetDeadline(time.Now().Add(resptest.Patience))
		v, err := c.Read()
		if err != nil {
			c.T.Fatal(err)
		}
		c.pushes = append(c.pushes, v.String())
	}
	p := c.pushes[0]
	c.pushes = c.pushes[1:]
	return p
}

// silent fails the test if anything has been pushed.
func (c *cacher) silent(why string) {
	c.T.Helper()
	c.ask("PING")
	if len(c.pushes) > 0 {
		c.T.Errorf("%s: pushed %v", why, c.pushes)
		c.pushes = nil
	}
}

func invalid(keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(" $" + key)
	}
	return ">($invalidate *(" + strings.TrimSpace(b.String()) + "))"
}

const allInvalid = ">($invalidate _)"

func TestTrackingOptionsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
CLIENT TRACKING
CLIENT TRACKING ON x
CLIENT TRACKING maybe
CLIENT TRACKINGINFO
CLIENT GETREDIR
CLIENT CACHING YES
CLIENT CACHING x
CLIENT TRACKING OFF
CLIENT TRACKING ON PREFIX a
CLIENT TRACKING ON PREFIX
CLIENT TRACKING ON REDIRECT
CLIENT TRACKING ON REDIRECT x
CLIENT TRACKING ON REDIRECT 99999999
CLIENT TRACKING ON BCAST OPTIN
CLIENT TRACKING ON BCAST OPTOUT
CLIENT TRACKING ON OPTIN OPTOUT
CLIENT TRACKING ON
CLIENT TRACKINGINFO
CLIENT GETREDIR
CLIENT CACHING YES
CLIENT CACHING NO
CLIENT CACHING x
CLIENT TRACKING ON BCAST
CLIENT TRACKING ON NOLOOP OPTIN
CLIENT TRACKINGINFO
CLIENT CACHING NO
CLIENT CACHING YES
CLIENT TRACKINGINFO
PING
CLIENT TRACKINGINFO
CLIENT TRACKING ON OPTOUT
CLIENT TRACKING OFF
CLIENT TRACKING ON OPTOUT
CLIENT CACHING NO
CLIENT TRACKINGINFO
CLIENT TRACKING OFF
CLIENT TRACKING ON BCAST PREFIX a PREFIX ab
CLIENT TRACKING ON BCAST PREFIX b PREFIX a NOLOOP
CLIENT TRACKINGINFO
CLIENT TRACKING ON BCAST PREFIX c
CLIENT TRACKING ON BCAST PREFIX abc
CLIENT TRACKING ON BCAST
CLIENT TRACKINGINFO
RESET
`)
		if d.proto == 2 {
			d.do("CLIENT", "TRACKINGINFO")
		}
	})
}

func TestTrackingTellsOfEachChangeOnce(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	c := newCacher(t, addr)
	long := strings.Repeat("x", 200_000)
	for _, test := range []struct{ set, read, change []string }{
		{[]string{"SET", "k", "1"}, []string{"GET", "k"}, []string{"SET", "k", "2"}},
		{nil, []string{"GET", "nope"}, []string{"SET", "nope", "2"}},
		{[]string{"SET", "k", "1"}, []string{"EXISTS", "k"}, []string{"DEL", "k"}},
		{[]string{"SET", "k", "1"}, []string{"TTL", "k"}, []string{"EXPIRE", "k", "100"}},
		{[]string{"SET", "k", "1"}, []string{"GET", "k"}, []string{"RENAME", "k", "other"}},
		{[]string{"HSET", "h", "f", "1"}, []string{"HGET", "h", "f"}, []string{"HSET", "h", "f", "2"}},
		{[]string{"RPUSH", "l", "a"}, []string{"LRANGE", "l", "0", "-1"}, []string{"RPOP", "l"}},
		{[]string{"SET", "long", long}, []string{"GETRANGE", "long", "0", "10"}, []string{"SETRANGE", "long", "100000", "y"}},
		{nil, []string{"GETRANGE", "long", "0", "10"}, []string{"SETRANGE", "long", "100000", "z"}},
		{nil, []string{"GETBIT", "long", "9"}, []string{"SETBIT", "long", "9", "0"}},
	} {
		if test.set != nil {
			o.Do(test.set...)
		}
		c.silent(fmt.Sprint("before ", test.read))
		c.ask(test.read...)
		c.silent(fmt.Sprint("after ", test.read))
		o.Do(test.change...)
		if got := c.told(); got != invalid(test.read[1]) {
			t.Errorf("%v, then %v: %s", test.read, test.change[:2], got)
		}
		o.Do(test.change...)
		c.silent(fmt.Sprint("a second time after ", test.change[0]))
	}
	c.ask("MGET", "a", "b")
	o.Do("MSET", "a", "1", "b", "2", "c", "3")
	if got := []string{c.told(), c.told()}; !slices.Contains(got, invalid("a")) || !slices.Contains(got, invalid("b")) {
		t.Error(got)
	}
	o.Do("SET", "short", "1", "PX", "30")
	c.ask("GET", "short")
	if got := c.told(); got != invalid("short") {
		t.Errorf("expiry: %s", got)
	}
	c.ask("GET", "k")
	o.Do("FLUSHALL")
	if got := c.told(); got != allInvalid {
		t.Errorf("FLUSHALL: %s", got)
	}
	c.ask("GET", "k")
	c.ask("CLIENT", "TRACKING", "OFF")
	o.Do("SET", "k", "1")
	c.silent("off")
}

// The header of a large collection stays as it is when an element takes the place of one of its size.
func TestTrackingTellsOfElementsAlone(t *testing.T) {
	_, addr := serveTest(t, nil)
	c, o := newCacher(t, addr), resptest.Dial(t, addr, 2)
	for i := range 2000 {
		o.Do("RPUSH", "list", fmt.Sprint(1000+i))
		o.Do("XADD", "stream", fmt.Sprint(1+i, "-1"), "field", strings.Repeat("x", 10))
	}
	o.Do("XGROUP", "CREATE", "stream", "group", "0")
	o.Do("XREADGROUP", "GROUP", "group", "me", "COUNT", "10", "STREAMS", "stream", ">")
	for _, change := range [][]string{
		{"LSET", "list", "1000", "3000"},
		{"XACK", "stream", "group", "1-1"},
		{"XCLAIM", "stream", "group", "other", "0", "2-1"},
		{"XREADGROUP", "GROUP", "group", "me", "COUNT", "1", "STREAMS", "stream", ">"},
	} {
		key := map[bool]string{false: "stream", true: "list"}[change[1] == "list"]
		c.ask("TYPE", "other")
		if key == "list" {
			c.ask("LINDEX", key, "1000")
		} else {
			c.ask("XPENDING", key, "group")
		}
		o.Do(change...)
		if got := c.told(); got != invalid(key) {
			t.Errorf("%q: told %s", change, got)
		}
		c.silent("it is told once")
	}
}

func TestTrackingModes(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)

	in := newCacher(t, addr, "OPTIN")
	in.ask("GET", "a")
	in.ask("CLIENT", "CACHING", "YES")
	in.ask("GET", "b")
	in.ask("GET", "c")
	in.ask("CLIENT", "CACHING", "YES")
	in.ask("MULTI")
	in.ask("GET", "d")
	in.ask("GET", "e")
	in.ask("EXEC")
	in.ask("GET", "f")
	o.Do("MSET", "a", "1", "b", "1", "c", "1", "d", "1", "e", "1", "f", "1")
	got := []string{in.told(), in.told(), in.told()}
	slices.Sort(got)
	if !slices.Equal(got, []string{invalid("b"), invalid("d"), invalid("e")}) {
		t.Errorf("OPTIN: %v", got)
	}
	in.silent("OPTIN")

	out := newCacher(t, addr, "OPTOUT")
	out.ask("GET", "a")
	out.ask("CLIENT", "CACHING", "NO")
	out.ask("GET", "b")
	o.Do("MSET", "a", "2", "b", "2")
	if got := out.told(); got != invalid("a") {
		t.Errorf("OPTOUT: %s", got)
	}
	out.silent("OPTOUT")

	loop, noLoop := newCacher(t, addr), newCacher(t, addr, "NOLOOP")
	for _, c := range []*cacher{loop, noLoop} {
		c.ask("GET", "own")
		c.ask("SET", "own", "1")
	}
	// Each has been told of the other's, and the first of its own.
	if got := loop.told(); got != invalid("own") {
		t.Error(got)
	}
	noLoop.silent("NOLOOP")
	noLoop.ask("GET", "own")
	o.Do("SET", "own", "2")
	if got := noLoop.told(); got != invalid("own") {
		t.Error(got)
	}

	cast := newCacher(t, addr, "BCAST", "PREFIX", "user:", "PREFIX", "obj:", "NOLOOP")
	o.Do("MSET", "user:1", "x", "other", "x", "obj:2", "x", "user:3", "x", "user:3", "y")
	got = []string{cast.told(), cast.told()}
	slices.Sort(got)
	both := strings.Replace(invalid("user:1"), "$user:1", "$user:1 $user:3", 1)
	if !slices.Equal(got, []string{invalid("obj:2"), both}) {
		t.Errorf("BCAST: %v", got)
	}
	cast.ask("SET", "user:3", "x")
	cast.silent("BCAST NOLOOP")

	target := resptest.Dial(t, addr, 3)
	id := target.Do("CLIENT", "ID").Text
	from := newCacher(t, addr, "REDIRECT", id)
	if got := from.ask("CLIENT", "GETREDIR").Text; got != id {
		t.Error(got)
	}
	from.ask("GET", "k")
	o.Do("SET", "k", "1")
	if v, err := target.Read(); err != nil || v.String() != invalid("k") {
		t.Errorf("REDIRECT: %v, %v", v, err)
	}
	from.silent("REDIRECT")
	if list := from.ask("CLIENT", "LIST", "ID", from.ask("CLIENT", "ID").Text).Text; !strings.Contains(list, " flags=t ") || !strings.Contains(list, " redir="+id+" ") {
		t.Error(list)
	}
	target.C.Close()
	resptest.WaitFor(t, "the end of the connection", func() bool { return o.Do("CLIENT", "LIST", "ID", id).Text == "" })
	from.ask("GET", "k")
	o.Do("SET", "k", "2")
	if got := from.told(); got != ">($tracking-redir-broken :"+id+")" {
		t.Errorf("REDIRECT to nobody: %s", got)
	}
}

// A client that forgets a value when it is told to does not keep one that is wrong: the reply
// never comes behind what says that it is out of date, and who reads while the key changes is
// told, or has read the new value.
func TestTrackingClientKeepsNoStaleValue(t *testing.T) {
	_, addr := serveTest(t, nil)
	rounds := randomtest.Length(3000, 150)
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	o, c := resptest.Dial(t, addr, 2), newCacher(t, addr)
	for round := range rounds {
		// Reads at the beginning of a pipeline are answered at its end; those at its end
		// may be at the same time as the write.
		var reads [][]string
		for range 1 + rnd.IntN(20) {
			reads = append(reads, []string{"GET", "k"})
		}
		for range rnd.IntN(2) * rnd.IntN(100) {
			reads = append(reads, []string{"GETBIT", "other", "1"})
		}
		value, wait := fmt.Sprint(round), rnd.IntN(100)
		written := make(chan struct{})
		go func() {
			defer close(written)
			for range wait {
				runtime.Gosched()
			}
			o.Do("SET", "k", value)
		}()
		c.C.SetDeadline(time.Now().Add(resptest.Patience))
		if _, err := c.C.Write(resptest.EncodeCommands(reads)); err != nil {
			t.Fatal(err)
		}
		held := "" // what the client has in its cache
		for replies, over := 0, false; replies < len(reads) || held != "" && (!over || held != value); {
			if replies == len(reads) && !over {
				<-written
				over = true
				continue
			}
			v, err := c.Read()
			switch {
			case err != nil:
				t.Fatalf("round %d: the client holds %q, the key is %q: %v", round, held, value, err)
			case v.Kind == '>':
				held = ""
				continue
			case v.Kind == '$':
				held = v.Text
			}
			replies++
		}
		<-written
	}
}

// A table that is full tells clients that they must forget.
func TestTrackingTableIsBounded(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "CONFIG", "SET", "tracking-table-max-keys", "10")
	c := newCacher(t, addr)
	for i := range 50 {
		c.ask("GET", fmt.Sprint("k", i))
	}
	for len(c.pushes) < 40 {
		c.pushes = append(c.pushes, "")
		c.pushes = c.pushes[:len(c.pushes)-1]
		c.ask("PING")
	}
	if _, keys, items, _ := srv.tracking.counts(); keys != 10 || items != 10 {
		t.Errorf("%d keys, %d entries", keys, items)
	}
	c.pushes = nil
	o.Want("+OK", "CONFIG", "SET", "tracking-table-max-keys", "7")
	for range 3 { // at once
		c.told()
	}
	c.silent("no more than that")
	c.ask("GET", strings.Repeat("k", maxTrackedKey+1))
	if got := c.told(); !strings.Contains(got, strings.Repeat("k", maxTrackedKey)) {
		t.Errorf("a long key: %s", got)
	}
	c.C.Close()
	resptest.WaitFor(t, "an empty table", func() bool { clients, keys, _, _ := srv.tracking.counts(); return clients+keys == 0 })
}

// Whoever was cut off may have missed writes.
func TestTrackingForgetsWhenTheLeaseWasLost(t *testing.T) {
	r, lease, _ := leasedTest(t)
	c := newCacher(t, r.addrs[0])
	c.ask("GET", "k")
	c.silent("the lease holds")
	lease.lose(1, true)
	if got := c.told(); got != allInvalid {
		t.Error(got)
	}
	c.ask("GET", "k")
	resptest.Dial(t, r.addrs[0], 2).Do("SET", "k", "1")
	if got := c.told(); got != invalid("k") {
		t.Errorf("afterwards: %s", got)
	}
}

// As in Redis since 7.2, a script has its client told of the keys that it has read, declared or not.
func TestTrackingOfScriptsCoversKeysRead(t *testing.T) {
	_, addr := serveTest(t, nil)
	for _, eval := range []string{"EVAL", "EVAL_RO"} {
		for text, want := range map[string][]string{
			"return redis.call('ping')": nil, "return 1": nil, "return redis.call('get', 'a')": {"a"}, "return redis.call('get', KEYS[2])": {"b"}, "return redis.call('get', 'c')": {"c"},
		} {
			c := newCacher(t, addr)
			o := resptest.Dial(t, addr, 2)
			o.Do("MSET", "a", "1", "b", "1", "c", "1")
			c.ask(eval, text, "2", "a", "b")
			o.Do("MSET", "a", "2", "b", "2", "c", "2")
			for _, key := range want {
				if got := c.told(); got != invalid(key) {
					t.Errorf("%s %s: %s, want %s", eval, text, got, key)
				}
			}
			c.silent(text)
		}
	}
}

func TestInfoCountsTrackedKeys(t *testing.T) {
	_, addr := serveTest(t, nil)
	c, o := newCacher(t, addr), resptest.Dial(t, addr, 2)
	c.ask("MGET", "a", "b")
	resptest.Dial(t, addr, 3).Want("+OK", "CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "p", "PREFIX", "q")
	for name, want := range map[string]int{"tracking_clients": 2, "tracking_total_keys": 2, "tracking_total_items": 2, "tracking_total_prefixes": 2} {
		if got := o.InfoField(name, "INFO"); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

// A client reads the reply to its command before it is told of what the command has changed.
func TestOwnChangeIsToldAfterTheReply(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 3)
	o.Want("+OK", "CLIENT", "TRACKING", "ON")
	for range 50 {
		o.Want(":1", "HSET", "h", "f", "1")
		o.Want("$1", "HGET", "h", "f")
		o.Want(":1", "HDEL", "h", "f")
		if got := o.Next().String(); got != invalid("h") {
			t.Fatalf("after HDEL: %s", got)
		}
		o.Want("_", "HGET", "h", "f")
		o.Want("+OK", "MULTI")
		o.Want("+QUEUED", "FLUSHDB")
		o.Want("*(+OK)", "EXEC")
		if got := o.Next().String(); got != ">($invalidate _)" {
			t.Fatalf("after EXEC: %s", got)
		}
	}
}
