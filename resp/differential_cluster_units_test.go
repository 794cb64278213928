package resp

import (
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// Transactions and scripts of a cluster whose ranges change hands: commands of several families
// that are run as one.

// mixedNames are the keys of mixedMaker.
var mixedNames = slices.Concat(makerKeys, []string{"l1", "l2", "{l1}3", "h1", "h2", "{h1}3", "s1", "s2", "{s1}3", "z1", "z2", "{z1}3", "lex", "lex2", "out", "s", "nope", "text"})

// mixedMaker makes up commands of several families, for keys of one hash tag. Of those that are newer
// than Redis 7.0 it has SET only: of others Redis would not check the arity when they are queued.
func mixedMaker(rnd *rand.Rand) func(tag string) []string {
	m := commandMaker{rnd}
	makes := []func() []string{m.command, listMaker{m, 4}.next, tableMaker{m, 12}.command, zsetMaker{m, 12}.command}
	return func(tag string) []string {
		for {
			args := tagged(rnd, []string{tag}, mixedNames, makes[rnd.IntN(len(makes))]())
			if strings.EqualFold(args[0], "SET") || as70(args)[0] == args[0] {
				return args
			}
		}
	}
}

func transactions(rnd *rand.Rand, tags []string) (first []step, next func() step) {
	makes := mixedMaker(rnd)
	for _, tag := range tags {
		first = append(first, commandStep(rnd.IntN(3), []string{"SET", "{" + tag + "}text", "x"}))
	}
	return first, func() step {
		tag := tags[rnd.IntN(len(tags))]
		tx := &transaction{node: rnd.IntN(3), other: rnd.IntN(3), end: "EXEC"}
		if rnd.IntN(20) == 0 {
			tx.end = "DISCARD"
		}
		if rnd.IntN(2) == 0 {
			tx.watch = []string{"WATCH"}
			for range 1 + rnd.IntN(3) {
				tx.watch = append(tx.watch, "{"+tag+"}"+mixedNames[rnd.IntN(len(mixedNames))])
			}
			if rnd.IntN(2) == 0 {
				tx.between = makes(tag)
			}
		}
		for range rnd.IntN(6) {
			tx.cmds = append(tx.cmds, makes(tag))
		}
		if rnd.IntN(3) == 0 {
			return commandStep(rnd.IntN(3), makes(tag))
		}
		return step{text: tx.String(), run: tx.run}
	}
}

// A transaction is one of a client, and what another one does before it begins.
type transaction struct {
	node, other    int // whose clients they are
	watch, between []string
	cmds           [][]string
	end            string
}

func (tx *transaction) String() string {
	lines := []string{fmt.Sprintf("n%d: %s; then n%d: %s; then MULTI", tx.node, quote(tx.watch), tx.other, quote(tx.between))}
	for _, args := range tx.cmds {
		lines = append(lines, quote(args))
	}
	return strings.Join(append(lines, tx.end), "\n    ")
}

// by runs it, and returns the replies to between, MULTI, all commands and EXEC.
func (tx *transaction) by(o, other *resptest.Conn, between bool) (replies []resptest.Value) {
	if tx.watch != nil {
		replies = append(replies, o.Do(tx.watch...))
	}
	if tx.between != nil && between {
		replies = append(replies, other.Do(tx.between...))
	}
	return append(replies, o.DoAll(slices.Concat([][]string{{"MULTI"}}, tx.cmds, [][]string{{tx.end}}))...)
}

// run compares the transactions. One that is told by EXEC that a watched key has changed, which
// it is also if the key has changed hands, begins anew, as clients do.
func (tx *transaction) run(w *world) string {
	old := &transaction{watch: tx.watch, cmds: all70(tx.cmds), end: tx.end}
	if tx.between != nil {
		old.between = as70(tx.between)
	}
	want, got := old.by(w.redis, w.redis, true), tx.by(w.nodes[tx.node], w.nodes[tx.other], true)
	isNil := func(replies []resptest.Value) bool { return replies[len(replies)-1].Kind == '_' }
	for i := 0; tx.watch != nil && !isNil(want) && isNil(got) && i < 50; i++ {
		got = tx.by(w.nodes[tx.node], w.nodes[tx.other], false)
		if tx.between != nil {
			want = slices.Delete(slices.Clone(want), 1, 2)
			tx = &transaction{node: tx.node, other: tx.other, watch: tx.watch, cmds: tx.cmds, end: tx.end}
		}
	}
	var cmds [][]string
	if tx.watch != nil {
		cmds = append(cmds, tx.watch)
	}
	if tx.between != nil {
		cmds = append(cmds, tx.between)
	}
	cmds = slices.Concat(cmds, [][]string{{"MULTI"}}, tx.cmds)
	for i, args := range cmds {
		if differs := w.compare(args, got[i], want[i]); differs != "" {
			return differs
		}
	}
	last, lastGot := want[len(want)-1], got[len(got)-1]
	if last.Kind != '*' || lastGot.Kind != '*' || len(last.Elems) != len(lastGot.Elems) || len(last.Elems) != len(tx.cmds) {
		return w.compare([]string{tx.end}, lastGot, last)
	}
	for i, args := range tx.cmds {
		if differs := w.compare(args, lastGot.Elems[i], last.Elems[i]); differs != "" {
			return differs
		}
	}
	return ""
}

// manyCalls is a script that runs the commands that it is given, each behind the number of its
// words, and returns the replies.
const manyCalls = `local out, at = {}, 1
while at <= #ARGV do
	local n = tonumber(ARGV[at])
	out[#out+1] = redis.pcall(unpack(ARGV, at+1, at+n))
	at = at + n + 1
end
return out`

// withoutOrder are commands whose replies have none, so that they are not compared within a
// script's.
var withoutOrder = []string{"SMEMBERS", "SINTER", "SUNION", "SDIFF", "HKEYS", "HVALS", "HGETALL"}

func scriptSteps(rnd *rand.Rand, tags []string) (first []step, next func() step) {
	makes := mixedMaker(rnd)
	for _, tag := range tags {
		first = append(first, commandStep(rnd.IntN(3), []string{"SET", "{" + tag + "}text", "x"}))
	}
	first = append(first, commandStep(rnd.IntN(3), []string{"SCRIPT", "LOAD", manyCalls}))
	sha := sha1Hex(manyCalls)
	return first, func() step {
		tag := tags[rnd.IntN(len(tags))]
		args, keys := []string{}, []string{"{" + tag + "}" + mixedNames[rnd.IntN(len(mixedNames))]}
		for range 1 + rnd.IntN(4) {
			cmd := makes(tag)
			if slices.Contains(withoutOrder, strings.ToUpper(cmd[0])) || as70(cmd)[0] != cmd[0] {
				continue
			}
			for _, word := range cmd[1:] {
				// Some are left undeclared.
				if strings.HasPrefix(word, "{"+tag+"}") && !slices.Contains(keys, word) && rnd.IntN(10) > 0 {
					keys = append(keys, word)
				}
			}
			args = append(append(args, fmt.Sprint(len(cmd))), cmd...)
		}
		call := []string{"EVALSHA", sha}
		if rnd.IntN(3) == 0 {
			call = []string{"EVAL", manyCalls}
		}
		call = append(append(call, fmt.Sprint(len(keys))), keys...)
		return commandStep(rnd.IntN(3), append(call, args...))
	}
}

// sha1Hex is the name of a script.
func sha1Hex(body string) string {
	return fmt.Sprintf("%x", sha1.Sum([]byte(body)))
}
