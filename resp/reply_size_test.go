package resp

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// The size of a reply is estimated from the average of the elements. Where those of the reply are
// larger, it is refused as soon as it is too large, and nothing is removed.
func TestRepliesOfUncommonlyLargeElementsAreRefused(t *testing.T) {
	randomtest.DrawShort(t, 4)
	srv, addr := serveTest(t, nil)
	srv.settings.OutputBuffer.Store(4 << 20)
	o := resptest.Dial(t, addr, 2)
	const small, large = 20_000, 100
	list, zset := []string{"RPUSH", "l"}, []string{"ZADD", "z"}
	for i := range small {
		list = append(list, "x")
		zset = append(zset, strconv.Itoa(i), strconv.Itoa(i))
	}
	o.Do(list...)
	o.Do(zset...)
	big := strings.Repeat("x", 60_000)
	for i := range large {
		o.Do("RPUSH", "l", big)
		o.Do("ZADD", "z", strconv.Itoa(small+i), big+strconv.Itoa(i))
	}
	o.Do("HSET", "h", "f", big)
	fields := []string{"HGETEX", "h", "FIELDS", strconv.Itoa(large)}
	for range large {
		fields = append(fields, "f")
	}
	before := srv.budget.InUse()
	for _, inside := range []bool{false, true} {
		for _, args := range [][]string{
			{"LRANGE", "l", "-100", "-1"},
			{"RPOP", "l", "100"},
			{"LMPOP", "1", "l", "RIGHT", "COUNT", "100"},
			{"ZPOPMAX", "z", "100"},
			{"ZMPOP", "1", "z", "MAX", "COUNT", "100"},
			{"ZREVRANGE", "z", "0", "99"},
			fields,
		} {
			if inside {
				o.Do("MULTI")
				o.Do(args...)
				args = append([]string{"EXEC"}, args...)[:1]
			}
			if got := o.Do(args...).String(); !strings.Contains(got, "-ERR the reply") && !strings.Contains(got, "the reply would exceed the output buffer") {
				t.Errorf("%.60q (in MULTI: %v): %.200s", args, inside, got)
			}
		}
	}
	o.Want(":"+strconv.Itoa(small+large), "LLEN", "l")
	o.Want(":"+strconv.Itoa(small+large), "ZCARD", "z")
	resptest.WaitFor(t, "what was charged is given back", func() bool { return srv.budget.InUse() <= before+keepInput })
}
