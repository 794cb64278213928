package quota

import (
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/ring"
)

// words returns the words of a line.
func words(line string) (all [][]byte) {
	for _, word := range strings.Fields(line) {
		all = append(all, []byte(word))
	}
	return all
}

// with returns values after orders, each a number of a database and a line.
func with(t *testing.T, orders map[int]string) *agreed.Values {
	t.Helper()
	var values *agreed.Values
	for n, line := range orders {
		change, msg := ParseOrder(words(line), values, n)
		if msg != "" {
			t.Fatalf("%s: %s", line, msg)
		}
		var err error
		if values, err = values.With([]agreed.Change{change}, uint64(n)+1); err != nil {
			t.Fatal(err)
		}
	}
	return values
}

func TestOrdersOfQuotas(t *testing.T) {
	before := with(t, map[int]string{1: "quota 10gb policy allkeys-lfu"})
	for _, test := range []struct {
		line string
		want Limit
		msg  string
	}{
		{"QUOTA 5", Limit{5, "allkeys-lfu"}, ""},
		{"quota 1kb policy VOLATILE-TTL", Limit{1024, "volatile-ttl"}, ""},
		{"policy noeviction", Limit{10 << 30, "noeviction"}, ""},
		{"policy none", Limit{10 << 30, ""}, ""},
		{"quota none", Limit{0, "allkeys-lfu"}, ""},
		{"quota none policy none", Limit{}, ""},
		{"quota 0", Limit{}, "number of bytes"},
		{"quota -1", Limit{}, "number of bytes"},
		{"quota 9223372036854775808", Limit{}, "number of bytes"},
		{"quota 99999999999999999999gb", Limit{}, "number of bytes"},
		{"quota ten", Limit{}, "number of bytes"},
		{"policy lru", Limit{}, "NONE or one of volatile-lru"},
		{"quota", Limit{}, "takes TOGETHER or SPREAD"},
		{"quota 1 policy", Limit{}, "takes TOGETHER or SPREAD"},
		{"size 1", Limit{}, "takes TOGETHER or SPREAD"},
	} {
		change, msg := ParseOrder(words(test.line), before, 1)
		if test.msg != "" {
			if !strings.HasPrefix(msg, "ERR ") || !strings.Contains(msg, test.msg) {
				t.Errorf("%s: %q", test.line, msg)
			}
			continue
		}
		after, err := before.With([]agreed.Change{change}, 9)
		if err != nil || msg != "" || LimitIn(after, 1) != test.want || change.Remove != (test.want == Limit{}) {
			t.Errorf("%s: %+v, %q, %v", test.line, LimitIn(after, 1), msg, err)
		}
	}
}

func TestUnreadableLimitIsNone(t *testing.T) {
	for body, want := range map[string]Limit{
		"": {}, "{": {}, `{"bytes":-5}`: {}, `{"bytes":7,"policy":"allkeys-lrm"}`: {Bytes: 7}, `{"policy":"allkeys-lru"}`: {Policy: "allkeys-lru"},
	} {
		if l, _ := parseLimit(agreed.Value{Name: "quota/1", Body: body, Version: 3}); l != want {
			t.Errorf("%q: %+v, want %+v", body, l, want)
		}
	}
}

// TestDatabasesGoByTheirOwnPolicies has databases with policies of their own beside others that go by the node's.
func TestDatabasesGoByTheirOwnPolicies(t *testing.T) {
	spans := []ring.Range{{Start: 0, End: 1 << 30}} // a quarter
	for _, test := range []struct {
		node settings.Policy
		of   map[int]string
		want settings.Policy // of the whole
		// may says of databases, with and without an expiry, whether keys may be evicted
		may map[int][2]bool
	}{
		{settings.NoEviction, nil, settings.NoEviction, map[int][2]bool{0: {false, false}, 1: {false, false}}},
		{settings.AllKeysLRU, nil, settings.AllKeysLRU, map[int][2]bool{0: {true, true}}},
		{settings.NoEviction, map[int]string{1: "policy allkeys-lfu"}, settings.AllKeysLFU, map[int][2]bool{0: {false, false}, 1: {true, true}}},
		{settings.AllKeysLRU, map[int]string{1: "policy noeviction"}, settings.AllKeysLRU, map[int][2]bool{0: {true, true}, 1: {false, false}}},
		{settings.VolatileLRU, map[int]string{1: "policy allkeys-random", 2: "policy volatile-ttl"}, settings.AllKeysRandom, map[int][2]bool{0: {true, false}, 1: {true, true}, 2: {true, false}}},
		{settings.NoEviction, map[int]string{3: "quota 1000", 2: "policy volatile-ttl"}, settings.VolatileTTL, map[int][2]bool{3: {false, false}, 2: {true, false}}},
	} {
		var set settings.Quota
		for _, p := range set.Params() {
			if p.Name == "maxmemory-policy" {
				apply, _ := p.Parse(test.node.String())
				apply()
			}
		}
		q := New(Config{
			Store: filled(t, nil, nil), Spans: func() []ring.Range { return spans }, IsTogether: func(n int) bool { return n == 5 },
			Settings: &set, CountsUses: new(atomic.Bool), Log: slog.New(slog.DiscardHandler),
		})
		q.Agreed(with(t, test.of))
		if got := q.policy(&q.node); got != test.want {
			t.Errorf("%s, %v: all by %s, want %s", test.node, test.of, got, test.want)
		}
		for n, may := range test.may {
			if q.MayEvict(n, true) != may[0] || q.MayEvict(n, false) != may[1] {
				t.Errorf("%s, %v: database %d: %t, %t", test.node, test.of, n, q.MayEvict(n, true), q.MayEvict(n, false))
			}
		}
		q.Agreed(with(t, map[int]string{4: "quota 4000 policy noeviction", 5: "quota 4000", 6: "policy noeviction"}))
		for n, want := range map[int]int64{4: 1000, 5: 4000, 6: 0} {
			if got := q.limit(q.limits.Load().of(n)); got != want {
				t.Errorf("the share of database %d is %d bytes, want %d", n, got, want)
			}
		}
		if !q.Limits() || q.Refuses(4, 900) || !q.Refuses(4, 1001) || q.Refuses(-1, math.MaxInt64/2) || q.Refuses(6, math.MaxInt64/2) {
			t.Error("writes are not judged by the quota of their database")
		}
		if q.Agreed(nil); q.Limits() || q.Refuses(4, 1001) {
			t.Error("a quota that is gone is in force")
		}
	}
}

// FuzzParseOrder reads any words: what is accepted can be read back.
func FuzzParseOrder(f *testing.F) {
	f.Add("quota 10gb policy allkeys-lru")
	f.Add("policy none quota none")
	f.Fuzz(func(t *testing.T, line string) {
		change, msg := ParseOrder(words(line), nil, 3)
		if msg != "" || change.Remove {
			return
		}
		values, err := (*agreed.Values)(nil).With([]agreed.Change{change}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if l := LimitIn(values, 3); l == (Limit{}) || l.Bytes < 0 {
			t.Errorf("%q: %+v", line, l)
		}
	})
}
