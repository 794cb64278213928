package resp

import (
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A crew is several clients of a real Redis, and as many of Ringside, of which some wait.
type crew struct {
	d       *differ
	clients map[string]*[2]*resptest.Conn
	addrs   [2]string
	blocked int
}

func newCrew(d *differ) *crew {
	return &crew{
		d: d, clients: make(map[string]*[2]*resptest.Conn),
		addrs: [2]string{d.redis.C.RemoteAddr().String(), d.ours.C.RemoteAddr().String()},
	}
}

func (c *crew) client(name string) *[2]*resptest.Conn {
	if c.clients[name] == nil {
		c.clients[name] = &[2]*resptest.Conn{resptest.Dial(c.d.t, c.addrs[0], c.d.proto), resptest.Dial(c.d.t, c.addrs[1], c.d.proto)}
	}
	return c.clients[name]
}

// run runs a script: on each line a client and a command, which is answered at once; or with
// ~ behind the client's name, which waits; or without one, which reads the reply then.
// Who waits is counted whenever one more does: all others have been read by then.
func (c *crew) run(script string) {
	c.d.t.Helper()
	c.d.runBy(script, func(words ...string) resptest.Value {
		c.d.t.Helper()
		name, waits := strings.CutSuffix(words[0], "~")
		both := c.client(name)
		if len(words) > 1 {
			for _, o := range both {
				o.Send(words[1:]...)
			}
		}
		c.d.note(words)
		if waits {
			c.blocked++
			c.await()
			return resptest.Value{}
		}
		want, got := both[0].Next(), both[1].Next()
		if want.String() != got.String() {
			c.d.differs(words, got, want)
		}
		if len(words) == 1 {
			c.blocked--
		}
		return want
	})
}

// await waits until as many clients wait as should.
func (c *crew) await() {
	c.d.t.Helper()
	for _, o := range []*resptest.Conn{c.d.redis, c.d.ours} {
		awaitBlocked(c.d.t, o, c.blocked)
	}
}

func awaitBlocked(t testing.TB, o *resptest.Conn, n int) {
	t.Helper()
	for end := time.Now().Add(resptest.Patience); ; time.Sleep(time.Millisecond) {
		blocked := o.InfoField("blocked_clients", "INFO", "clients")
		if blocked == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d clients wait, want %d", blocked, n)
		}
	}
}

func itoa(n int) string { return string(command.AppendInt(nil, int64(n))) }

func TestBlockingListCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		newCrew(d).run(`
# Nobody has to wait.
p SET text x
p RPUSH l 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
p BLPOP l 0
p BRPOP l 0
p BLPOP nope l 0
p BLPOP l text 0
p BLPOP nope text l 0
p BLPOP l l 0
p BLMPOP 0 1 l LEFT
p BLMPOP 0 2 nope l RIGHT COUNT 2
p BLMOVE l m LEFT RIGHT 0
p BLMOVE l l LEFT RIGHT 0
p BRPOPLPUSH l m 0
p BRPOPLPUSH l text 0
p LRANGE l 0 -1
p LRANGE m 0 -1
# What is wrong.
p BLPOP
p BLPOP l
p BLPOP l x
p BLPOP l -1
p BLPOP l -0.001
p BLPOP l -inf
p BLPOP l nan
p BLPOP l 1e5000
p BLPOP l ""
p BLPOP l " 1"
p BLPOP text 0
p BLPOP text x
p BLMOVE l m UP LEFT x
p BLMOVE l m LEFT UP x
p BLMOVE text m LEFT LEFT x
p BLMOVE text m LEFT LEFT -1
p BLMOVE text m LEFT LEFT 0
p BLMOVE l m LEFT LEFT
p BLMPOP x 0 text UP
p BLMPOP x 1 text UP
p BLMPOP x 1 text LEFT
p BLMPOP -1 1 text LEFT
p BLMPOP 0 2 text LEFT
p BLMPOP 0 1 text LEFT COUNT 0
p BLMPOP 0 1 text LEFT COUNT x
p BLMPOP 0 1 text LEFT COUNT 1 COUNT 1
p BLMPOP 0 1 text LEFT BOGUS 1
p BLMPOP 0 1 text LEFT COUNT
p BLMPOP 0 1 text LEFT
p BRPOPLPUSH text m x
p BRPOPLPUSH text m 0
# Nothing comes.
p BLPOP nope 0.01
p BRPOP nope nope2 0.0001
p BLMPOP 0.01 1 nope LEFT
p BLMOVE nope m LEFT LEFT 0.01
p BLMOVE nope text LEFT LEFT 0.01
p BRPOPLPUSH nope m 0.01
p BLPOP nope 0x0.01
# In order.
p DEL l m
a~ BLPOP l 0
b~ BLPOP l 100
p RPUSH l 1
a
p LRANGE l 0 -1
p LPUSH l 2
b
p EXISTS l
# One command serves several.
a~ BLPOP l 0
b~ BRPOP l 0
c~ BLMPOP 0 1 l LEFT COUNT 3
e~ BLPOP l 0
p RPUSH l 1 2 3 4
a
b
c
p EXISTS l
p LPUSH l 1 2 3 4
e
p LRANGE l 0 -1
p DEL l
a~ BLMPOP 0 2 k l LEFT COUNT 3
b~ BLMPOP 0 2 l k RIGHT COUNT 3
p RPUSH l 1 2 3 4 5 6 7
a
b
p LRANGE l 0 -1
p DEL l
# Of several keys, that which gets something.
a~ BLPOP k l m 0
b~ BLPOP m k 0
p RPUSH m 1 2 3
a
b
p LRANGE m 0 -1
p DEL m
a~ BLPOP l l l 0
p RPUSH l 1 2
a
p DEL l
# From one list to the next.
a~ BLMOVE l m LEFT RIGHT 0
b~ BLMOVE m n LEFT RIGHT 0
c~ BRPOP n 0
p RPUSH l x y
a
b
c
p LRANGE l 0 -1
p EXISTS m n
p DEL l
a~ BLMOVE l l LEFT RIGHT 0
b~ BRPOPLPUSH l l 0
c~ BLPOP l 0
p RPUSH l x
a
b
c
p EXISTS l
a~ BLMOVE l text LEFT RIGHT 0
b~ BLPOP l 0
p RPUSH l x
a
b
a~ BLMOVE l m LEFT RIGHT 0
b~ BLMOVE l m LEFT RIGHT 0
c~ BLMOVE l m LEFT LEFT 0
p RPUSH l x y z u
a
b
c
p LRANGE l 0 -1
p LRANGE m 0 -1
p DEL l m
# Other types do not count, other commands do.
a~ BLPOP l 0
p SET l x
p DEL l
p SADD l x
p DEL l
p HSET l a b
p DEL l
p RPUSH m 1 2
p RENAME m l
a
p LRANGE l 0 -1
a~ BLPOP m 0
p COPY l m
a
p DEL l m
a~ BLPOP m 0
p RPUSH l 1
p LMOVE l m LEFT LEFT
a
a~ BLPOP m 0
p RPUSH l 1
p RPOPLPUSH l m
a
a~ BLPOP l 0
p LPUSHX l 1
p RPUSH l 1
a
# A key of text is in the way.
a~ BLPOP l 0
p SET l x
p RPUSH l 1
p DEL l
p RPUSH l 1
a
`)
	})
}

func TestPipelineServesWaitersAfterEachCommand(t *testing.T) {
	differential(t, func(d *differ) {
		c := newCrew(d)
		c.run("a~ BLPOP l 0\nb~ BLPOP l 0")
		d.pipeline([][]string{{"RPUSH", "l", "1"}, {"LPOP", "l"}, {"RPUSH", "l", "2", "3"}, {"LRANGE", "l", "0", "-1"}, {"LPOP", "l"}, {"LPOP", "l"}})
		c.run("a\nb")
		// What waits holds up what is behind it, and nothing else.
		x := c.client("x")
		for _, o := range x {
			o.Send("RPUSH", "seen", "1")
			o.Send("BLPOP", "l", "0")
			o.Send("RPUSH", "seen", "2")
			o.Send("BLPOP", "k", "l", "0.01")
			o.Send("LLEN", "seen")
		}
		c.blocked = 2
		c.run("x") // the first reply; it waits from then on
		c.run("p LLEN seen\np RPUSH l v")
		for range 4 {
			if want, got := x[0].Next().String(), x[1].Next().String(); want != got {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

// A command that brings a whole list serves those who wait for it in the order of their arrival, also if each moves its
// element to another list, and if a client before them only rotates the list.
func TestWholeListServesMoversInOrder(t *testing.T) {
	differential(t, func(d *differ) {
		for _, bring := range []string{"RENAME d a", "RENAMENX d a", "COPY d a", "SORT d BY nosort STORE a"} {
			c := newCrew(d)
			c.run(`w DEL a d
				w RPUSH d 1 2 3 4 5 6
				t~ BLMOVE a a LEFT RIGHT 0
				u~ BLMOVE a a LEFT RIGHT 0
				1~ BLMOVE a to1 LEFT RIGHT 0
				2~ BLMOVE a to2 LEFT RIGHT 0
				3~ BRPOPLPUSH a to3 0
				4~ BLMOVE a to4 LEFT RIGHT 0
				5~ BLMOVE a to5 LEFT RIGHT 0
				6~ BLMOVE a to6 LEFT RIGHT 0
				w ` + bring + `
				t
				u
				1
				2
				3
				4
				5
				6`)
		}
	})
}
