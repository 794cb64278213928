package node

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/status"
)

// RING STATUS shows the databases that have data or a policy, with the data of all nodes, also after a swap.
func TestStatusShowsDatabases(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		databases := func() []status.Database {
			t.Helper()
			var r status.Report
			if err := json.Unmarshal([]byte(c.ask("c", "RING", "STATUS", "JSON")), &r); err != nil {
				t.Fatal(err)
			}
			return r.Databases
		}
		if all := databases(); all != nil {
			t.Errorf("at the beginning: %+v", all)
		}
		c.order("a", "RING", "DATABASE", "2", "TOGETHER")
		c.order("b", "RING", "DATABASE", "5", "QUOTA", "10mb", "POLICY", "allkeys-lru")
		conn, end := c.selected("a", 2)
		defer end()
		large, few := make([]byte, 1000), 30
		for i := range few {
			if err := conn.Set(t.Context(), string(rune('a'+i)), large, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		shown := func(at int) {
			t.Helper()
			want := []status.Database{{Number: 2}, {Number: 5, Quota: 10 << 20, Policy: "allkeys-lru"}}
			all := databases()
			if len(all) != len(want)+at/7 {
				t.Fatalf("%+v", all)
			}
			i := slices.IndexFunc(all, func(d status.Database) bool { return d.Number == at })
			if i < 0 || all[i].Bytes < int64(few*len(large)) || all[i].Bytes > int64(2*few*len(large)) || !all[i].Together || all[i].Primary == "" {
				t.Fatalf("the keys are in %d: %+v", at, all)
			}
			if j := slices.IndexFunc(all, func(d status.Database) bool { return d.Number == 5 }); all[j] != want[1] {
				t.Errorf("%+v", all[j])
			}
		}
		shown(2)
		c.order("b", "RING", "DATABASE", "2", "QUOTA", "20mb")
		c.order("b", "SWAPDB", "2", "7")
		shown(7)
		c.close()
	})
}
