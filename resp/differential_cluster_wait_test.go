package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// Those who wait, while ranges change hands: whoever waits for a key does so with the same
// command, since at the next node they may come in another order. So what differs is who is
// served, not with what.

// waitCommands are, of each key, what clients wait with.
var waitCommands = map[string][]string{
	"q0": {"BLPOP", "q0", "0"},
	"q1": {"BRPOP", "q1", "0"},
	"q2": {"BLMOVE", "q2", "q0", "LEFT", "RIGHT", "0"},
	"q3": {"BLMPOP", "0", "1", "q3", "LEFT", "COUNT", "2"},
	"q4": {"BRPOPLPUSH", "q4", "q5", "0"},
	"z0": {"BZPOPMIN", "z0", "0"},
	"z1": {"BZMPOP", "0", "1", "z1", "MAX", "COUNT", "2"},
	"x0": {"XREAD", "BLOCK", "0", "STREAMS", "x0", "$"},
	"x1": {"XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "x1", ">"},
}

var waitNames = []string{"q0", "q1", "q2", "q3", "q4", "q5", "z0", "z1", "x0"}

// A sitter is a client that waits now and then.
type sitter struct {
	o       *resptest.Conn
	node    int
	id      string
	key     string // that it waits for; "" if it does not
	replies chan resptest.Value
}

// A lobby has as many sitters at each side: a real Redis and the cluster.
type lobby struct{ sides [2][]*sitter }

const sitters = 9

func (w *world) sit() *lobby {
	if w.lobby != nil {
		return w.lobby
	}
	w.lobby = &lobby{}
	for i := range 2 * sitters {
		side, addr := i%2, w.clusterDiffer.redis
		if side == 1 {
			addr = w.clusterDiffer.nodes[i/2%3]
		}
		s := &sitter{o: resptest.Dial(w.t, addr, w.proto), node: i / 2 % 3, replies: make(chan resptest.Value, 1)}
		s.id = s.o.Do("CLIENT", "ID").Text
		_ = s.o.C.SetDeadline(time.Time{})
		go func() {
			for {
				v, err := s.o.Read()
				if err != nil {
					return
				}
				s.replies <- v
			}
		}()
		w.lobby.sides[side] = append(w.lobby.sides[side], s)
	}
	return w.lobby
}

func (l *lobby) leave() {
	for _, side := range l.sides {
		for _, s := range side {
			_ = s.o.C.Close()
		}
	}
}

// outstanding are those of a side who wait for a key, or for any if that is "".
func (l *lobby) outstanding(side int, key string) (waiting []*sitter) {
	for _, s := range l.sides[side] {
		if s.key != "" && (key == "" || s.key == key) {
			waiting = append(waiting, s)
		}
	}
	return waiting
}

// collect takes the replies that have come to those of a side.
func (l *lobby) collect(side int, got []string) []string {
	for _, s := range l.outstanding(side, "") {
		select {
		case v := <-s.replies:
			got = append(got, s.key+" "+v.String())
			s.key = ""
		default:
		}
	}
	return got
}

// settle waits until the Redis has served whom it serves, and the cluster as many, and compares
// what they have got. Whoever is left waits where its key is then, not for the key to have
// changed hands: who waits for what a stream gets from now on would else miss what comes before.
func (w *world) settle() string {
	l := w.sit()
	var want, got []string
	for end := time.Now().Add(resptest.Patience); ; time.Sleep(100 * time.Microsecond) {
		want = l.collect(0, want)
		if len(l.outstanding(0, "")) == w.redis.InfoField("blocked_clients", "INFO", "clients") {
			break
		}
		if time.Now().After(end) {
			return "Redis has served somebody who was not answered"
		}
	}
	left := len(l.outstanding(0, ""))
	for end := time.Now().Add(resptest.Patience); ; time.Sleep(time.Millisecond) {
		got = l.collect(1, got)
		blocked, waiters := 0, 0
		for _, o := range w.nodes {
			blocked += o.InfoField("blocked_clients", "INFO", "clients")
			waiters += o.InfoField("waiters", "RING", "INFO")
		}
		if len(l.outstanding(1, "")) == left && blocked == left && waiters == left {
			break
		}
		if time.Now().After(end) {
			return fmt.Sprintf("%d wait in the cluster, it says %d, at keys %d, and %d at Redis; served were %q and %q",
				len(l.outstanding(1, "")), blocked, waiters, left, got, want)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Sprintf("served were %q, and by Redis %q", got, want)
	}
	return ""
}

// settled is a step after which it is looked who was served.
func settled(s step) step {
	return step{text: s.text, run: func(w *world) string {
		if differs := s.run(w); differs != "" {
			return differs
		}
		return w.settle()
	}}
}

// waitStep has a client wait for a key, if there is one that does not wait.
func waitStep(node int, tag, name string) step {
	cmd := slices.Clone(waitCommands[name])
	for i, word := range cmd[1:] {
		if word == name || len(word) == 2 && word[0] == 'q' {
			cmd[i+1] = "{" + tag + "}" + word
		}
	}
	return settled(step{text: fmt.Sprintf("n%d waits: %s", node, quote(cmd)), run: func(w *world) string {
		l := w.sit()
		for side := range l.sides {
			var chosen *sitter
			for _, s := range l.sides[side] {
				if s.key == "" && (chosen == nil || s.node == node) {
					chosen = s
				}
			}
			if chosen == nil {
				return ""
			}
			chosen.key = "{" + tag + "}" + name
			resptest.Write(chosen.o.C, cmd...)
		}
		return ""
	}})
}

// unblockStep ends the wait of one who waits for a key.
func unblockStep(tag, name, how string) step {
	return settled(step{text: "unblock " + tag + name + how, run: func(w *world) string {
		l := w.sit()
		for side := range l.sides {
			waiting := l.outstanding(side, "{"+tag+"}"+name)
			if len(waiting) == 0 {
				return ""
			}
			admin := w.redis
			if side == 1 {
				admin = w.nodes[waiting[0].node]
			}
			if v := admin.Do("CLIENT", "UNBLOCK", waiting[0].id, how); v.Text != "1" {
				return fmt.Sprintf("CLIENT UNBLOCK replies %v to one that waits (at Redis: %v)", v, side == 0)
			}
		}
		return ""
	}})
}

func waits(rnd *rand.Rand, tags []string) (first []step, next func() step) {
	for i, tag := range tags {
		first = append(first, commandStep(i, []string{"XGROUP", "CREATE", "{" + tag + "}x1", "g", "0", "MKSTREAM"}))
	}
	n := 0
	elements := func() (list []string) {
		n++
		for i := range 1 + rnd.IntN(3) {
			list = append(list, fmt.Sprintf("%d.%d", n, i))
		}
		return list
	}
	return first, func() step {
		tag, node := tags[rnd.IntN(len(tags))], rnd.IntN(3)
		names := []string{"q0", "q1", "q2", "q3", "q4", "z0", "z1", "x0", "x1"}
		key := func(from ...string) string { return "{" + tag + "}" + from[rnd.IntN(len(from))] }
		list := key("q0", "q0", "q1", "q2", "q2", "q3", "q4")
		does := func(cmds ...[]string) step { return settled(commandStep(node, cmds...)) }
		push := append([]string{[]string{"LPUSH", "RPUSH"}[rnd.IntN(2)], list}, elements()...)
		switch rnd.IntN(20) {
		case 0, 1, 2, 3, 4, 5, 6, 7:
			return waitStep(node, tag, names[rnd.IntN(len(names))])
		case 8, 9, 10:
			return does(push)
		case 11:
			return does([]string{"MULTI"}, push, []string{"LLEN", list}, []string{"EXEC"})
		case 12:
			return does([]string{"EVAL", "redis.call('rpush', ARGV[1], ARGV[2]) return redis.call('rpush', KEYS[1], ARGV[2])", "1",
				key("q0", "q1"), list, elements()[0]})
		case 13, 14:
			add := []string{"ZADD", key("z0", "z1")}
			for _, e := range elements() {
				add = append(add, strconv.Itoa(rnd.IntN(5)), e)
			}
			return does(add)
		case 15, 16:
			n++
			return does([]string{"XADD", key("x0", "x1"), fmt.Sprint(n, "-1"), "f", fmt.Sprint(n)})
		case 17:
			return does([]string{"LPOP", list}, []string{"LLEN", list})
		case 18:
			return unblockStep(tag, names[rnd.IntN(len(names))], []string{"TIMEOUT", "ERROR"}[rnd.IntN(2)])
		}
		return does([]string{"DEL", list, key("z0", "z1")}, []string{"RENAME", key("q5"), list})
	}
}
