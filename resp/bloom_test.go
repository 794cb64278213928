package resp

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// bloomCommands are commands on Bloom filters, each with its reply: in RESP2 unless the name says RESP3. They are written
// from the documentation of the commands on redis.io; no server with RedisBloom is at hand.
var bloomCommands = map[string]string{
	"BF.RESERVE": `
BF.RESERVE f 0.01 100 => +OK
BF.RESERVE f 0.01 100 => -ERR item exists
TYPE f => +MBbloom--
OBJECT ENCODING f => $raw
BF.INFO f => *(+Capacity :100 +Size :240 +Number of filters :1 +Number of items inserted :0 +Expansion rate :2)
BF.INFO f CAPACITY => *(:100)
BF.INFO f items => *(:0)
BF.INFO f x => -ERR Invalid information value
BF.RESERVE g 0.01 100 NONSCALING => +OK
BF.INFO g => *(+Capacity :100 +Size :216 +Number of filters :1 +Number of items inserted :0 +Expansion rate _$)
BF.RESERVE h 0.001 1000 EXPANSION 4 => +OK
BF.INFO h EXPANSION => *(:4)
BF.RESERVE i 0.001 1000 EXPANSION 4 NONSCALING => -ERR Nonscaling filters cannot expand
BF.RESERVE i 0.001 1000 EXPANSION => -ERR no expansion
BF.RESERVE i 0.001 1000 EXPANSION x => -ERR bad expansion
BF.RESERVE i 0.001 1000 EXPANSION 40000 => -ERR expansion must be in the range [0, 32768]
BF.RESERVE i x 1000 => -ERR bad error rate
BF.RESERVE i 1 1000 => -ERR error rate must be in the range (0.000000, 1.000000)
BF.RESERVE i 0.1 x => -ERR bad capacity
BF.RESERVE i 0.1 0 => -ERR capacity must be in the range [1, 1073741824]
BF.RESERVE i 1e-300 1073741824 => -ERR Insufficient memory to create filter
BF.RESERVE i 0.1 => -ERR wrong number of arguments for 'bf.reserve' command
EXISTS i => :0
BF.RESERVE i 0.1 10 EXPANSION 0 => +OK
BF.INFO i EXPANSION => *(_$)
`,
	"items": `
BF.ADD f item1 => :1
BF.ADD f item1 => :0
BF.MADD f item1 item2 item2 => *(:0 :1 :0)
BF.EXISTS f item1 => :1
BF.EXISTS f none => :0
BF.MEXISTS f item1 none item2 => *(:1 :0 :1)
BF.EXISTS nokey x => :0
BF.MEXISTS nokey x y => *(:0 :0)
BF.CARD f => :2
BF.CARD nokey => :0
BF.INFO nokey => -ERR not found
BF.INSERT g NOCREATE ITEMS a => -ERR not found
BF.INSERT g CAPACITY 1000 ERROR 0.001 EXPANSION 3 ITEMS a b a => *(:1 :1 :0)
BF.INFO g CAPACITY => *(:1000)
BF.INSERT g ITEMS c => *(:1)
BF.INSERT g ITEMS => -ERR wrong number of arguments for 'bf.insert' command
BF.INSERT g CAPACITY x ITEMS a => -ERR bad capacity
BF.INSERT g WHAT ITEMS a => -ERR Unknown argument received
BF.RESERVE n 0.01 2 NONSCALING => +OK
BF.MADD n 1 2 3 4 => *(:1 :1 -ERR non scaling filter is full)
BF.ADD n 3 => -ERR non scaling filter is full
BF.ADD n 2 => :0
BF.CARD n => :2
MULTI => +OK
BF.ADD n 2 => +QUEUED
BF.CARD n => +QUEUED
EXEC => *(:0 :2)
EVAL return{redis.call('BF.EXISTS',KEYS[1],'1')} 1 n => *(:1)
`,
	"RESP3 items": `
BF.ADD f item1 => #t
BF.MADD f item1 item2 => *(#f #t)
BF.MEXISTS f item1 none => *(#t #f)
BF.INFO f => %(+Capacity :100 +Size :240 +Number of filters :1 +Number of items inserted :2 +Expansion rate :2)
BF.INFO f FILTERS => %(+Number of filters :1)
`,
	"types": `
SET s x => +OK
BF.ADD s x => -WRONGTYPE Operation against a key holding the wrong kind of value
BF.EXISTS s x => -WRONGTYPE Operation against a key holding the wrong kind of value
BF.RESERVE s 0.1 10 => -WRONGTYPE Operation against a key holding the wrong kind of value
JSON.SET j $ 1 => +OK
BF.ADD j x => -WRONGTYPE Operation against a key holding the wrong kind of value
BF.ADD f x => :1
GET f => -WRONGTYPE Operation against a key holding the wrong kind of value
JSON.GET f => -WRONGTYPE Operation against a key holding the wrong kind of value
SETBIT f 1 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
HLEN f => -WRONGTYPE Operation against a key holding the wrong kind of value
SCAN 0 TYPE mbbloom-- COUNT 100 => *($0 *($f))
EXPIRE f 100 => :1
BF.ADD f y => :1
TTL f => :100
SET f 1 => +OK
`,
}

func TestBloomCommandsAnswerAsDocumented(t *testing.T) {
	_, addr := serveTest(t, nil)
	for name, lines := range bloomCommands {
		t.Run(name, func(t *testing.T) {
			proto := 2
			if strings.HasPrefix(name, "RESP3") {
				proto = 3
			}
			o := resptest.Dial(t, addr, proto)
			o.Do("FLUSHALL")
			for line := range strings.Lines(lines) {
				command, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
				if !ok {
					continue
				}
				if got := o.Do(strings.Fields(command)...).String(); got != want {
					t.Errorf("%s\n got %s\nwant %s", command, got, want)
				}
			}
		})
	}
}

// A filter that has grown from a whole one to a chain in blocks finds all that was added, and says of little else that it
// was; so do its copies by DUMP, COPY and BF.SCANDUMP, and so it does after a restart.
func TestFiltersKeepTheirItemsAndGrow(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "BF.RESERVE", "{f}", "0.01", "100")
	const items = 5000
	for i := 0; i < items; i += 100 {
		args := []string{"BF.MADD", "{f}"}
		for n := range 100 {
			args = append(args, strconv.Itoa(i+n))
		}
		o.Do(args...)
	}
	card, err := strconv.Atoi(strings.TrimPrefix(o.Do("BF.CARD", "{f}").String(), ":"))
	if err != nil || card < items*98/100 || card > items {
		t.Errorf("%d items, %v", card, err)
	}
	o.Want("*(:6)", "BF.INFO", "{f}", "FILTERS")
	o.Want(":1", "COPY", "{f}", "{f}copied")
	o.Want("+OK", "RESTORE", "{f}restored", "0", o.Do("DUMP", "{f}").Text)
	for iter := "0"; ; {
		r := o.Do("BF.SCANDUMP", "{f}", iter)
		if iter = r.Elems[0].Text; iter == "0" {
			break
		}
		o.Want("+OK", "BF.LOADCHUNK", "{f}loaded", iter, r.Elems[1].Text)
	}
	info := o.Do("BF.INFO", "{f}").String()
	dump := o.Do("DUMP", "{f}").Text
	for _, key := range []string{"{f}", "{f}copied", "{f}restored", "{f}loaded"} {
		o.Want(info, "BF.INFO", key)
		if o.Do("DUMP", key).Text != dump {
			t.Errorf("the bytes of %s are others", key)
		}
		args, absent := []string{"BF.MEXISTS", key}, []string{"BF.MEXISTS", key}
		for i := range items {
			args, absent = append(args, strconv.Itoa(i)), append(absent, fmt.Sprint("absent", i))
		}
		if got := strings.Count(o.Do(args...).String(), ":1"); got != items {
			t.Errorf("%s has %d items of %d", key, got, items)
		}
		if got := strings.Count(o.Do(absent...).String(), ":1"); got > items*2/100 {
			t.Errorf("%s has %d items of %d that were not added", key, got, items)
		}
	}
	for _, bad := range [][2]string{{"1", ""}, {"1", "x"}, {"0", "x"}, {"99999999", "x"}, {"-5", "x"}, {"2", "xxxxxxx"}, {"x", "x"}} {
		if got := o.Do("BF.LOADCHUNK", "{f}loaded", bad[0], bad[1]).String(); got[0] != '-' {
			t.Errorf("%q: %s", bad, got)
		}
	}
	if got := o.Do("BF.LOADCHUNK", "new", "1", strings.Repeat("\xff", 20+53)).String(); got != "-ERR received bad data" {
		t.Error(got)
	}
}

// Random commands on filters answer as a set would: what was added is always there, and what was not hardly ever.
func TestRandomFilterCommandsAnswerAsASet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 42))
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	sets := map[string]map[string]bool{}
	absent, wrong := 0, 0
	key := func() string { return fmt.Sprint("{f}", rnd.IntN(4)) }
	items := func() (all []string) {
		for range 1 + rnd.IntN(1+rnd.IntN(40)) {
			all = append(all, fmt.Sprint(rnd.IntN(3000)))
		}
		return all
	}
	// look compares replies with a set; add: the items are added.
	look := func(k string, items []string, replies []resptest.Value, add bool) {
		t.Helper()
		if len(replies) != len(items) {
			t.Fatalf("%d replies for %d items", len(replies), len(items))
		}
		for i, item := range items {
			there := (replies[i].String() == ":1") != add // an item that is added is there if that is not new
			switch {
			case sets[k][item] && !there:
				t.Fatalf("%s has lost %s", k, item)
			case !sets[k][item]:
				absent++
				if there {
					wrong++
				}
			}
			if add {
				sets[k][item] = true
			}
		}
	}
	for range randomtest.Length(4000, 600) {
		k := key()
		switch n := rnd.IntN(14); {
		case n == 0 && sets[k] == nil:
			o.Want("+OK", "BF.RESERVE", k, "0.001", fmt.Sprint(1+rnd.IntN(1+rnd.IntN(20_000))), "EXPANSION", fmt.Sprint(2+rnd.IntN(3)))
			sets[k] = map[string]bool{}
		case n < 3 && sets[k] != nil:
			item := items()[:1]
			look(k, item, []resptest.Value{o.Do("BF.ADD", k, item[0])}, true)
		case n < 5 && sets[k] != nil:
			all := items()
			look(k, all, o.Do(append([]string{"BF.MADD", k}, all...)...).Elems, true)
		case n < 6:
			if sets[k] == nil {
				sets[k] = map[string]bool{}
			}
			all := items()
			look(k, all, o.Do(append([]string{"BF.INSERT", k, "ERROR", "0.001", "ITEMS"}, all...)...).Elems, true)
		case n < 8:
			all := items()
			look(k, all, o.Do(append([]string{"BF.MEXISTS", k}, all...)...).Elems, false)
		case n < 10:
			item := items()[:1]
			look(k, item, []resptest.Value{o.Do("BF.EXISTS", k, item[0])}, false)
		case n == 10:
			card, _ := strconv.Atoi(strings.TrimPrefix(o.Do("BF.CARD", k).String(), ":"))
			if n := len(sets[k]); card > n || card < n-n/50-3 {
				t.Fatalf("%s has %d items of %d", k, card, n)
			}
		case n == 11 && rnd.IntN(4) == 0:
			o.Do("DEL", k)
			delete(sets, k)
		case n == 12 && sets[k] != nil:
			other := key()
			o.Want("+OK", "RESTORE", other, "0", o.Do("DUMP", k).Text, "REPLACE")
			sets[other] = maps.Clone(sets[k])
		case n == 13 && sets[k] != nil:
			if other := key(); other != k {
				o.Want("+OK", "RENAME", k, other)
				sets[other] = sets[k]
				delete(sets, k)
			}
		}
	}
	if wrong > 5+absent/100 {
		t.Errorf("%d of %d absent items are said to be there", wrong, absent)
	}
}

// A command with many items holds each block of a filter once, however many items have bits in it.
func TestFilterCommandsWithManyItemsAreBounded(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	many := make([]string, 100_002)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	do := func(words ...string) resptest.Value {
		copy(many, words)
		return o.Do(many...)
	}
	if n := len(do("BF.MADD", "f").Elems); n != 100_000 {
		t.Errorf("%d replies", n)
	}
	before := allocated()
	if n := strings.Count(do("BF.MEXISTS", "f").String(), ":1"); n != 100_000 {
		t.Errorf("%d items are there", n)
	}
	if used := allocated() - before; used > 200<<20 { // a block for each bit would be more than 500 MB
		t.Errorf("BF.MEXISTS has taken %d MiB", used>>20)
	}
	// A chain of very many filters takes no items without bound.
	o.Want("+OK", "BF.RESERVE", "g", "0.1", "1", "EXPANSION", "1")
	if got := do("BF.MADD", "g").String(); !strings.HasSuffix(got, "-ERR problem inserting into filter)") {
		t.Errorf("%.100s", got)
	}
	o.Want("-ERR too many items at once for the number of filters", many...)
	many[0] = "BF.MEXISTS"
	o.Want("-ERR too many items at once for the number of filters", many...)
	for _, args := range [][3]string{{"NaN", "10", "bad error rate"}, {"0", "10", "error rate must be"}, {"1", "10", "error rate must be"}, {"inf", "10", "error rate must be"},
		{"-0.1", "10", "error rate must be"}, {"5e-324", "10", "Insufficient memory"}, {"0.1", "9223372036854775808", "bad capacity"},
		{"0.1", "9223372036854775807", "capacity must be"}, {"0.1", "-1", "capacity must be"}, {"0.0000001", "1073741824", "Insufficient memory"}} {
		if got := o.Do("BF.RESERVE", "none", args[0], args[1]).String(); !strings.HasPrefix(got, "-ERR "+args[2]) {
			t.Errorf("%v: %s", args, got)
		}
	}
	o.Want(":0", "EXISTS", "none")
}
