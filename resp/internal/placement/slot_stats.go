package placement

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// SlotStats is CLUSTER SLOT-STATS of Redis 8.2 and Valkey 8.0 without cluster-slot-stats-enabled: it counts the
// keys of the slots of which this node is the primary.
func SlotStats(x *command.Call, v *View, keysIn func(ring.Range) (int64, error)) {
	switch {
	case len(x.Args) == 5 && wire.EqualFold(x.Args[2], "slotsrange"):
		slotsRange(x, v, keysIn)
	case wire.EqualFold(x.Args[2], "orderby"):
		slotsInOrder(x, v, keysIn)
	default:
		x.WrongSubcommand("CLUSTER")
	}
}

type slotCount struct {
	slot int
	keys int64
}

// countSlots counts the keys of the node's slots from first to last. It has replied, and returns false, if that
// fails.
func countSlots(x *command.Call, v *View, first, last int, keysIn func(ring.Range) (int64, error)) (counts []slotCount, ok bool) {
	for _, run := range v.RunsOf(v.Self) {
		for slot := max(run.First, first); slot <= min(run.Last, last); slot++ {
			start := ring.Token(slot) << SlotShift
			n, err := keysIn(ring.Range{Start: start, End: start + 1<<SlotShift})
			if err != nil {
				x.Fail(err)
				return nil, false
			}
			counts = append(counts, slotCount{slot, n})
		}
	}
	return counts, true
}

func replyCounts(x *command.Call, counts []slotCount) {
	x.Array(len(counts))
	for _, c := range counts {
		x.Array(2)
		x.Int(int64(c.slot))
		x.Map(1)
		x.BulkString("key-count")
		x.Int(c.keys)
	}
}

func slotsRange(x *command.Call, v *View, keysIn func(ring.Range) (int64, error)) {
	first, ok := wire.ParseInt(x.Args[3])
	last, okLast := wire.ParseInt(x.Args[4])
	switch {
	case !ok || !okLast || min(first, last) < 0 || max(first, last) >= ring.Slots:
		x.Error("ERR Invalid or out of range slot")
		return
	case first > last:
		x.Error(fmt.Sprintf("ERR Start slot number %d is greater than end slot number %d", first, last))
		return
	}
	if counts, ok := countSlots(x, v, int(first), int(last), keysIn); ok {
		slices.SortFunc(counts, func(a, b slotCount) int { return cmp.Compare(a.slot, b.slot) })
		replyCounts(x, counts)
	}
}

func slotsInOrder(x *command.Call, v *View, keysIn func(ring.Range) (int64, error)) {
	if !wire.EqualFold(x.Args[3], "key-count") {
		x.Error("ERR Unrecognized sort metric for ORDERBY.")
		return
	}
	limit, limits, orders, ascending := int64(ring.Slots), 0, 0, false
	for args := x.Args[4:]; len(args) > 0; args = args[1:] {
		switch {
		case wire.EqualFold(args[0], "limit") && len(args) > 1:
			n, ok := wire.ParseInt(args[1])
			if !ok || n < 1 || n > ring.Slots {
				x.Error("ERR Limit has to lie in between 1 and 16384 (maximum number of slots).")
				return
			}
			limit, args = n, args[1:]
			limits++
		case wire.EqualFold(args[0], "asc"), wire.EqualFold(args[0], "desc"):
			ascending = wire.EqualFold(args[0], "asc")
			orders++
		default:
			x.Error(command.MsgSyntax)
			return
		}
		if limits > 1 || orders > 1 {
			x.Error("ERR Multiple filters of the same type are disallowed.")
			return
		}
	}
	counts, ok := countSlots(x, v, 0, ring.Slots-1, keysIn)
	if !ok {
		return
	}
	slices.SortFunc(counts, func(a, b slotCount) int {
		if ascending {
			return cmp.Or(cmp.Compare(a.keys, b.keys), cmp.Compare(a.slot, b.slot))
		}
		return cmp.Or(cmp.Compare(b.keys, a.keys), cmp.Compare(a.slot, b.slot))
	})
	replyCounts(x, counts[:min(limit, int64(len(counts)))])
}
