package policies

import (
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/internal/quota"
	"github.com/ringside-kv/ringside/resp/status"
)

// Sizes returns the bytes of each database that has any, where bytes tells those of the data with a number.
func Sizes(st *table.State, bytes func(data int) int64) map[int]int64 {
	sizes := make(map[int]int64)
	shown := ordered(st)
	for n := range st.Databases() {
		if b := bytes(shown.Data(n)); b > 0 {
			sizes[n] = b
		}
	}
	return sizes
}

// Report returns the databases that have data or a policy, by their numbers. sizes are those of the nodes.
func (c *Changer) Report(st *table.State, sizes []map[int]int64) (all []status.Database) {
	shown := ordered(st)
	for n := range st.Databases() {
		data := shown.Data(n)
		p, limit := shown.Of(data), quota.LimitIn(st.Values(), n)
		d := status.Database{Number: n, Together: p.Together, Quota: limit.Bytes, Policy: limit.Policy}
		if p.Moving {
			moved := p.Moved()
			d.Moved = &moved
		}
		for _, of := range sizes {
			d.Bytes += of[n]
		}
		if d == (status.Database{Number: n}) {
			continue
		}
		if p.Together {
			if row, ok := st.Row(c.Token(database.AppendKey(nil, p.Head(), nil))); ok {
				d.Primary = row.Primary
			}
		}
		all = append(all, d)
	}
	return all
}

// ordered are the policies with what agreed values say of them: the order in which databases show data, see SWAPDB, and
// the keys that move.
func ordered(st *table.State) *database.Policies {
	return st.Policies().Agreed(st.Values(), nil, nil)
}
