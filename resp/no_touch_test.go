package resp

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// untouching are commands that leave the counters of the keys s, h and l alone, if the client is not to touch them.
const untouching = `
GET s
MGET s h
STRLEN s
GETRANGE s 0 -1
HGET h f
HGETALL h
LRANGE l 0 -1
HGET large f7
TYPE s
DUMP s
SCAN 0
RANDOMKEY
EXISTS s
HSET h f w
APPEND s x
GETSET s y
EVAL return~redis.call('GET',KEYS[1]) 1 s
`

// TestNoTouchKeepsTheCountersOfKeys counts uses exactly: with a logarithmic factor of 0 each use counts.
func TestNoTouchKeepsTheCountersOfKeys(t *testing.T) {
	r := routedOver(t, 2, true, nil)
	r.placeAll(r.spread(rand.New(rand.NewPCG(randomtest.Seed(t), 1))))
	for _, addr := range r.addrs {
		o := resptest.Dial(t, addr, 2)
		o.Want("+OK", "CONFIG", "SET", "maxmemory-policy", "allkeys-lfu", "lfu-log-factor", "0", "lfu-decay-time", "0")
	}
	o, other := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
	keys := []string{"s", "h", "l", "large"}
	o.Do("SET", "s", "value")
	o.Do("HSET", "h", "f", "v")
	o.Do("RPUSH", "l", "a", "b")
	for i := range 100 {
		o.Do("HSET", "large", "f"+string(rune('0'+i%10))+strings.Repeat("x", i), strings.Repeat("v", 100), "f7", "v")
	}
	frequencies := func() (all string) {
		for _, key := range keys {
			all += other.Do("OBJECT", "FREQ", key).String()
		}
		return all
	}
	for _, inTransaction := range []bool{false, true} {
		o.Want("+OK", "CLIENT", "NO-TOUCH", "ON")
		before := frequencies()
		for line := range strings.Lines(untouching) {
			args := strings.Fields(line)
			if len(args) == 0 || inTransaction && (args[0] == "MGET" || args[0] == "SCAN" || args[0] == "RANDOMKEY") {
				continue
			}
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "~", " ")
			}
			if inTransaction {
				o.Want("+OK", "MULTI")
				o.Want("+QUEUED", args...)
				args = []string{"EXEC"}
			}
			if v := o.Do(args...); v.Kind == '-' {
				t.Fatalf("%s: %s", line, v)
			}
			if now := frequencies(); now != before {
				t.Fatalf("%s in a transaction: %v, changed the counters from %s to %s", strings.TrimSpace(line), inTransaction, before, now)
			}
		}
		for _, key := range keys {
			o.Want(":1", "TOUCH", key)
			if now := frequencies(); now == before {
				t.Errorf("TOUCH %s touches nothing", key)
			} else {
				before = now
			}
		}
		o.Want("+OK", "CLIENT", "NO-TOUCH", "off")
		for _, key := range keys {
			o.Do("TYPE", key)
			o.Do("OBJECT", "ENCODING", key)
			if now := frequencies(); now != before {
				t.Errorf("OBJECT ENCODING %s touches it", key)
			}
		}
		o.Do("GET", "s")
		if frequencies() == before {
			t.Error("GET touches nothing after CLIENT NO-TOUCH OFF")
		}
	}
}

func TestNoTouchIsAFlagOfTheClient(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	flags := func() string {
		for field := range strings.FieldsSeq(o.Do("CLIENT", "INFO").Text) {
			if value, ok := strings.CutPrefix(field, "flags="); ok {
				return value
			}
		}
		return ""
	}
	for _, step := range []struct{ command, reply, flags string }{
		{"CLIENT NO-TOUCH ON", "+OK", "T"},
		{"CLIENT NO-EVICT on", "+OK", "eT"},
		{"CLIENT NO-TOUCH x", "-ERR syntax error", "eT"},
		{"CLIENT NO-TOUCH", "-ERR wrong number of arguments for 'client|no-touch' command", "eT"},
		{"CLIENT no-touch OFF", "+OK", "e"},
		{"CLIENT no-touch on", "+OK", "eT"},
		{"RESET", "+RESET", "N"},
	} {
		o.Want(step.reply, strings.Fields(step.command)...)
		if got := flags(); got != step.flags {
			t.Errorf("flags are %s after %s, not %s", got, step.command, step.flags)
		}
	}
}
