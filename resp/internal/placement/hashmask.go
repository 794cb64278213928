package placement

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
)

// Hashmasks replies with the buckets: the widest mask, then for each bucket its hashmask, its primary, its
// backups and its epoch. It has not replied if the placement does not consist of buckets.
func Hashmasks(x *command.Call, p *ring.Placement) error {
	table, err := buckets.TableOf(p)
	if err != nil {
		return err
	}
	entries := make([]*buckets.Entry, 0, p.Len())
	for row := range p.Rows() {
		entries = append(entries, table.Lookup(row.Range.Start))
	}
	slices.SortFunc(entries, func(a, b *buckets.Entry) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Mask, b.Mask)) })
	x.Array(2)
	x.BulkString(fmt.Sprintf("%04X", table.Mask()))
	x.Array(len(entries))
	for _, e := range entries {
		x.Array(4)
		x.BulkString(e.Hashmask.String())
		x.BulkString(e.Primary)
		x.Array(len(e.Backups))
		for _, node := range e.Backups {
			x.BulkString(node)
		}
		x.Int(int64(e.Epoch))
	}
	return nil
}
