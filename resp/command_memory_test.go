package resp

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store/rdb"
)

// Each command that builds something beside its reply answers, or says that there is no memory,
// where client-memory is small, and gives back what it was charged; with more memory it answers.
func TestCommandsBuildWithinClientMemory(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("one connection at a time")
	}
	const small = 1 << 20
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	member := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1000) + strconv.Itoa(i) }
	for half := range 2 {
		key := strconv.Itoa(half)
		set, zset, list, geo := []string{"SADD", "s" + key}, []string{"ZADD", "z" + key}, []string{"RPUSH", "l" + key}, []string{"GEOADD", "g" + key}
		for i := range 1500 {
			m := member(i + 1000*half)
			set = append(set, m)
			zset = append(zset, strconv.Itoa(i), m)
			list = append(list, m)
			geo = append(geo, "13", "38", m)
		}
		for _, words := range [][]string{set, zset, list, geo} {
			o.Want(":1500", words...)
		}
	}
	o.Want("+OK", "SET", "long", strings.Repeat("x", 4<<20))
	payload := rdb.AppendString(nil, []byte(strings.Repeat("x", 4<<20)))
	list := rdb.Seal(rdb.AppendElement(rdb.BeginList(nil, 1), []byte(strings.Repeat("x", 4<<20))), 0)
	const refused = "-" + command.MsgNoMemory
	either := ""
	for _, c := range []struct {
		want string // with little memory
		args []string
	}{
		{":2500", []string{"SUNIONSTORE", "out", "s0", "s1"}},
		{":500", []string{"SINTERSTORE", "out", "s0", "s1"}},
		{":1000", []string{"SDIFFSTORE", "out", "s0", "s1"}},
		{":2500", []string{"ZUNIONSTORE", "out", "2", "z0", "z1"}},
		{":500", []string{"ZINTERSTORE", "out", "2", "z0", "z1"}},
		{":1500", []string{"ZRANGESTORE", "out", "z0", "0", "-1"}},
		{refused, []string{"SUNION", "s0", "s1"}},
		{refused, []string{"ZUNION", "2", "z0", "z1"}},
		{refused, []string{"ZDIFF", "1", "z0"}},
		{either, []string{"SORT", "l0", "ALPHA", "STORE", "out"}},
		{either, []string{"SORT", "l0", "ALPHA"}},
		{refused, []string{"GEOSEARCHSTORE", "out", "g0", "FROMLONLAT", "13", "38", "BYRADIUS", "10", "km"}},
		{refused, []string{"GEORADIUS", "g0", "13", "38", "10", "km", "STORE", "out"}},
		{refused, []string{"GEOSEARCH", "g0", "FROMLONLAT", "13", "38", "BYRADIUS", "10", "km"}},
		{refused, []string{"RESTORE", "out", "0", string(payload), "REPLACE"}},
		{refused, []string{"RESTORE", "out", "0", string(list), "REPLACE"}},
		{refused, []string{"DUMP", "s0"}},
		{"+OK", []string{"RESTORE", "out", "0", string(rdb.AppendString(nil, []byte("x"))), "REPLACE"}},
		{":1", []string{"COPY", "long", "out", "REPLACE"}},
		{":4194304", []string{"BITOP", "NOT", "out", "long"}},
		{":1", []string{"COPY", "s0", "out", "REPLACE"}},
	} {
		for _, inside := range []bool{false, true} {
			for _, memory := range []int64{256 << 20, small} {
				args := c.args
				o.Do("DEL", "out")
				srv.settings.ClientMemory.Store(memory)
				srv.budget.mu.Lock()
				srv.budget.large = &conn{charged: 1 << 20} // no other connection may exceed the limit
				before := srv.budget.used
				srv.budget.mu.Unlock()
				if inside {
					o.Do("MULTI")
					o.Do(args...)
					args = []string{"EXEC"}
				}
				got := o.Do(args...).String()
				if inside {
					got = strings.TrimSuffix(strings.TrimPrefix(got, "*("), ")")
				}
				isRefused := strings.HasPrefix(got, refused) || strings.HasPrefix(got, "-"+sortMemoryText)
				switch {
				case memory > small && got[0] == '-':
					t.Errorf("%.60q: %.200s", c.args, got)
				case memory == small && c.want != either && got != c.want, memory == small && c.want == either && !isRefused && got[0] == '-':
					t.Errorf("%.60q with little memory: %.200s, want %s", c.args, got, c.want)
				}
				o.Do("PING")
				if n := srv.budget.inUse(); n > before+keepInput {
					t.Errorf("%.60q: %d bytes stay charged", c.args, n-before)
				}
				srv.settings.ClientMemory.Store(256 << 20)
			}
		}
	}
}
