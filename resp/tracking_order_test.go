package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A keeper is a client that keeps what it reads until it is told of a change.
type keeper struct {
	*cacher
	noLoop, optIn bool
	kept          map[string]string
}

// send sends commands in one write, and takes the replies and what is pushed in their order. Of each reply, keys has
// the key whose value it tells, "-" and the key that the command has only written, or "".
func (k *keeper) send(cmds [][]string, keys []string) {
	k.T.Helper()
	k.C.SetDeadline(time.Now().Add(resptest.Patience))
	if _, err := k.C.Write(resptest.EncodeCommands(cmds)); err != nil {
		k.T.Fatal(err)
	}
	for i := 0; i < len(cmds); {
		v, err := k.Read()
		switch {
		case err != nil:
			k.T.Fatalf("%q: %v", cmds, err)
		case v.Kind == '>':
			k.drop(v)
			continue
		case v.Kind == '*' && len(v.Elems) > 0 && keys[i] != "": // of EXEC, whose last command is a read
			v = v.Elems[len(v.Elems)-1]
		}
		if v.Kind == '-' {
			k.T.Errorf("%q: %s", cmds[i], v)
		}
		if of, writes := strings.CutPrefix(keys[i], "-"); writes && k.noLoop {
			delete(k.kept, of) // nobody tells it
		} else if !writes && of != "" {
			k.kept[of] = v.Text
		}
		i++
	}
}

func (k *keeper) drop(push resptest.Value) {
	if len(push.Elems) != 2 || push.Elems[1].Elems == nil {
		clear(k.kept)
		return
	}
	for _, e := range push.Elems[1].Elems {
		delete(k.kept, e.Text)
	}
}

// TestNoTrackingClientKeepsAnOldValue has a client read and write in pipelines, transactions and scripts, here and at
// another node, while another client writes.
func TestNoTrackingClientKeepsAnOldValue(t *testing.T) {
	seed := randomtest.Seed(t)
	for i, options := range [][]string{nil, {"NOLOOP"}, {"BCAST"}, {"BCAST", "NOLOOP"}, {"OPTIN"}, {"OPTOUT"}} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, uint64(i)))
			r, keys := halvesOf(t, routedApart(t, 2))
			others := []*resptest.Conn{resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)}
			text := strings.Join(options, " ")
			k := &keeper{newCacher(t, r.addrs[0], options...), strings.Contains(text, "NOLOOP"), text == "OPTIN", map[string]string{}}
			for _, key := range keys {
				others[0].Want("+OK", "SET", key, "o")
			}
			n := 0
			for range randomtest.Length(150, 30) {
				key := keys[rnd.IntN(2)]
				cmds, of := k.draw(rnd, key, &n)
				k.send(cmds, of)
				if rnd.IntN(2) == 0 {
					n++
					others[rnd.IntN(2)].Want("+OK", "SET", key, fmt.Sprint("o", n))
				}
				k.send([][]string{{"PING"}}, []string{""})
				for _, key := range keys {
					now := others[0].Do("GET", key).Text
					for k.kept[key] != "" && k.kept[key] != now { // what is pushed may come behind the reply
						v, err := k.Read()
						if err != nil {
							t.Fatalf("after %q: %s is kept as %q, and is %q: %v", cmds, key, k.kept[key], now, err)
						}
						k.drop(v)
					}
				}
			}
		})
	}
}

// draw returns commands on a key, and of which key each reply tells the value.
func (k *keeper) draw(rnd *rand.Rand, key string, n *int) (cmds [][]string, of []string) {
	add := func(of_ string, words ...string) {
		cmds, of = append(cmds, words), append(of, of_)
	}
	set := func() []string {
		*n++
		return []string{"SET", key, fmt.Sprint("c", *n)}
	}
	for range 1 + rnd.IntN(3) {
		switch rnd.IntN(5) {
		case 0:
			add("-"+key, set()...)
		case 1:
			k.caching(add)
			add(key, "GET", key)
		case 2:
			k.caching(add)
			add("", "MULTI")
			add("", set()...)
			add("", "GET", key)
			add(key, "EXEC")
		case 3:
			k.caching(add)
			*n++
			add(key, "EVAL", "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])", "1", key, fmt.Sprint("s", *n))
		case 4:
			k.caching(add)
			add("", "MULTI")
			add("", "EVAL", "return redis.call('GET', KEYS[1])", "1", key)
			add(key, "EXEC")
		}
	}
	return cmds, of
}

// caching says that the next command's reply is kept, where that has to be said.
func (k *keeper) caching(add func(of string, words ...string)) {
	if k.optIn {
		add("", "CLIENT", "CACHING", "YES")
	}
}

// TestTrackingBeginsWithinATransaction begins to track, or to keep what is read, between queued commands.
func TestTrackingBeginsWithinATransaction(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	o := resptest.Dial(t, r.addrs[1], 2)
	for _, key := range keys {
		for _, begins := range [][]string{{"CLIENT", "TRACKING", "ON"}, {"CLIENT", "CACHING", "YES"}} {
			c := &cacher{Conn: resptest.Dial(t, r.addrs[0], 3)}
			if begins[1] == "CACHING" {
				c.ask("CLIENT", "TRACKING", "ON", "OPTIN")
			}
			c.ask("MULTI")
			c.ask(begins...)
			c.ask("GET", key)
			if v := c.ask("EXEC"); len(v.Elems) != 2 || v.Elems[0].String() != "+OK" {
				t.Fatal(v)
			}
			o.Do("SET", key, "1")
			if got := c.told(); got != invalid(key) {
				t.Errorf("%s: %s", begins, got)
			}
		}
	}
}

// TestXreadIsTracked reads a stream without waiting, at each node.
func TestXreadIsTracked(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	o := resptest.Dial(t, r.addrs[1], 2)
	c := newCacher(t, r.addrs[0])
	for _, key := range keys {
		c.ask("XREAD", "STREAMS", key, "0")
		o.Do("XADD", key, "*", "f", "v")
		if got := c.told(); got != invalid(key) {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// TestReadersOfCopiesHearInBroadcast has a client read, by READONLY, keys of another node.
func TestReadersOfCopiesHearInBroadcast(t *testing.T) {
	r := routedApart(t, 2)
	r.placeAll(quarters(t, []string{"n0", "n1"}, []string{"n0", "n1"}, []string{"n1", "n0"}, []string{"n1", "n0"}))
	key := r.keyIn(2)
	o := resptest.Dial(t, r.addrs[1], 2)
	c := &cacher{Conn: resptest.Dial(t, r.addrs[0], 3)}
	c.ask("RING", "ROUTE", "redirect")
	c.ask("CLIENT", "TRACKING", "ON", "BCAST")
	c.ask("READONLY")
	o.Do("SET", key, "1")
	if got := c.told(); got != invalid(key) {
		t.Error(got)
	}
	c.ask("READWRITE")
	o.Do("SET", key, "2")
	c.silent("of another node's key")
}

// TestBroadcastNamesKeysOfACommandTogether writes several keys of another node by one command.
func TestBroadcastNamesKeysOfACommandTogether(t *testing.T) {
	r := routedApart(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	c := newCacher(t, r.addrs[0], "BCAST")
	c.ask("MSET", "a", "1", "b", "2", "c", "3")
	if got := c.told(); got != invalid("a", "b", "c") {
		t.Error(got)
	}
}

// TestOwnWritesAreToldAfterTheirReply writes keys of another node that the client keeps.
func TestOwnWritesAreToldAfterTheirReply(t *testing.T) {
	r := routedApart(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	c := newCacher(t, r.addrs[0])
	for _, write := range [][]string{{"SET", "k", "1"}, {"EVAL", "return redis.call('SET', KEYS[1], 1)", "1", "k"}, {"MSET", "k", "1", "other", "2"}} {
		c.ask("GET", "k")
		c.ask(write...)
		if len(c.pushes) > 0 {
			t.Errorf("%s: %s before the reply", write, c.pushes)
		}
		if got := c.told(); got != invalid("k") {
			t.Errorf("%s: %s", write, got)
		}
	}
}
