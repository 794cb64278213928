package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// Values and replies of scripts and functions count for client-memory as they grow. One that does
// not fit is refused and leaves nothing behind; all that was charged is given back.
func TestScriptsCountForClientMemory(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	const keep = "redis.call('SET', KEYS[1], 'v') local t = {} for i = 1, 5000 do t[i] = string.rep('x', 1000) .. i end return #t"
	const reply = "redis.call('SET', KEYS[1], 'v') local s, t = string.rep('x', 1000), {} for i = 1, 5000 do t[i] = s end return t"
	const drop = "redis.call('SET', KEYS[1], 'v') local s for i = 1, 5000 do s = string.rep('x', 1000) .. i end return 5000"
	o.Want("$lib", "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('keep', function(KEYS) "+keep+" end)")
	o.Want(":5000", "FCALL", "keep", "1", "k")
	other := &conn{} // that takes what is not left to others
	for _, c := range []struct {
		fits bool
		args []string
	}{
		{false, []string{"EVAL", keep, "1", "k"}},
		{false, []string{"EVAL", reply, "1", "k"}},
		{false, []string{"EVAL", "return {pcall(function() " + keep + " end)}", "1", "k"}},
		{false, []string{"FCALL", "keep", "1", "k"}},
		{true, []string{"EVAL", drop, "1", "k"}},
		{true, []string{"EVAL", "redis.call('SET', KEYS[1], 'v') return 5000", "1", "k"}},
	} {
		for _, left := range []int64{128 << 20, 2 << 20} {
			for _, inside := range []bool{false, true} {
				o.Do("DEL", "k")
				before := srv.budget.InUse()
				taken := srv.settings.ClientMemory.Load() - before - left
				srv.budget.Take(&other.Account, taken)
				srv.budget.Occupy(&other.Account, 0) // nobody else may exceed the limit
				want, args := "", c.args
				if inside {
					o.Do("MULTI")
					o.Do(args...)
					args = []string{"EXEC"}
				}
				if left < 4<<20 && !c.fits {
					want = "-" + command.MsgNoMemory
					if inside {
						want = "-EXECABORT Transaction discarded because of: " + strings.TrimPrefix(command.MsgNoMemory, "ERR ")
					}
				}
				got := o.Do(args...).String()
				srv.budget.Release(&other.Account, taken)
				if want != "" && got != want || want == "" && strings.Contains(got, "-") {
					t.Errorf("%q with %d bytes left: %.200s, want %s", c.args, left, got, want)
				}
				exists := ":1"
				if want != "" {
					exists = ":0"
				}
				o.Want(exists, "EXISTS", "k")
				resptest.WaitFor(t, "what was charged is given back: "+c.args[0], func() bool { return srv.budget.InUse() <= before+keepInput })
			}
		}
	}
}
