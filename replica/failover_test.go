package replica

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
)

// A lonelyTable is one that a test changes.
type lonelyTable struct{ st *table.State }

func (l *lonelyTable) State() *table.State                        { return l.st }
func (l *lonelyTable) Changes() (<-chan struct{}, func())         { return nil, func() {} }
func (l *lonelyTable) Apply(context.Context, table.Command) error { return table.ErrUnknownOutcome }
func (l *lonelyTable) Leads() bool                                { return true }

// A leaderOf decides what it is told to, after something else has come between.
type leaderOf struct {
	noConsensus
	table   *lonelyTable
	between func()
}

func (l *leaderOf) ApplyIn(_ context.Context, _ uint64, c table.Command) error {
	if between := l.between; between != nil {
		l.between = nil
		between()
	}
	next, err := l.table.st.Apply(l.table.st.Index()+1, c)
	if err == nil {
		l.table.st = next
	}
	return err
}

// Between two entries of a failover a member may have been released and copied anew: then
// it has more than it said, and what it said before counts no more.
func TestEachEntryOfAFailoverHasItsAnswers(t *testing.T) {
	tab := &lonelyTable{stateOf(t, "b", "c")}
	last := map[string]uint64{"b": 1, "c": 5}
	var mu sync.Mutex
	asked := make(map[string]int)
	decides := &leaderOf{table: tab, between: func() {
		for _, c := range []func([]table.Ref) table.Command{
			func(rows []table.Ref) table.Command { return &table.Release{Node: "b", Rows: rows} },
			func(rows []table.Ref) table.Command {
				return &table.AddLearner{Node: "b", Incarnation: 1, Rows: rows}
			},
			func(rows []table.Ref) table.Command { return &table.Admit{Node: "b", Incarnation: 1, Rows: rows} },
		} {
			tab.st = applied(t, tab.st, c([]table.Ref{rowRef(t, tab.st, 0)}))
		}
		last["b"] = 9
	}}
	ask := func(_ context.Context, node string, _ []byte) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[node]++
		return json.Marshal(&lease.FenceReply{Incarnation: 1, Last: last[node], Known: true})
	}
	e := &Engine{
		cfg:   Config{Self: "w", Table: tab, Logger: slog.New(slog.DiscardHandler)},
		lease: lease.New(lease.Config{Clock: func() time.Duration { return 0 }, Consensus: decides, Ask: ask}),
	}
	e.initParts()
	if err := e.leaseServer.runFailover(t.Context(), failoverTarget{lease.NodeStart{Node: "p", Incarnation: 1}, 1}); err != nil {
		t.Fatal(err)
	}
	row, _ := tab.st.Row(0)
	if row.Primary != "b" || !slices.Equal(row.Backups, []string{"c"}) {
		t.Errorf("%s goes on before %v: not the one who has most", row.Primary, row.Backups)
	}
	if asked["b"] != 2 || asked["c"] != 2 {
		t.Errorf("asked were %v", asked)
	}
}
