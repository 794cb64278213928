package backup

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/internal/moment"
	"github.com/ringside-kv/ringside/resp/internal/quota"
)

// primaries returns the nodes that are primaries, or why there is no backup.
func primaries(st *table.State) (nodes []string, err error) {
	for row := range st.Rows() {
		if row.Primary == "" || st.Lost(row) {
			return nil, fmt.Errorf("no copy of range %v is there", row.Range)
		}
		if !slices.Contains(nodes, row.Primary) {
			nodes = append(nodes, row.Primary)
		}
	}
	if len(nodes) == 0 {
		return nil, errors.New("the cluster has no ranges yet")
	}
	return nodes, nil
}

// policiesOf returns the policies of the databases, and where their keys have moved.
func policiesOf(st *table.State, position database.Position) *database.Policies {
	return st.Policies().Agreed(st.Values(), nil, position)
}

// orderOf returns the order of the databases.
func orderOf(st *table.State) (*database.Order, error) {
	return database.ParseOrder(st.Values().Of(database.OrderName).Body)
}

// orderIs reports whether databases show the same data as by an order, and none are being swapped.
//
// A swap ends only after all primaries have heard that it has begun. So if all of them go by some order and
// know of no swap both before and after the moment, that order holds at the moment.
func orderIs(st *table.State, order *database.Order) bool {
	now, _ := orderOf(st)
	return now.Swaps() == order.Swaps() && now.Change() == 0
}

// describe adds what the table says of the cluster. It returns how many swaps of databases m.Together goes by, and
// the steps by which keys have moved.
func describe(m *moment.Moment, st *table.State) (swaps, steps uint64) {
	of := st.Cluster()
	m.Cluster, m.Generation, m.TableIndex = of.Name, strconv.FormatUint(of.Generation, 16), st.Index()
	m.Strategy, m.Hash, m.Settings, m.Backups, m.Databases = of.Strategy.Name, of.Strategy.Hash, of.Strategy, of.Backups, st.Databases()
	order, _ := orderOf(st)
	for _, p := range policiesOf(st, nil).All() {
		if p.Together {
			m.Together = append(m.Together, order.Number(p.Head()))
		}
	}
	slices.Sort(m.Together)
	for n := range m.Databases {
		if l := quota.LimitIn(st.Values(), n); l != (quota.Limit{}) {
			m.Limits = append(m.Limits, moment.Limit{Database: n, Bytes: l.Bytes, Policy: l.Policy})
		}
	}
	for _, v := range st.Values().Under(agreed.AtomicUsers) {
		m.Atomic = append(m.Atomic, strings.TrimPrefix(v.Name, agreed.AtomicUsers))
	}
	return order.Swaps(), policiesOf(st, nil).Steps(-1)
}
