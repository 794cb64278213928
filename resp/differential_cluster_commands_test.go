package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// families are what a cluster is compared with Redis in.
var families = []family{
	commandFamily("strings", makerKeys, func(rnd *rand.Rand) func() []string { return commandMaker{rnd}.command }),
	commandFamily("keys", allKeyNames(), func(rnd *rand.Rand) func() []string {
		return func() []string { _, words := keyGenerator{rnd}.command(); return words }
	}),
	commandFamily("lists", []string{"l1", "l2", "{l1}3", "text"}, func(rnd *rand.Rand) func() []string {
		return listMaker{commandMaker{rnd}, 4 + 60*rnd.IntN(2)}.next
	}),
	commandFamily("hashes and sets", []string{"h1", "h2", "{h1}3", "s1", "s2", "{s1}3", "out", "text"}, func(rnd *rand.Rand) func() []string {
		return tableMaker{commandMaker{rnd}, []int{12, 150}[rnd.IntN(2)]}.command
	}),
	commandFamily("sorted sets", []string{"z1", "z2", "{z1}3", "out", "lex", "lex2", "s", "nope", "text"}, func(rnd *rand.Rand) func() []string {
		return zsetMaker{commandMaker{rnd}, []int{8, 300}[rnd.IntN(2)]}.command
	}),
	commandFamily("streams", []string{"s1", "s2", "nope", "text"}, func(rnd *rand.Rand) func() []string {
		return (&streamMaker{commandMaker: commandMaker{rnd}, most: 3 + 30*rnd.IntN(2)}).command
	}),
	commandFamily("geo", []string{"g", "h", "out", "text"}, func(rnd *rand.Rand) func() []string { return geoMaker{commandMaker{rnd}}.command }),
	commandFamily("HyperLogLog", []string{"h0", "h1", "h2", "h3"}, func(rnd *rand.Rand) func() []string {
		return sketchMaker{commandMaker{rnd}, []int{3, 400}[rnd.IntN(2)]}.command
	}),
	{name: "databases", begin: databases, last: readDatabases},
	{name: "transactions", begin: transactions, last: func(tags []string) []step { return readAll(tags, mixedNames) }},
	{name: "scripts", begin: scriptSteps, last: func(tags []string) []step { return readAll(tags, mixedNames) }},
	{name: "blocking", begin: waits, last: func(tags []string) []step { return readAll(tags, waitNames) }},
}

func allKeyNames() (names []string) {
	for i := range keyNames {
		names = append(names, keyName(i))
	}
	return names
}

// spread are the commands whose keys may lie anywhere.
var spread = []string{"MGET", "MSET", "DEL", "UNLINK", "EXISTS", "TOUCH"}

// tagged puts the keys of a command under one hash tag, or, where they may lie anywhere, each
// under any.
func tagged(rnd *rand.Rand, tags, names, args []string) []string {
	tag := tags[rnd.IntN(len(tags))]
	free := slices.Contains(spread, strings.ToUpper(args[0]))
	args = slices.Clone(args)
	for i := 1; i < len(args); i++ {
		if slices.Contains(names, args[i]) {
			if free {
				tag = tags[rnd.IntN(len(tags))]
			}
			args[i] = "{" + tag + "}" + args[i]
		}
	}
	// Some have one argument too few or too many.
	switch rnd.IntN(120) {
	case 0:
		args = args[:max(1, len(args)-1)]
	case 1:
		if more := append(args, "{"+tag+"}"+names[rnd.IntN(len(names))]); !isNewerThan70(more) {
			args = more
		}
	}
	return args
}

// commandFamily is commands that one client sends after the other, alone or in pipelines.
func commandFamily(name string, names []string, maker func(*rand.Rand) func() []string) family {
	begin := func(rnd *rand.Rand, tags []string) (first []step, next func() step) {
		for _, tag := range tags {
			if slices.Contains(names, "text") {
				first = append(first, commandStep(rnd.IntN(3), []string{"SET", "{" + tag + "}text", "x"}))
			}
		}
		makes := maker(rnd)
		return first, func() step {
			node := rnd.IntN(3)
			switch rnd.IntN(100) {
			case 0:
				return sizeStep(node)
			case 1:
				return commandStep(node, []string{"KEYS", "*"})
			case 2: // expires while nobody looks
				key := "{" + tags[rnd.IntN(len(tags))] + "}" + names[rnd.IntN(len(names))]
				if strings.HasSuffix(key, "}text") {
					return commandStep(node, []string{"TYPE", key})
				}
				return expiryStep(node, key)
			}
			n := 1
			if rnd.IntN(4) == 0 {
				n += rnd.IntN(12)
			}
			var cmds [][]string
			for range n {
				cmds = append(cmds, tagged(rnd, tags, names, makes()))
			}
			return commandStep(node, cmds...)
		}
	}
	return family{name: name, begin: begin, last: func(tags []string) []step { return readAll(tags, names) }}
}

// readAll reads all that may be at some keys.
func readAll(tags, names []string) (steps []step) {
	for _, tag := range tags {
		for i, name := range names {
			steps = append(steps, contentStep(i%3, "{"+tag+"}"+name))
		}
	}
	return append(steps, sizeStep(0))
}

// sizeStep counts the keys. Those that have expired are counted until they are removed, which
// takes a while.
func sizeStep(node int) step {
	return step{text: fmt.Sprintf("n%d: DBSIZE", node), run: func(w *world) (differs string) {
		for end := time.Now().Add(resptest.Patience); ; time.Sleep(5 * time.Millisecond) {
			if differs = commandStep(node, []string{"DBSIZE"}).run(w); differs == "" || time.Now().After(end) {
				return differs
			}
		}
	}}
}

func commandStep(node int, cmds ...[]string) step {
	var words []string
	for _, args := range cmds {
		words = append(words, quote(args))
	}
	return step{text: fmt.Sprintf("n%d: %s", node, strings.Join(words, "\n    ")), run: func(w *world) string {
		want, got := redisAll(w.redis, cmds), w.nodes[node].DoAll(cmds)
		for i, args := range cmds {
			if differs := w.compare(args, got[i], want[i]); differs != "" {
				return differs
			}
		}
		return ""
	}}
}

// expiryStep has a key expire while nobody looks.
func expiryStep(node int, key string) step {
	return step{text: fmt.Sprintf("n%d: %q expires", node, key), run: func(w *world) string {
		cmd := []string{"PEXPIRE", key, "5"}
		want, got := w.redis.Do(cmd...), w.nodes[node].Do(cmd...)
		time.Sleep(10 * time.Millisecond)
		if want.String() != got.String() {
			return differing(cmd, got, want)
		}
		return contentStep(node, key).run(w)
	}}
}

// contentStep reads what is at a key.
func contentStep(node int, key string) step {
	return step{text: fmt.Sprintf("n%d: read %q", node, key), run: func(w *world) string {
		if differs := commandStep(node, []string{"PTTL", key}, []string{"TYPE", key}).run(w); differs != "" {
			return differs
		}
		read := map[string][]string{
			"string": {"GET", key}, "list": {"LRANGE", key, "0", "-1"}, "hash": {"HGETALL", key}, "set": {"SMEMBERS", key},
			"zset": {"ZRANGE", key, "0", "-1", "WITHSCORES"}, "stream": {"XINFO", "STREAM", key, "FULL", "COUNT", "0"},
		}[w.redis.Do("TYPE", key).Text]
		if read == nil {
			return ""
		}
		return commandStep(node, read).run(w)
	}}
}

func differing(args []string, got, want resptest.Value) string {
	return fmt.Sprintf("%s:\n got %s\nwant %s", quote(args), shorten(got.String()), shorten(want.String()))
}

// compare returns how replies to a command differ in what does not depend on time, on an order
// that there is none of, or on how values are kept.
func (w *world) compare(args []string, got, want resptest.Value) string {
	withoutNewer(args, &got)
	inOneSpelling(args, &want)
	name := strings.ToUpper(args[0])
	same := false
	switch {
	case name == "TTL" || name == "PTTL" || name == "EXPIRETIME" || name == "PEXPIRETIME":
		same = w.about(got, want)
	case name == "OBJECT" && len(args) > 1 && strings.EqualFold(args[1], "idletime"):
		same = w.about(got, want)
	case name == "GET" && strings.HasPrefix(want.Text, "HYLL"):
		same = maskEstimate(got).String() == maskEstimate(want).String()
	case name == "DUMP": // each has its own form of a value
		same = got.Kind == want.Kind
	case name == "KEYS":
		same = unordered("SMEMBERS", got).String() == unordered("SMEMBERS", want).String()
	case len(name) > 1 && name[0] == 'X' && got.Kind == want.Kind && got.Kind != '-':
		same = timeless(args, got).String() == timeless(args, want).String()
	default:
		same = unordered(name, oneZero(got)).String() == unordered(name, oneZero(want)).String()
	}
	if same {
		return ""
	}
	return differing(args, got, want)
}

// oneZero is a reply without negative zeros: among scores there is none here.
func oneZero(v resptest.Value) resptest.Value {
	if (v.Kind == '$' || v.Kind == ',') && v.Text == "-0" {
		v.Text = "0"
	}
	v.Elems = slices.Clone(v.Elems)
	for i := range v.Elems {
		v.Elems[i] = oneZero(v.Elems[i])
	}
	return v
}

// about tells whether two replies are the same, or about the same number.
func (w *world) about(got, want resptest.Value) bool {
	a, errA := strconv.ParseInt(got.Text, 10, 64)
	b, errB := strconv.ParseInt(want.Text, 10, 64)
	return got.String() == want.String() || got.Kind == ':' && want.Kind == ':' && errA == nil && errB == nil &&
		(a < 0) == (b < 0) && max(a, b)-min(a, b) <= 1500+w.slowest.Milliseconds()
}
