package resp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

func TestBlockingStreamCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		newCrew(d).run(`
p XADD s 1-1 a b
p XGROUP CREATE s g $
p XADD t 1-1 a b
p XREAD BLOCK 10 STREAMS s $
p XREAD BLOCK 10 STREAMS s 0
p XREAD BLOCK 10 STREAMS s t $ 0
p XREAD BLOCK x STREAMS s 0
p XREAD BLOCK -1 STREAMS s 0
p XREADGROUP GROUP g c BLOCK 10 STREAMS s >
p XREADGROUP GROUP nope c BLOCK 0 STREAMS s >
p XREADGROUP GROUP g c BLOCK 0 STREAMS s 0
a~ XREAD BLOCK 0 STREAMS s t $ $
b~ XREAD BLOCK 0 COUNT 1 STREAMS t s 5 1-1
c~ XREADGROUP GROUP g c1 COUNT 1 BLOCK 0 STREAMS s >
e~ XREADGROUP GROUP g c2 BLOCK 0 STREAMS s >
p XADD t 2-1 x y
a
p XADD s 2-1 a b
b
c
p XADD s 2-2 a b
e
p XPENDING s g
a~ XREADGROUP GROUP g c1 NOACK BLOCK 0 STREAMS s >
p XADD s 3-1 a b
a
p XPENDING s g
# A stream that is gone, or another one.
b~ XREAD BLOCK 0 STREAMS s $
p DEL s
p XADD s 1-1 a b
p XADD s 9-1 a b
b
p XGROUP CREATE s g $
p FLUSHALL
a~ XREAD BLOCK 0 STREAMS s $
p LPUSH s x
p DEL s
p XADD s 1-1 a b
a
p DEL s
a~ XREAD BLOCK 0 STREAMS s $
b~ BLPOP s 0
p MULTI
p DEL s
p LPUSH s x y
p EXEC
b
p DEL s
p XADD s 7-7 a b
a
p MULTI
p XREAD BLOCK 0 STREAMS s $
p BLPOP nope 0
p BLMOVE nope s LEFT LEFT 0
p BRPOPLPUSH nope s 0
p BLMPOP 0 1 nope LEFT
p EXEC
# A transaction serves at its end.
p DEL l
a~ BLPOP l 0
p MULTI
p RPUSH l 1 2
p LPOP l
p RPUSH l 3
p EXEC
a
p LRANGE l 0 -1
p DEL l
a~ BLPOP l 0
p MULTI
p RPUSH l 1
p DEL l
p EXEC
p RPUSH l 2
a
`)
	})
}

// What "$" was when the command began to wait holds where it waits on.
func TestForwardedStreamReadMissesNothing(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	push := resptest.Dial(t, r.addrs[1], 3)
	for i := range r.servers {
		push.Want("$"+itoa(i+1)+"-1", "XADD", "s", itoa(i+1)+"-1", "a", "b")
		o := resptest.Dial(t, r.addrs[i], 2)
		o.Send("XREAD", "BLOCK", "0", "STREAMS", "s", "$")
		r.waits(1, 1)
		for _, to := range []int{0, 1} {
			r.placeAll(r.all(to))
			r.waits(to, 1)
		}
		// An entry that comes while it is on its way.
		w := r.servers[1].blocked.next([]byte("s"), nil)
		if want := fmt.Sprintf("%d-1 ", i+1); string(w.Memo) != want {
			t.Errorf("it waits behind %q, not %q", w.Memo, want)
		}
		push.Want("$"+itoa(i+1)+"-7", "XADD", "s", itoa(i+1)+"-7", "a", "b")
		if got, want := o.Next().String(), fmt.Sprintf("*(*($s *(*($%d-7 *($a $b)))))", i+1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A reply that is too large to be made within somebody else's unit is read afterwards.
func TestWaitingReaderGetsLargeEntry(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, push := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Send("XREAD", "BLOCK", "0", "STREAMS", "s", "$")
	awaitBlocked(t, push, 1)
	push.Want("$1-1", "XADD", "s", "1-1", "f", strings.Repeat("x", 2*command.LargeReply))
	if got := o.Next().String(); len(got) < 2*command.LargeReply || !strings.HasPrefix(got, "*(*($s *(*($1-1 *($f $x") {
		t.Errorf("it got %.100s", got)
	}
}

// severalKeysScript has commands that wait for several keys, of which one unit writes more than one. Redis 7.2 and later run
// the command anew then. The replies are those of 7.4.1.
const severalKeysScript = `
a~ BLPOP high low 0
p MULTI => +OK
p RPUSH low x => +QUEUED
p RPUSH high y => +QUEUED
p EXEC => *(:1 :1)
a => *($high $y)
p LRANGE low 0 -1 => *($x)
p DEL low high => :1
a~ BRPOP high low 0
b~ BLPOP low 0
p MULTI => +OK
p RPUSH low x => +QUEUED
p RPUSH high y => +QUEUED
p EXEC => *(:1 :1)
a => *($high $y)
b => *($low $x)
a~ BLMPOP 0 3 a b c LEFT COUNT 9
p MULTI => +OK
p RPUSH c 1 2 => +QUEUED
p RPUSH b 3 4 => +QUEUED
p EXEC => *(:2 :2)
a => *($b *($3 $4))
p LRANGE c 0 -1 => *($1 $2)
p FLUSHALL => +OK
a~ BZPOPMIN high low 0
p MULTI => +OK
p ZADD low 1 x => +QUEUED
p ZADD high 2 y => +QUEUED
p EXEC => *(:1 :1)
a => *($high $y $2)
p FLUSHALL => +OK
a~ BZPOPMAX high low 0
p MULTI => +OK
p ZADD low 1 x => +QUEUED
p ZADD high 2 y => +QUEUED
p EXEC => *(:1 :1)
a => *($high $y $2)
p FLUSHALL => +OK
a~ BZMPOP 0 2 high low MIN COUNT 4
p MULTI => +OK
p ZADD low 1 a 2 b => +QUEUED
p ZADD high 1 c 2 d => +QUEUED
p EXEC => *(:2 :2)
a => *($high *(*($c $1) *($d $2)))
p FLUSHALL => +OK
a~ BLPOP x l 0
p MULTI => +OK
p RPUSH x 1 => +QUEUED
p DEL x => +QUEUED
p RPUSH l 1 => +QUEUED
p EXEC => *(:1 :1 :1)
a => *($l $1)
a~ BLMOVE l m LEFT RIGHT 0
b~ BLPOP n m 0
p MULTI => +OK
p RPUSH l 1 => +QUEUED
p RPUSH n 2 => +QUEUED
p EXEC => *(:1 :1)
a => $1
b => *($n $2)
p LRANGE m 0 -1 => *($1)
a~ XREAD BLOCK 0 STREAMS s t u $ $ $
p MULTI => +OK
p XADD u 1-1 a b => +QUEUED
p XADD s 1-1 a b => +QUEUED
p XADD s 1-2 a b => +QUEUED
p EXEC => *($1-1 $1-1 $1-2)
a => *(*($s *(*($1-1 *($a $b)) *($1-2 *($a $b)))) *($u *(*($1-1 *($a $b)))))
a~ XREAD BLOCK 0 COUNT 1 STREAMS u s t $ $ $
p MULTI => +OK
p XADD s 2-1 a b => +QUEUED
p XADD t 2-1 a b => +QUEUED
p XADD t 2-2 a b => +QUEUED
p EXEC => *($2-1 $2-1 $2-2)
a => *(*($s *(*($2-1 *($a $b)))) *($t *(*($2-1 *($a $b)))))
a~ XREAD BLOCK 0 STREAMS s s 9-0 5-0
p XADD s 6-0 a b => $6-0
a => *(*($s *(*($6-0 *($a $b)))))
a~ XREAD BLOCK 0 STREAMS s s 7-0 8-0
p XADD s 8-1 a b => $8-1
a => *(*($s *(*($8-1 *($a $b)))) *($s *(*($8-1 *($a $b)))))
a~ XREAD BLOCK 0 STREAMS new +
p MULTI => +OK
p XADD new 1-1 a b => +QUEUED
p XADD new 1-2 a b => +QUEUED
p EXEC => *($1-1 $1-2)
a => *(*($new *(*($1-2 *($a $b)))))
p DEL new => :1
a~ XREAD BLOCK 0 STREAMS new s + $
p MULTI => +OK
p XADD s 9-1 a b => +QUEUED
p XADD new 1-1 a b => +QUEUED
p XADD new 1-2 a b => +QUEUED
p EXEC => *($9-1 $1-1 $1-2)
a => *(*($new *(*($1-2 *($a $b)))) *($s *(*($9-1 *($a $b)))))
p XDEL new 1-1 1-2 => :2
a~ XREAD BLOCK 0 STREAMS new +
p DEL new => :1
p XADD new 1-1 a b => $1-1
a => *(*($new *(*($1-1 *($a $b)))))
p DEL new => :1
a~ XREAD BLOCK 0 STREAMS new +
p XADD new 5-1 a b => $5-1
a => *(*($new *(*($5-1 *($a $b)))))
p FLUSHALL => +OK
p XGROUP CREATE s g $ MKSTREAM => +OK
p XGROUP CREATE t g $ MKSTREAM => +OK
p XGROUP CREATE u g $ MKSTREAM => +OK
a~ XREADGROUP GROUP g c BLOCK 0 STREAMS s t u > > >
b~ XREADGROUP GROUP g d BLOCK 0 STREAMS t s > >
p MULTI => +OK
p XADD t 1-1 a b => +QUEUED
p XADD s 1-1 a b => +QUEUED
p XADD t 1-2 a b => +QUEUED
p EXEC => *($1-1 $1-1 $1-2)
a => *(*($s *(*($1-1 *($a $b)))) *($t *(*($1-1 *($a $b)) *($1-2 *($a $b)))))
p XADD s 1-2 a b => $1-2
b => *(*($s *(*($1-2 *($a $b)))))
p XPENDING s g => *(:2 $1-1 $1-2 *(*($c $1) *($d $1)))
p XPENDING t g => *(:2 $1-1 $1-2 *(*($c $2)))
a~ XREADGROUP GROUP g c COUNT 1 BLOCK 0 NOACK STREAMS s t u > > >
b~ XREADGROUP GROUP g d BLOCK 0 STREAMS t s > >
p MULTI => +OK
p XADD t 2-1 a b => +QUEUED
p XADD t 2-2 a b => +QUEUED
p XADD s 2-1 a b => +QUEUED
p XADD s 2-2 a b => +QUEUED
p EXEC => *($2-1 $2-2 $2-1 $2-2)
a => *(*($s *(*($2-1 *($a $b)))) *($t *(*($2-1 *($a $b)))))
b => *(*($t *(*($2-2 *($a $b)))) *($s *(*($2-2 *($a $b)))))
a~ XREADGROUP GROUP g c BLOCK 0 STREAMS s s > >
p XADD s 3-1 a b => $3-1
a => *(*($s *(*($3-1 *($a $b)))))
a~ XREADGROUP GROUP g c BLOCK 0 STREAMS s t > >
p MULTI => +OK
p XADD s 4-1 a b => +QUEUED
p DEL t => +QUEUED
p EXEC => *($4-1 :1)
a => -NOGROUP No such key 't' or consumer group 'g' in XREADGROUP with GROUP option
p XPENDING s g => *(:4 $1-1 $3-1 *(*($c $2) *($d $2)))
p XGROUP CREATE t g $ MKSTREAM => +OK
a~ XREADGROUP GROUP g c BLOCK 0 STREAMS s t > >
p MULTI => +OK
p XADD s 5-1 a b => +QUEUED
p DEL t => +QUEUED
p SET t x => +QUEUED
p EXEC => *($5-1 :1 +OK)
a => *(*($s *(*($4-1 *($a $b)))))
p XPENDING s g => *(:5 $1-1 $4-1 *(*($c $3) *($d $2)))
p DEL t => :1
p XGROUP CREATE t g $ MKSTREAM => +OK
a~ XREADGROUP GROUP g c BLOCK 0 STREAMS s t > >
p MULTI => +OK
p XADD s 6-1 a b => +QUEUED
p XGROUP DESTROY t g => +QUEUED
p EXEC => *($6-1 :1)
a => *(*($s *(*($5-1 *($a $b)))))
`

func TestWaitForSeveralKeysTakesThemInOrderOfArguments(t *testing.T) {
	playInBubble(t, severalKeysScript)
}

// A client that waits through another node is served in the order of its arguments, too.
func TestForwardedWaitForSeveralKeysTakesThemInOrderOfArguments(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	o, owner := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
	for _, step := range []struct{ wait, script, want string }{
		{"BLPOP high low 0", "redis.call('RPUSH', KEYS[1], 'x') redis.call('RPUSH', KEYS[2], 'y')", "*($high $y)"},
		{"XREAD BLOCK 0 STREAMS s t $ $", "redis.call('XADD', 't', '1-1', 'a', 'b') redis.call('XADD', 's', '1-1', 'a', 'b')",
			"*(*($s *(*($1-1 *($a $b)))) *($t *(*($1-1 *($a $b)))))"},
	} {
		o.Send(strings.Fields(step.wait)...)
		r.waits(1, 1)
		owner.Do("EVAL", step.script, "4", "low", "high", "s", "t")
		if got := o.Next().String(); got != step.want {
			t.Errorf("%s: got %s, want %s", step.wait, got, step.want)
		}
	}
}
