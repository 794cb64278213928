package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica/table"
)

// wantBackups says how many copies are wanted, and waits until all rows have them.
func wantBackups(t *testing.T, nodes []*Node, copies int) {
	t.Helper()
	if _, err := nodes[0].cluster.table.Apply(context.Background(), &table.SetBackups{Backups: copies}); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "all ranges have their copies", func() bool {
		for _, n := range nodes {
			if n.short(copies, len(nodes)) > 0 {
				return false
			}
		}
		return true
	})
}

// short is how many rows have other than so many backups, or are not where they should be.
func (n *Node) short(copies, nodes int) (rows int) {
	st := n.cluster.table.State()
	if len(st.Handoffs()) > 0 || len(n.primaries()) != nodes {
		rows++
	}
	for row := range st.Rows() {
		if len(row.Backups) != copies {
			rows++
		}
	}
	return rows
}

// differs is how many groups of entries of a range are not the same at another node.
func (n *Node) differs(t *testing.T, row *table.Row, other *Node) int {
	t.Helper()
	d, err := other.store.Digest(row.Range, nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := n.store.DifferingGroups(row.Range, d)
	if err != nil {
		t.Fatal(err)
	}
	return len(groups)
}

// What clients are told is on the backups by then: all kinds of changes, also of long
// values, and after a flush.
func TestBackupsHoldAcknowledgedWrites(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	defer goneInTheEnd(t)
	ctx := context.Background()
	nodes := []*Node{openMember(t, "a")}
	defer closeAll(t, &nodes)
	resptest.WaitFor(t, "a cluster of one", func() bool { return nodes[0].primaries()["a"] == 256 })
	for _, id := range []string{"b", "c"} {
		nodes = append(nodes, openMember(t, id, nodes[0].gossipAddr()))
	}
	wantBackups(t, nodes, 1)
	byID := make(map[string]*Node)
	var load sync.WaitGroup
	for w, n := range nodes {
		byID[n.ID()] = n
		client := redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1, PoolSize: 1})
		load.Go(func() {
			defer client.Close()
			long := strings.Repeat("x", 300<<10)
			for i := range 300 {
				pipe := client.Pipeline()
				for j := range 16 {
					pipe.Incr(ctx, fmt.Sprintf("count:%d:%d", w, (i*16+j)%197))
				}
				pipe.Set(ctx, fmt.Sprintf("key:%d:%d", w, i), i, 0)
				pipe.Append(ctx, fmt.Sprintf("append:%d:%d", w, i%7), strings.Repeat("y", 1000))
				if i%20 == 0 {
					pipe.Set(ctx, fmt.Sprintf("long:%d:%d", w, i%60), long, 0)
					pipe.SetRange(ctx, fmt.Sprintf("long:%d:%d", w, i%60), 200<<10, "z")
				}
				if i%3 == 0 {
					pipe.Del(ctx, fmt.Sprintf("key:%d:%d", w, i/2))
				}
				if _, err := pipe.Exec(ctx); err != nil {
					t.Errorf("client of %s: %v", n.ID(), err)
					return
				}
			}
		})
	}
	load.Wait()
	compare := func() {
		t.Helper()
		for row := range nodes[0].cluster.table.State().Rows() {
			for _, b := range row.Backups {
				if n := byID[row.Primary].differs(t, row, byID[b]); n > 0 {
					t.Errorf("%v is not the same at %s and %s: %d groups differ", row.Range, row.Primary, b, n)
				}
			}
		}
	}
	compare()
	client := redistest.Client(&redis.Options{Addr: nodes[1].Addr().String(), MaxRetries: -1})
	defer client.Close()
	if err := client.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	compare()
	wantBackups(t, nodes, 2)
	if err := client.Set(ctx, "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	compare()
	for _, n := range nodes {
		for _, f := range n.cluster.engine.Feeds() {
			if f.Pending > 0 || f.Broken != "" || f.Rows == 0 {
				t.Errorf("%s feeds %+v", n.ID(), f)
			}
		}
	}
}
