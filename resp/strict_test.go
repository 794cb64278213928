package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// severalKeys are all commands on several keys, with two of them.
func severalKeys(a, b string) [][]string {
	return [][]string{
		{"MGET", a, b}, {"MSET", a, "1", b, "2"}, {"DEL", a, b}, {"JSON.MGET", a, b, "$"}, {"JSON.MSET", a, "$", "1", b, "$", "1"}, {"UNLINK", a, b}, {"EXISTS", a, b}, {"TOUCH", a, b},
		{"MSETNX", a, "1", b, "2"}, {"MSETEX", "2", a, "1", b, "2"}, {"RENAME", a, b}, {"RENAMENX", a, b}, {"COPY", a, b}, {"BITOP", "OR", a, a, b}, {"LCS", a, b},
		{"SMOVE", a, b, "x"}, {"SINTER", a, b}, {"SUNION", a, b}, {"SDIFF", a, b}, {"SINTERCARD", "2", a, b},
		{"SINTERSTORE", a, a, b}, {"SUNIONSTORE", a, a, b}, {"SDIFFSTORE", a, a, b},
		{"LMOVE", a, b, "LEFT", "LEFT"}, {"RPOPLPUSH", a, b}, {"LMPOP", "2", a, b, "LEFT"}, {"EVAL", "return 1", "2", a, b}, {"EVAL_RO", "return 1", "2", a, b},
		{"EVALSHA", strings.Repeat("0", 40), "2", a, b}, {"EVALSHA_RO", strings.Repeat("0", 40), "2", a, b}, {"WATCH", a, b},
		{"FCALL", "nosuch", "2", a, b}, {"FCALL_RO", "nosuch", "2", a, b},
		{"XREAD", "STREAMS", a, b, "0", "0"}, {"XREADGROUP", "GROUP", "g", "c", "STREAMS", a, b, ">", ">"},
		{"PFCOUNT", a, b}, {"PFMERGE", a, b}, {"SORT", a, "STORE", b},
		{"ZUNION", "2", a, b}, {"ZINTER", "2", a, b}, {"ZDIFF", "2", a, b}, {"ZINTERCARD", "2", a, b}, {"ZMPOP", "2", a, b, "MIN"},
		{"ZUNIONSTORE", a, "2", a, b}, {"ZINTERSTORE", a, "2", a, b}, {"ZDIFFSTORE", a, "2", a, b}, {"ZRANGESTORE", a, b, "0", "1"},
		{"GEORADIUS", a, "1", "1", "1", "m", "STORE", b}, {"GEORADIUSBYMEMBER", a, "x", "1", "m", "STORE", b},
		{"GEOSEARCHSTORE", a, b, "FROMMEMBER", "x", "BYRADIUS", "1", "m"},
		{"BLPOP", a, b, "0.01"}, {"BRPOP", a, b, "0.01"}, {"BLMPOP", "0.01", "2", a, b, "LEFT"},
		{"BLMOVE", a, b, "LEFT", "LEFT", "0.01"}, {"BRPOPLPUSH", a, b, "0.01"},
		{"BZPOPMIN", a, b, "0.01"}, {"BZPOPMAX", a, b, "0.01"}, {"BZMPOP", "0.01", "2", a, b, "MIN"},
	}
}

func TestEveryCommandOnSeveralKeysIsKnown(t *testing.T) {
	known := make(map[string]bool)
	for _, words := range severalKeys("a", "b") {
		known[strings.ToLower(words[0])] = true
	}
	for _, cmd := range newCommandTable().All {
		if cmd.Full == "sort_ro" || cmd.Refusal != "" {
			continue
		}
		if takesSeveralKeys(cmd) && !cmd.Between && !known[cmd.Full] {
			t.Errorf("%s is not among them", cmd.Full)
		}
	}
}

// On a lone node everything works and what would not on a larger cluster is counted;
// under strict-slots it is refused and has not run.
func TestStrictSlotsOnALoneNode(t *testing.T) {
	for _, slots := range []bool{false, true} {
		srv, addr := serveTest(t, nil)
		o := resptest.Dial(t, addr, 2)
		if slots {
			o.Want("+OK", "RING", "ROUTE", "redirect") // where nothing is split
		}
		apartSoFar := int64(0)
		for _, strict := range []bool{false, true} {
			o.Want("+OK", "CONFIG", "SET", "strict-slots", map[bool]string{false: "no", true: "yes"}[strict])
			for _, words := range severalKeys("a", "b") {
				o.Do("MSET", "{t}a", "1", "{t}b", "2")
				o.Do("SET", "a", "old")
				o.Do("SET", "b", "old")
				cmd, _ := srv.table.Lookup([][]byte{[]byte(words[0]), nil, nil, nil, nil})
				before := srv.stats.CrossSlot.Load()
				reply := o.Do(words...).String()
				loose := slots || cmd.Merge == command.MergeNone
				if refused := reply == "-"+msgCrossSlot; refused != (strict && loose) {
					t.Errorf("%v, strict %v, redirect %v: %s", words, strict, slots, reply)
				} else if refused && (srv.stats.CrossSlot.Load() != before+1 || o.Do("GET", "b").String() != "$old") {
					t.Errorf("%v was refused and did something, or was not counted", words)
				}
				if loose && !strict {
					apartSoFar++
				}
				if got := srv.stats.Apart.Load(); got != apartSoFar {
					t.Errorf("%v: %d counted, want %d", words, got, apartSoFar)
				}
			}
			for _, words := range severalKeys("{t}a", "{t}b") {
				if reply := o.Do(words...).String(); reply == "-"+msgCrossSlot {
					t.Errorf("%v is refused in spite of its tag", words)
				}
			}
		}
		info := o.Do("RING", "INFO").Text
		for _, want := range []string{fmt.Sprint("requests_keys_apart:", apartSoFar), "strict_slots:1"} {
			if !strings.Contains(info, want) {
				t.Errorf("RING INFO does not say %s: %s", want, info)
			}
		}
		if got := o.Do("CONFIG", "SET", "strict-slots", "perhaps").String(); !strings.Contains(got, "'yes' or 'no'") {
			t.Error(got)
		}
	}
}

// What is let through under strict-slots is never refused for where its keys lie,
// however they are spread.
func TestStrictSlotsIsAsStrictAsAnyPlacement(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	lone, addr := serveTest(t, nil)
	lone.settings.StrictSlots.Store(true)
	strict := resptest.Dial(t, addr, 2)
	refused := make(map[string]bool)
	let := make(map[string]bool)
	for range 30 {
		r.placeAll(r.spread(rnd))
		o := resptest.Dial(t, r.addrs[rnd.IntN(3)], 2)
		a, b := fmt.Sprint("a", rnd.IntN(100)), fmt.Sprint("b", rnd.IntN(100))
		if rnd.IntN(3) == 0 {
			a, b = "{t}"+a, "{t}"+b
		}
		for _, words := range severalKeys(a, b) {
			crossSlot := "-" + msgCrossSlot
			if strict.Do(words...).String() != crossSlot {
				let[words[0]] = true
				if o.Do(words...).String() == crossSlot {
					t.Errorf("%v is let through, and refused by a larger cluster", words)
				}
			} else if o.Do(words...).String() == crossSlot {
				refused[words[0]] = true
			}
		}
	}
	// Nothing is refused in vain: each has met a placement that refuses it.
	for _, words := range severalKeys("a", "b") {
		cmd, _ := lone.table.Lookup([][]byte{[]byte(words[0]), []byte("a"), []byte("b"), []byte("c"), []byte("d")})
		if cmd != nil && cmd.Merge == command.MergeNone && !refused[words[0]] {
			t.Errorf("no placement has refused %s", words[0])
		}
		if !let[words[0]] {
			t.Errorf("%s is refused with a common tag, too", words[0])
		}
	}
}

// Under strict-slots it makes no difference that one node, here or elsewhere, happens to
// serve both keys.
func TestStrictSlotsWhereOneNodeServesBothKeys(t *testing.T) {
	r, keys := halves(t)
	var other string // in the half of keys[0]
	for i := 0; other == "" || r.token([]byte(other))>>31 != 0 || other == keys[0]; i++ {
		other = fmt.Sprint("o", i)
	}
	for i, srv := range r.servers {
		o := resptest.Dial(t, r.addrs[i], 2)
		// Behind another request, it is judged on its way into the window.
		for _, strict := range []bool{false, true} {
			srv.settings.StrictSlots.Store(strict)
			o.Send("GET", keys[0])
			o.Send("MSETNX", keys[0], "1", other, "1")
			o.Next()
			if got := o.Next().String(); (got == "-"+msgCrossSlot) != strict {
				t.Errorf("node %d, strict %v: %s", i, strict, got)
			}
		}
		if got := srv.stats.Apart.Load(); got != 1 {
			t.Errorf("node %d: %d counted", i, got)
		}
	}
}
