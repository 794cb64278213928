package node

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
)

// objects are the JSON values and filters that a cluster is to have.
type objects struct {
	c     *virtualCluster
	texts map[string]string   // JSON values by their keys
	items map[string][]string // items of filters by their keys
}

// change writes some of them, through a node.
func (o *objects) change(rnd *rand.Rand, via string, round int) {
	o.c.t.Helper()
	do := func(args ...any) {
		o.c.t.Helper()
		client := o.c.client(via)
		defer func() { _ = client.Close() }()
		for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			err := client.Do(o.c.t.Context(), args...).Err()
			if err == nil {
				return
			}
			if !strings.HasPrefix(err.Error(), "TRYAGAIN") && !strings.HasPrefix(err.Error(), "CLUSTERDOWN") || time.Now().After(end) {
				o.c.t.Errorf("%.60v: %v", args, err)
				return
			}
		}
	}
	for range 20 {
		n := rnd.IntN(30)
		key := fmt.Sprint("j", n)
		switch size := 1 << (n % 18); { // up to 128 KiB: long ones lie in pieces
		case o.texts[key] == "" || rnd.IntN(3) == 0:
			o.texts[key] = fmt.Sprintf(`{"pad":"%s","n":%d}`, strings.Repeat("x", size), round)
			do("JSON.SET", key, "$", o.texts[key])
		default:
			o.texts[key] = strings.Replace(o.texts[key], `"n":`, `"n":1`, 1)
			text := o.texts[key]
			do("JSON.SET", key, "$.n", strings.TrimSuffix(text[strings.LastIndex(text, ":")+1:], "}"))
		}
	}
	for range 10 {
		key := fmt.Sprint("f", rnd.IntN(12))
		if o.items[key] == nil {
			capacity := 10
			if rnd.IntN(2) == 0 {
				capacity = 100_000
			}
			do("BF.RESERVE", key, "0.001", capacity)
		}
		args := []any{"BF.MADD", key}
		for range 20 {
			item := fmt.Sprint("item", rnd.Uint64())
			o.items[key] = append(o.items[key], item)
			args = append(args, item)
		}
		do(args...)
	}
}

// check reads all of them through a node.
func (o *objects) check(via string) {
	o.c.t.Helper()
	client := o.c.client(via)
	defer func() { _ = client.Close() }()
	keys, mget := []string{}, []any{"JSON.MGET"}
	for key := range o.texts {
		keys, mget = append(keys, key), append(mget, key)
	}
	got, err := client.Do(o.c.t.Context(), append(mget, ".")...).Slice()
	if err != nil {
		o.c.t.Fatal(err)
	}
	for i, key := range keys {
		if got[i] != o.texts[key] {
			o.c.t.Errorf("%s is %.60v, not %.60s", key, got[i], o.texts[key])
		}
	}
	for key, items := range o.items {
		args := []any{"BF.MEXISTS", key}
		for _, item := range items {
			args = append(args, item)
		}
		got, err := client.Do(o.c.t.Context(), args...).Slice()
		if err != nil {
			o.c.t.Fatal(err)
		}
		for i := range got {
			if got[i] != int64(1) && got[i] != true {
				o.c.t.Errorf("%s has lost %s", key, items[i])
			}
		}
		if got, err := client.Do(o.c.t.Context(), "BF.EXISTS", key, "never").Bool(); err != nil || got && len(items) < 100 {
			o.c.t.Errorf("%s has what was not added: %v", key, err)
		}
	}
}

// JSON values and filters are where their ranges are: through joins, kills and leaves, on all copies.
func TestJSONAndFiltersSurviveMovesAndKills(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 31))
		o := &objects{c, map[string]string{}, map[string][]string{}}
		o.change(rnd, "a", 1)
		o.check("b")
		for _, args := range [][]any{{"JSON.MSET", "ja", "$", "1", "jb", "$", "1", "jc", "$", "1", "jd", "$", "1", "je", "$", "1"}} {
			if text, err := c.do("a", args...); err == nil || !strings.HasPrefix(err.Error(), "CROSSSLOT") {
				t.Errorf("%v: %s, %v", args, text, err)
			}
		}
		c.start("d", "a") // and takes some over
		o.change(rnd, "d", 2)
		c.copied(1)
		o.check("d")
		for round, victim := range []string{"b", "d"} {
			c.nodes[victim].Kill()
			c.nodes[victim].Node = nil
			o.change(rnd, "a", 3+round)
			o.check("c")
			c.start(victim, c.running()...)
			c.copied(1)
			o.check(victim)
		}
		c.alike()
		c.scrubbed("a")
		if checks := c.checks(); checks.Differed != 0 {
			t.Errorf("copies differed: %+v", checks)
		}
		_, exported, err := c.export("a")
		if err != nil || len(exported) != len(o.texts)+len(o.items) {
			t.Errorf("%d keys in a file, %v", len(exported), err)
		}
		for key, text := range o.texts {
			if exported[key] != text {
				t.Errorf("%s is %.60s in a file", key, exported[key])
			}
		}
		c.stop("c")
		o.change(rnd, "b", 9)
		o.check("a")
		c.start("c", "a")
		c.copied(1)
		o.check("c")
		c.close()
	})
}

// While a node does not know the types there are no values of them; once there are, such a node stays out.
func TestTypesNeedNodesThatKnowThem(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.TypesVersion - 1}
		speaks := map[string]bus.Versions{"b": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.env.OldForms = speaks[cfg.ID], true })
		c.three()
		for _, args := range [][]any{{"JSON.SET", "j", "$", "1"}, {"BF.ADD", "f", "x"}, {"JSON.MSET", "j", "$", "1"}} {
			text, err := c.do("a", args...)
			if err == nil || !strings.Contains(err.Error(), "not possible yet: the build of node b cannot have JSON values and filters: upgrade it first") {
				t.Errorf("%v: %s, %v", args, text, err)
			}
		}
		if _, err := c.do("c", "JSON.GET", "j"); err == nil || err.Error() != "redis: nil" {
			t.Errorf("what was refused is there: %v", err)
		}
		c.stop("b")
		delete(speaks, "b")
		c.start("b", "a")
		c.ready("b")
		if _, err := c.do("b", "JSON.SET", "j", "$", "1"); err != nil {
			t.Error(err)
		}
		if got := c.ask("c", "JSON.GET", "j"); got != "1" {
			t.Error(got)
		}
		speaks["d"] = old
		c.start("d", "a")
		time.Sleep(10 * time.Second)
		if c.nodes["d"].cluster.entry.entered.Load() || !strings.Contains(c.nodes["d"].log.String(), "of the bus protocol, the peer") {
			t.Errorf("the older node: %s", &c.nodes["d"].log)
		}
		c.stop("d")
		c.close()
	})
}
