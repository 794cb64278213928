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
