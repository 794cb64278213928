package check

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// mixes are what the model understands, alone and together.
var mixes = []struct{ mix, ttl string }{
	{"3 get; 1 set", ""},
	{"3 get; 1 set; 1 del", ""},
	{"3 get; 1 set; 1 exists", "10ms..200ms"},
	{"3 get; 1 mset 3; 2 mget 3; 1 del 2; 1 exists 2; 1 unlink", ""},
	{"2 get; 1 getset; 1 setnx; 1 del; 1 exists", ""},
	{"1 get; 2 incr", ""},
	{"2 get; 2 incr; 1 del; 1 exists", ""},
	{"2 get; 2 incr; 1 del; 1 set; 1 getset; 1 setnx; 1 mget 2; 1 touch 1", "10ms..200ms"},
	{"2 get; 1 set; 1 append", ""},
	{"2 get; 1 set; 1 set __key__ hello; 1 hset __key__ f __data__; 1 strlen; 1 ping", ""},
}

// Whatever a linearizable server answers, in whatever order commands overlap, get lost on
// their way or arrive when nobody waits for them any more: nobody is accused.
func TestLinearizableHistoryIsNotBlamed(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing to see for the race detector")
	}
	for _, m := range mixes {
		for _, faulty := range []bool{false, true} {
			for _, fresh := range []bool{false, true} {
				for seed := range uint64(15) {
					h := newHistory(t, seed, m.mix, m.ttl, 1+int(seed%8), 1+int64(seed%4), fresh)
					h.faulty = faulty
					if !fresh {
						for key := range int64(4) {
							h.server.values[key] = entry{[]byte("17"), forever}
						}
					}
					for range 3000 {
						h.step()
					}
					h.settle()
					for _, key := range h.model.Keys() {
						h.read(key, h.server.get(key))
					}
					h.expect(fmt.Sprintf("%s, ttl %s, faulty %v, fresh %v, seed %d", m.mix, m.ttl, faulty, fresh, seed), [verdicts]int64{})
					if t.Failed() {
						return
					}
				}
			}
		}
	}
}

// Once nothing is on its way, each wrong answer is found, and named.
func TestWrongAnswersAreFound(t *testing.T) {
	for seed := range uint64(40) {
		h := newHistory(t, seed, "3 get; 2 set; 1 del; 1 mset 2", "", 6, 5, true)
		var old [][]byte // values of key 0 that were acknowledged once
		for range 2000 {
			h.step()
			if v := h.server.get(0); v != nil && (len(old) == 0 || string(old[len(old)-1]) != string(v)) {
				old = append(old, slices.Clone(v))
			}
		}
		h.settle()
		// A last write, that is certainly the last.
		f := h.cfg.Filler(0)
		op := copied(f.Write(0))
		c := h.model.Client(h.cfg.Clients)
		h.server.now++
		c.Begin(Set, op, h.server.now)
		h.server.do(Set, op)
		h.server.now++
		c.End(&Answer{}, h.server.now)
		h.expect("before", [verdicts]int64{})

		want := [verdicts]int64{}
		check := func(what string, v verdict, value []byte) {
			t.Helper()
			want[v]++
			h.read(0, value)
			h.expect(what, want)
		}
		check("nothing", lost, nil)
		check("an early value", stale, old[0])
		check("the value before", stale, old[len(old)-2])
		check("garbage", corrupt, []byte("garbage"))
		check("an empty value", corrupt, []byte{})
		torn := slices.Clone(op.Args[2])
		torn[50] ^= 1
		check("one bit is wrong", corrupt, torn)
		check("a number", corrupt, []byte("1"))
		check("a value of another key", corrupt, copied(f.Write(1)).Args[2])
		check("a value that nobody has written yet", corrupt, copied(f.Write(0)).Args[2])
		other := workload.Config{Clients: 1000, Keys: 1, Mix: h.cfg.Mix, Sizes: h.cfg.Sizes, Stamped: true}
		check("a value of nobody", corrupt, other.Filler(0).Write(0).Args[2])
		h.read(0, op.Args[2])
		h.expect("the right one", want)
		if t.Failed() {
			return
		}
	}
}

// A server that forgets a key now and then, or brings an old value back, is found out in
// the middle of a busy history, too.
func TestFaultyServersAreFoundUnderLoad(t *testing.T) {
	for _, fault := range []verdict{lost, stale} {
		found := 0
		for seed := range uint64(20) {
			h := newHistory(t, seed, "3 get; 1 set", "", 4, 20, true)
			old := map[int64]entry{}
			for i := range 4000 {
				h.step()
				key := h.rnd.Int64N(20)
				switch e, ok := h.server.values[key]; {
				case !ok:
				case i%10 == 0:
					old[key] = e
				case i%400 == 399 && fault == lost:
					delete(h.server.values, key)
				case i%400 == 399 && old[key].value != nil:
					h.server.values[key] = old[key]
				}
			}
			h.settle()
			got := h.found()
			if got[fault] > 0 {
				found++
			}
			for v := range verdicts {
				if v != fault && got[v] > 0 {
					t.Errorf("seed %d: %d answers are said to be %s: %q", seed, got[v], words[v], h.model.Checked().Examples)
				}
			}
		}
		if found < 15 {
			t.Errorf("of 20 servers with faults, %d were found out as %s", found, words[fault])
		}
	}
}
