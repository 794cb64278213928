package resp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
)

// quarters is a placement of four ranges, each with its primary first.
func quarters(t *testing.T, nodes ...[]string) *ring.Placement {
	t.Helper()
	rows := make([]ring.Row, len(nodes))
	for i, n := range nodes {
		rows[i] = ring.Row{
			Range: ring.Range{Start: ring.Token(i) << 30, End: ring.Token(i+1) << 30}, Epoch: 1,
			Primary: n[0], Backups: n[1:],
		}
	}
	p, err := ring.NewPlacement(rows)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// keyIn is a key of one of four quarters.
func (r *routed) keyIn(quarter int) string {
	for i := 0; ; i++ {
		if key := fmt.Sprint("key", i); int(r.token([]byte(key))>>30) == quarter {
			return key
		}
	}
}

func TestWaitCountsWhereItWasWritten(t *testing.T) {
	r := routedTest(t, 3)
	p := quarters(t, []string{"n0", "n1", "n2"}, []string{"n0", "n1"}, []string{"n1", "n0", "n2"}, []string{"n2"})
	r.placeAll(p)
	keys := make([]string, 4)
	for i := range keys {
		keys[i] = r.keyIn(i)
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want(":0", "WAIT", "0", "0") // nothing is written: what all ranges have
	o.Want("_$", "GET", keys[3])
	o.Want("+OK", "SET", keys[0], "v")
	o.Want(":2", "WAIT", "2", "0")
	o.Want("+OK", "SET", keys[2], "v") // another node's
	o.Want(":2", "WAIT", "2", "0")
	o.Want(":2", "WAIT", "1", "0")
	o.Want("+OK", "SET", keys[1], "v")
	o.Want(":1", "WAIT", "1", "0")
	o.Want(":1", "WAIT", "2", "20")
	o.Want("+OK", "MSET", keys[3], "v", keys[0], "v")
	o.Want(":0", "WAIT", "0", "0")
	o.Want("-ERR value is not an integer or out of range", "WAIT", "x", "0")

	redirected := r.redirecting(0)
	redirected.Want("+OK", "SET", keys[0], "v")
	redirected.Want(":2", "WAIT", "2", "0")
	redirected.Want("-MOVED "+fmt.Sprint(uint32(r.token([]byte(keys[3]))))+" "+r.addrs[2], "SET", keys[3], "v")
}

func TestWaitaofCountsLogsThatAreFlushed(t *testing.T) {
	r := routedApart(t, 3)
	r.placeAll(quarters(t, []string{"n0", "n1", "n2"}, []string{"n0", "n1"}, []string{"n1", "n0", "n2"}, []string{"n2"}))
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("*(:1 :0)", "WAITAOF", "1", "0", "0") // nothing is written: what all ranges have
	for _, step := range []struct {
		quarter int
		want    string
		n       string
	}{
		{0, "*(:1 :2)", "2"},
		{2, "*(:1 :2)", "2"},
		{1, "*(:1 :1)", "1"},
		{3, "*(:1 :0)", "0"},
	} {
		before := make([]time.Time, len(r.servers))
		for i, srv := range r.servers {
			before[i] = srv.store.LastSync()
		}
		o.Want("+OK", "SET", r.keyIn(step.quarter), "v")
		o.Want(step.want, "WAITAOF", "1", step.n, "0")
		for i, srv := range r.servers {
			copies := r.servers[0].routes.Load().Placement.Row(step.quarter)
			id := fmt.Sprint("n", i)
			if (copies.Primary == id || slices.Contains(copies.Backups, id)) && !srv.store.LastSync().After(before[i]) {
				t.Errorf("quarter %d: %s has not flushed its log", step.quarter, id)
			}
		}
	}
	link := r.links["n1"]
	link.Link = deadLink{wait: ErrTimeout, asks: make(chan struct{}, 1000)}
	r.links["n1"] = link
	r.place(0, r.servers[0].routes.Load().Placement, nil)
	o = resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "SET", r.keyIn(0), "v")
	settles := func(replicas string) {
		t.Helper()
		for timeout := 50; ; timeout *= 2 { // of milliseconds: a busy machine may need more for its log
			got := o.Do("WAITAOF", "1", replicas, strconv.Itoa(timeout)).String()
			if got == "*(:1 :1)" {
				return
			}
			if timeout > 60_000 {
				t.Fatalf("WAITAOF 1 %s: %s", replicas, got)
			}
		}
	}
	settles("2") // a node is silent
	settles("1000")
	o.Want("+OK", "MULTI")
	o.Want("+QUEUED", "WAITAOF", "1", "2", "0")
	o.Want("*(*(:1 :1))", "EXEC")
	for command, want := range map[string]string{
		"WAITAOF 1 0":    "-ERR wrong number of arguments for 'waitaof' command",
		"WAITAOF x 0 0":  "-ERR value is not an integer or out of range",
		"WAITAOF 2 0 0":  "-ERR value is out of range, value must between 0 and 1",
		"WAITAOF -1 0 0": "-ERR value is out of range, value must between 0 and 1",
		"WAITAOF 0 y 0":  "-ERR value is not an integer or out of range",
		"WAITAOF 0 -1 0": "-ERR value is out of range, must be positive",
		"WAITAOF 0 0 z":  "-ERR timeout is not an integer or out of range",
		"WAITAOF 0 0 -1": "-ERR timeout is negative",
	} {
		o.Want(want, strings.Fields(command)...)
	}
}

func TestWaitaofOfALoneNode(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("*(:1 :0)", "WAITAOF", "1", "0", "0")
	before := srv.store.LastSync()
	o.Want("+OK", "SET", "k", "v")
	o.Want("*(:1 :0)", "WAITAOF", "1", "0", "0")
	if !srv.store.LastSync().After(before) {
		t.Error("the log was not flushed")
	}
	o.Want("*(:1 :0)", "WAITAOF", "1", "1", "20")
}

func TestWaitWaitsForBackups(t *testing.T) {
	r := routedTest(t, 2)
	alone := quarters(t, []string{"n0"}, []string{"n0"}, []string{"n1"}, []string{"n1"})
	both := quarters(t, []string{"n0", "n1"}, []string{"n0", "n1"}, []string{"n1", "n0"}, []string{"n1", "n0"})
	for quarter := range 4 {
		r.placeAll(alone)
		o := resptest.Dial(t, r.addrs[0], 2)
		o.Want("+OK", "SET", r.keyIn(quarter), "v")
		if _, err := o.C.Write([]byte("WAIT 1 0\r\nPING\r\n")); err != nil {
			t.Fatal(err)
		}
		resptest.WaitFor(t, "it waits", func() bool { return lingers(r.servers[0]) })
		r.placeAll(both)
		for _, want := range []string{":1", "+PONG"} {
			if v, err := o.Read(); err != nil || v.String() != want {
				t.Fatalf("%s, %v; want %s", v, err, want)
			}
		}
	}
}

// A node that acknowledges writes without a backup knows so from the newest placement,
// before its routes do.
func TestWaitGoesByTheNewestPlacement(t *testing.T) {
	newest := quarters(t, []string{"n0"}, []string{"n0"}, []string{"n1"}, []string{"n1"})
	r := routedTest(t, 2)
	for _, srv := range r.servers {
		srv.cfg.Placement = func() *ring.Placement { return newest }
	}
	r.placeAll(quarters(t, []string{"n0", "n1"}, []string{"n0", "n1"}, []string{"n1", "n0"}, []string{"n1", "n0"}))
	for quarter := range 4 {
		o := resptest.Dial(t, r.addrs[0], 2)
		o.Want("+OK", "SET", r.keyIn(quarter), "v")
		o.Want(":0", "WAIT", "1", "20")
	}
	// Nor does it speak for ranges that it has lost.
	newest = quarters(t, []string{"n2", "n0"}, []string{"n2", "n0"}, []string{"n2", "n1"}, []string{"n2", "n1"})
	for quarter := range 4 {
		o := resptest.Dial(t, r.addrs[0], 2)
		o.Want("+OK", "SET", r.keyIn(quarter), "v")
		o.Want(":0", "WAIT", "1", "20")
	}
}

func TestWaitDoesNotCountSilentNodes(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(quarters(t, []string{"n0", "n1"}, []string{"n0", "n1"}, []string{"n1", "n0"}, []string{"n1", "n0"}))
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "SET", r.keyIn(2), "v")
	o.Want(":1", "WAIT", "1", "0")
	link := r.links["n1"]
	link.Link = deadLink{wait: ErrTimeout, asks: make(chan struct{}, 1000)}
	r.links["n1"] = link
	r.place(0, r.servers[0].routes.Load().Placement, nil)
	o.Want(":0", "WAIT", "1", "50")
}

func TestTooFewCopiesRefuseWrites(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(quarters(t, []string{"n0", "n1"}, []string{"n0"}, []string{"n1", "n0"}, []string{"n1"}))
	o := resptest.Dial(t, r.addrs[0], 2)
	refused := "-" + msgNoReplicas
	for quarter := range 4 {
		o.Want("+OK", "SET", r.keyIn(quarter), "old")
	}
	for _, srv := range r.servers {
		srv.settings.MinInSync.Store(2)
	}
	for quarter, want := range []string{"+OK", refused, "+OK", refused} {
		key := r.keyIn(quarter)
		o.Want(want, "SET", key, "new")
		if want == refused {
			o.Want("$old", "GET", key)
			o.Want(refused, "DEL", key)
			o.Want(refused, "APPEND", key, "x")
			o.Want(refused, "GETDEL", key)
			o.Want(refused, "MSET", "{"+key+"}1", "v", key, "v")
			// A script that says what it does is refused before it begins, unless it only reads.
			o.Want("$old", "EVAL", "return redis.call('GET', KEYS[1])", "1", key)
			o.Want(refused, "EVAL", "#!lua\nreturn redis.call('GET', KEYS[1])", "1", key)
			o.Want("$old", "EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])", "1", key)
		} else {
			o.Want("$new", "GET", key)
		}
	}
	o.Want(refused, "FLUSHALL")
	o.Want("$old", "GET", r.keyIn(1))
	o.Want("*($min-in-sync $2)", "CONFIG", "GET", "min-in-sync")
	o.Want("*($min-replicas-to-write $1)", "CONFIG", "GET", "min-replicas-to-write")
	r.redirecting(0).Want("+OK", "CONFIG", "SET", "min-in-sync", "1") // at this node alone
	o.Want("+OK", "SET", r.keyIn(1), "new")
	o.Want(refused, "SET", r.keyIn(3), "new") // its owner's setting counts
	o.Want("+OK", "CONFIG", "SET", "min-replicas-to-write", "1")
	o.Want(refused, "SET", r.keyIn(1), "new")
	o.Want("+OK", "CONFIG", "SET", "min-in-sync", "1") // at all nodes
	o.Want("+OK", "SET", r.keyIn(3), "new")
	for _, bad := range []string{"0", "256", "x"} {
		if v := o.Do("CONFIG", "SET", "min-in-sync", bad); v.Text[:3] != "ERR" {
			t.Errorf("%s: %s", bad, v)
		}
	}
}

// lingers tells whether a client of a server waits in WAIT.
func lingers(s *Server) bool {
	for _, c := range s.snapshot() {
		if cmd := c.session.lastCmd.Load(); cmd != nil && cmd.Full == "wait" {
			return true
		}
	}
	return false
}
