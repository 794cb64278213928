package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/store"
)

// A node that is away for good is forgotten once its ranges are given up.
func TestForgetAndRecreate(t *testing.T) {
	randomtest.Draw(t, 4)
	t.Cleanup(func() { goneInTheEnd(t) })
	nodes, clients := threeNodes(t)
	client := clients[0]
	wantRing(t, client, "RING LEAVE hands over its data", "FORGET", "node-a")
	wantRing(t, client, "node-c is alive: send RING LEAVE to it", "FORGET", "node-c")
	wantRing(t, client, "there is no node \"nosuch\"", "FORGET", "nosuch")
	wantRing(t, client, "which is alive", "RECREATE", "00000000-01000000")
	wantRing(t, client, "is not made up of whole ranges", "RECREATE", "00000000-00800000")
	wantRing(t, client, "is not made up of whole ranges", "RECREATE", "00000001-01000000")
	wantRing(t, client, "is not made up of whole ranges", "RECREATE", "00000000-01800000")
	lost := fullReport(t, client).Nodes[2].Keys
	if err := nodes[2].Close(); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "node-c is away", func() bool {
		n := reportOf(t, client).Nodes[2]
		return n.Health != status.Alive && n.Since != nil && !n.Answered
	})
	wantRing(t, client, "has 85 ranges and the only copy of 85 of them", "FORGET", "node-c")
	text := ringText(client, "STATUS")
	if !strings.Contains(text, "! node-c does not answer since") || !strings.Contains(text, "85 ranges of it") {
		t.Error(text)
	}
	for row := range nodes[0].cluster.table.State().Rows() {
		if row.Primary == "node-c" {
			insist(t, client, "RECREATE", row.Range.String())
		}
	}
	wantRing(t, client, "there is no node \"ode-c\"; there are node-a, node-b, node-c", "FORGET", "ode-c")
	insist(t, client, "FORGET", "node-c")
	wantRing(t, client, "there is no node", "FORGET", "node-c")
	resptest.WaitFor(t, "two nodes", func() bool {
		r := reportOf(t, clients[1])
		return len(r.Nodes) == 2 && r.Nodes[0].Primaries == 128 && r.Nodes[1].Primaries == 128 && len(r.Handoffs) == 0
	})
	if n, err := client.DBSize(t.Context()).Result(); n != 3000-lost || err != nil {
		t.Errorf("%d keys of 3000, %d were lost, %v", n, lost, err)
	}
	for i := range 3000 {
		if err := client.Set(t.Context(), fmt.Sprint("key:", i), "again", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// putDirectly writes a key to a node's store, whoever serves it.
func putDirectly(t *testing.T, n *Node, key, value string) {
	t.Helper()
	u := n.store.NewUnit()
	u.Begin(time.Now().UnixMilli(), []store.Place{u.Place([]byte(key))})
	v, err := u.Get([]byte(key))
	if err == nil {
		err = u.PutString([]byte(key), v, []byte(value), 0, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Commit(nil); err != nil {
		t.Fatal(err)
	}
}

// What a node has from earlier is neither lost nor found again unasked.
func TestRecreateDoesNotMixOldCopiesIn(t *testing.T) {
	randomtest.Draw(t, 3)
	t.Cleanup(func() { goneInTheEnd(t) })
	nodes, clients := threeNodes(t)
	client := clients[0]
	var row string
	key := ""
	for i := 0; key == ""; i++ {
		v := client.Do(t.Context(), "RING", "LOCATE", fmt.Sprint("key:", i)).Val().([]any)
		if v[9] == "node-c" {
			key, row = fmt.Sprint("key:", i), v[5].(string)
		}
	}
	if err := nodes[2].Close(); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "node-c is away", func() bool { return reportOf(t, client).Nodes[2].Health != status.Alive })
	// An old copy, as one is left by a node that was put out of a set.
	putDirectly(t, nodes[0], key, "old")
	wantRing(t, client, "from earlier", "RECREATE", row)
	wantRing(t, client, "node-c is not there", "RECREATE", row, "FROM", "node-c")
	wantRing(t, client, "there is no node", "RECREATE", row, "FROM", "nosuch")
	insist(t, client, "RECREATE", row, "FROM", "node-a")
	if got, err := client.Get(t.Context(), key).Result(); got != "old" || err != nil {
		t.Errorf("%s is %q, %v", key, got, err)
	}
}
