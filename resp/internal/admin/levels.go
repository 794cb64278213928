package admin

import (
	"fmt"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
)

// LoadLevels replies to LOADLEVELS: what this node serves and moves, and the load on it.
func LoadLevels(x *command.Call, l placement.Levels, moves status.Moves, load status.Load) {
	x.Map(11)
	for _, level := range []struct {
		name string
		n    int64
	}{
		{"primaries", int64(l.Primaries)}, {"backups", int64(l.Backups)}, {"pending", int64(l.Pending)},
		{"pending_keys", moves.PendingKeys}, {"pending_bytes", moves.PendingBytes},
		{"pending_items", int64(moves.Feeding.Pending)},
		{"operations_per_second", int64(math.Round(load.Ops))}, {"bytes_per_second", int64(math.Round(load.Bytes))},
		{"hottest_operations_per_second", int64(math.Round(load.HottestRate.Ops))},
		{"hottest_bytes_per_second", int64(math.Round(load.HottestRate.Bytes))},
	} {
		x.BulkString(level.name)
		x.Int(level.n)
	}
	x.BulkString("hottest_range")
	x.BulkString(load.Hottest)
}

// Location replies to RING LOCATE: where a key lies, and who has it. The address is that of the primary.
func Location(x *command.Call, key []byte, token ring.Token, row *ring.Row, addr string) {
	x.Map(7)
	x.BulkString("token")
	x.BulkString(fmt.Sprintf("%08x", uint32(token)))
	x.BulkString("slot")
	x.Int(int64(ring.Slot(key)))
	x.BulkString("range")
	x.BulkString(row.Range.String())
	x.BulkString("epoch")
	x.Int(int64(row.Epoch))
	x.BulkString("primary")
	if row.Primary == "" {
		x.Null()
	} else {
		x.BulkString(row.Primary)
	}
	x.BulkString("addr")
	x.BulkString(addr)
	x.BulkString("backups")
	x.Array(len(row.Backups))
	for _, node := range row.Backups {
		x.BulkString(node)
	}
}
