package resp

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// databaseNames are keys that several databases have. The last one begins as a stored key of database 2
// does, and the one before it like one of a database that cannot be.
var databaseNames = []string{"a", "b", "l", "\xf5\xdbRSn\xf5\xff\x02a", "\xf5\xdbRSn\xf5\x00\x02a"}

// testDatabases is how many databases the steps use.
const testDatabases = 4

// databases is commands of which each may be in another database, by clients that change it.
func databases(rnd *rand.Rand, tags []string) (first []step, next func() step) {
	key := func() string {
		return databaseNames[rnd.IntN(len(databaseNames))] + "{" + tags[rnd.IntN(len(tags))] + "}"
	}
	number := func() string { return strconv.Itoa(rnd.IntN(testDatabases)) }
	keyed := func() []string {
		k := key()
		switch rnd.IntN(12) {
		case 0, 1, 2:
			return []string{"SET", k, strconv.Itoa(rnd.IntN(100))}
		case 3:
			return []string{"GET", k}
		case 4:
			return []string{"RPUSH", k, "x", "y"}
		case 5:
			return []string{"COPY", k, k, "DB", number()}
		case 6:
			return []string{"COPY", k, k, "REPLACE", "DB", strconv.Itoa(rnd.IntN(20) - 2)}
		case 7, 8:
			return []string{"MOVE", k, strconv.Itoa(rnd.IntN(testDatabases+1) - rnd.IntN(20)/19)}
		case 9:
			return []string{"LMPOP", "1", k, "LEFT"}
		case 10:
			return []string{"EVAL", "local n=redis.call('INCR',KEYS[1]..'') redis.call('SELECT',ARGV[1]) redis.call('SET',KEYS[1],n) return {KEYS[1],redis.call('MOVE',KEYS[1],ARGV[2])}", "1", k, number(), number()}
		}
		return []string{"DEL", k, key()}
	}
	return nil, func() step {
		node := rnd.IntN(3)
		switch rnd.IntN(30) {
		case 0, 1, 2, 3:
			return selectStep(rnd.IntN(testDatabases))
		case 4:
			return commandStep(node, []string{"FLUSHDB"})
		case 5:
			return sizeStep(node)
		case 6:
			return commandStep(node, []string{"KEYS", "*"})
		case 7:
			return commandStep(node, []string{"SELECT", []string{"16", "-1", "x", "99999999999"}[rnd.IntN(4)]})
		case 8, 9, 10:
			// One pipeline, with SELECT between other commands, ends where all clients are again.
			n := rnd.IntN(testDatabases)
			return commandsThenSelect(node, n, keyed(), []string{"SELECT", number()}, keyed(), keyed(), []string{"SELECT", number()}, []string{"DBSIZE"}, keyed())
		case 11, 12, 13:
			end := []string{"EXEC", "DISCARD", "EXEC"}[rnd.IntN(3)]
			n := rnd.IntN(testDatabases)
			tag := "{" + tags[rnd.IntN(len(tags))] + "}"
			a, b := "a"+tag, "b"+tag
			return commandsThenSelect(node, n, []string{"MULTI"}, []string{"SET", a, "1"}, []string{"SELECT", number()},
				[]string{"INCR", a}, []string{"MOVE", b, number()}, []string{"GET", b}, []string{"SELECT", number()}, []string{"GET", a}, []string{end}, []string{"GET", a})
		}
		return commandStep(node, keyed())
	}
}

// selectStep has all clients select a database.
func selectStep(n int) step {
	return step{text: fmt.Sprintf("all: SELECT %d", n), run: func(w *world) string {
		for _, c := range append([]*resptest.Conn{w.redis}, w.nodes...) {
			c.Want("+OK", "SELECT", strconv.Itoa(n))
		}
		return ""
	}}
}

func commandsThenSelect(node, n int, cmds ...[]string) step {
	s, after := commandStep(node, cmds...), selectStep(n)
	return step{text: s.text + "\n" + after.text, run: func(w *world) string {
		if differs := w.do(s); differs != "" {
			return differs
		}
		return w.do(after)
	}}
}

// readDatabases reads all that the databases hold.
func readDatabases(tags []string) (steps []step) {
	for n := range testDatabases {
		steps = append(steps, selectStep(n), commandStep(n%3, []string{"KEYS", "*"}))
		for _, tag := range tags {
			for i, name := range databaseNames {
				steps = append(steps, contentStep(i%3, name+"{"+tag+"}"))
			}
		}
		steps = append(steps, sizeStep(0))
	}
	return steps
}
