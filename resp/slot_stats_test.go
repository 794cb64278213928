package resp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// What is expected is written from the documentation of Redis 8.2 and the source of Valkey 8.0; no server of these
// versions is at hand.
func TestSlotStatsCountKeys(t *testing.T) {
	r := routedOver(t, 2, true, func(c *Config, sc *store.Config) { c.Slots, sc.Hash, sc.Token = true, "slot", ring.SlotToken })
	r.placeAll(quarters(t, []string{"n0"}, []string{"n1", "n0"}, []string{"n0", "n1"}, []string{"n1"}))
	o := resptest.Dial(t, r.addrs[0], 2)
	counts, known := make([]int, ring.Slots), make(map[string]bool)
	for i := range 2000 {
		key := fmt.Sprint("{tag", i%300, "}", i*i%1000)
		if o.Do("SET", key, "v").Text != "OK" {
			t.Fatal(key)
		}
		if !known[key] {
			known[key] = true
			counts[ring.Slot([]byte(key))]++
		}
	}
	own := func(slot int) bool { return slot>>12 == 0 || slot>>12 == 2 }
	show := func(slots []int) string {
		if len(slots) == 0 {
			return "*"
		}
		var all []string
		for _, slot := range slots {
			all = append(all, fmt.Sprintf("*(:%d *($key-count :%d))", slot, counts[slot]))
		}
		return "*(" + strings.Join(all, " ") + ")"
	}
	var mine []int
	for slot := range ring.Slots {
		if own(slot) {
			mine = append(mine, slot)
		}
	}
	within := func(first, last int) []int {
		return slices.DeleteFunc(slices.Clone(mine), func(slot int) bool { return slot < first || slot > last })
	}
	for _, span := range [][2]int{{0, 0}, {0, 16383}, {4000, 4200}, {4096, 8191}, {8191, 8192}, {12287, 12288}, {16383, 16383}} {
		o.Want(show(within(span[0], span[1])), "CLUSTER", "SLOT-STATS", "SLOTSRANGE", fmt.Sprint(span[0]), fmt.Sprint(span[1]))
	}
	most := slices.Clone(mine)
	slices.SortStableFunc(most, func(a, b int) int { return counts[b] - counts[a] })
	least := slices.Clone(mine)
	slices.SortStableFunc(least, func(a, b int) int { return counts[a] - counts[b] })
	o.Want(show(most), "CLUSTER", "SLOT-STATS", "ORDERBY", "KEY-COUNT")
	o.Want(show(most[:7]), "CLUSTER", "SLOT-STATS", "orderby", "key-count", "desc", "limit", "7")
	o.Want(show(least[:7]), "CLUSTER", "SLOT-STATS", "ORDERBY", "KEY-COUNT", "LIMIT", "7", "ASC")
	three := resptest.Dial(t, r.addrs[0], 3)
	three.Want(fmt.Sprintf("*(*(:%d %%($key-count :%d)))", most[0], counts[most[0]]), "CLUSTER", "SLOT-STATS", "ORDERBY", "KEY-COUNT", "LIMIT", "1")
	for command, want := range map[string]string{
		"CLUSTER SLOT-STATS SLOTSRANGE 1":                        "-ERR unknown subcommand or wrong number of arguments for 'SLOT-STATS'. Try CLUSTER HELP.",
		"CLUSTER SLOT-STATS ORDERBY":                             "-ERR wrong number of arguments for 'cluster|slot-stats' command",
		"CLUSTER SLOT-STATS SLOTSRANGE x 1":                      "-ERR Invalid or out of range slot",
		"CLUSTER SLOT-STATS SLOTSRANGE -1 1":                     "-ERR Invalid or out of range slot",
		"CLUSTER SLOT-STATS SLOTSRANGE 0 16384":                  "-ERR Invalid or out of range slot",
		"CLUSTER SLOT-STATS SLOTSRANGE 2 1":                      "-ERR Start slot number 2 is greater than end slot number 1",
		"CLUSTER SLOT-STATS ORDERBY cpu-usec":                    "-ERR Unrecognized sort metric for ORDERBY.",
		"CLUSTER SLOT-STATS ORDERBY KEY-COUNT LIMIT 0":           "-ERR Limit has to lie in between 1 and 16384 (maximum number of slots).",
		"CLUSTER SLOT-STATS ORDERBY KEY-COUNT LIMIT 16385":       "-ERR Limit has to lie in between 1 and 16384 (maximum number of slots).",
		"CLUSTER SLOT-STATS ORDERBY KEY-COUNT LIMIT":             "-ERR syntax error",
		"CLUSTER SLOT-STATS ORDERBY KEY-COUNT ASC DESC":          "-ERR Multiple filters of the same type are disallowed.",
		"CLUSTER SLOT-STATS ORDERBY KEY-COUNT LIMIT 1 LIMIT 2":   "-ERR Multiple filters of the same type are disallowed.",
		"CLUSTER SLOT-STATS ORDERBY KEY-COUNT LIMIT 1 ASC extra": "-ERR syntax error",
	} {
		o.Want(want, strings.Fields(command)...)
	}
	_, addr := serveTest(t, nil)
	resptest.Dial(t, addr, 2).Want("-ERR This instance has cluster support disabled", "CLUSTER", "SLOT-STATS", "SLOTSRANGE", "0", "1")
}
