package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/status"
)

// dialNode is a client of one node that tries nothing twice.
func dialNode(t *testing.T, n *Node) *redis.Client {
	t.Helper()
	client := redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1, Protocol: 2, ReadTimeout: time.Minute})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// ringText is the reply to RING, or its error, as text.
func ringText(client *redis.Client, words ...any) string {
	v, err := client.Do(context.Background(), append([]any{"RING"}, words...)...).Result()
	if err != nil {
		return "-" + err.Error()
	}
	return fmt.Sprint(v)
}

func wantRing(t *testing.T, client *redis.Client, want string, words ...any) {
	t.Helper()
	if got := ringText(client, words...); !strings.Contains(got, want) {
		t.Errorf("RING %v: %s, want %s", words, got, want)
	}
}

func reportOf(t *testing.T, client *redis.Client) *status.Report {
	t.Helper()
	r := new(status.Report)
	if text := ringText(client, "STATUS", "JSON"); json.Unmarshal([]byte(text), r) != nil {
		t.Fatal(text)
	}
	return r
}

// fullReport is one in which every node that is alive has told its part.
func fullReport(t *testing.T, client *redis.Client) (r *status.Report) {
	t.Helper()
	resptest.WaitFor(t, "a full report", func() bool {
		r = reportOf(t, client)
		return r.Leader != "" && !slices.ContainsFunc(r.Nodes, func(n status.Node) bool { return n.Health == status.Alive && !n.Answered })
	})
	return r
}

// insist gives an order until it is taken: a leader may be lost on a busy machine.
func insist(t *testing.T, client *redis.Client, words ...any) {
	t.Helper()
	resptest.WaitFor(t, fmt.Sprint(words...), func() bool {
		text := ringText(client, words...)
		return text == "OK" || strings.Contains(text, "which is alive") || strings.Contains(text, "there is no node")
	})
}

// threeNodes are a cluster in which each node has its share, some of 3000 keys.
func threeNodes(t *testing.T) (nodes []*Node, clients []*redis.Client) {
	t.Helper()
	nodes = []*Node{openMember(t, "node-a")}
	for _, id := range []string{"node-b", "node-c"} {
		nodes = append(nodes, openMember(t, id, nodes[0].gossipAddr()))
	}
	for _, n := range nodes {
		t.Cleanup(func() { _ = n.Close() })
		clients = append(clients, dialNode(t, n))
	}
	shares(t, nodes...)
	const keys, atATime = 3000, 100
	for first := 0; first < keys; first += atATime {
		var err error
		resptest.WaitFor(t, "keys to be written", func() bool { // a busy machine may take a lease away, and leave the outcome of a SET open
			pipe := clients[0].Pipeline()
			for i := first; i < first+atATime; i++ {
				pipe.Set(t.Context(), fmt.Sprint("key:", i), strings.Repeat("x", 100), 0)
			}
			was := err
			if _, err = pipe.Exec(t.Context()); err != nil && (was == nil || was.Error() != err.Error()) {
				t.Log(err)
			}
			return err == nil
		})
	}
	return nodes, clients
}

// Every node tells the same of all of them.
func TestStatusOfACluster(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	nodes, clients := threeNodes(t)
	resptest.WaitFor(t, "three voters", func() bool {
		return len(nodes[0].cluster.table.Voters()) == 3 && len(nodes[2].cluster.table.Voters()) == 3
	})
	for i, client := range clients {
		var r *status.Report
		resptest.WaitFor(t, "three nodes that are alive and serve all keys", func() bool {
			// A busy machine may hide a node for a while, or let a lease lapse.
			r = fullReport(t, client)
			served := int64(0)
			for _, n := range r.Nodes {
				served += n.Keys
			}
			return served == 3000 && !slices.ContainsFunc(r.Nodes, func(n status.Node) bool { return n.Health != status.Alive })
		})
		if r.Cluster != "ringside" || r.Asked != nodes[i].ID() || r.Leader == "" || r.Ranges != 256 || len(r.Buckets) != 256 || len(r.Handoffs) != 0 {
			t.Errorf("%s: %+v", r.Asked, r)
		}
		keys, primaries, share := int64(0), 0, 0.0
		for j, n := range r.Nodes {
			if n.ID != nodes[j].ID() || n.Health != status.Alive || !n.Answered || n.Addr != nodes[j].Addr().String() || n.State != status.Member || !n.Voter {
				t.Errorf("%s: %+v", r.Asked, n)
			}
			keys, primaries, share = keys+n.Keys, primaries+n.Primaries, share+n.Share
		}
		if keys != 3000 || primaries != 256 || share < 0.999 || share > 1.001 {
			t.Errorf("%s: %d keys, %d ranges, %f of the circle", r.Asked, keys, primaries, share)
		}
		for _, want := range []string{"3 nodes, 3 alive", "256 buckets", "node-b", "no handoffs"} {
			resptest.WaitFor(t, want, func() bool { return strings.Contains(ringText(client, "STATUS"), want) })
		}
	}
	wantRing(t, clients[0], "-ERR syntax error", "STATUS", "XML")
	resptest.WaitFor(t, "the leader in RING INFO", func() bool {
		return strings.Contains(ringText(clients[0], "INFO"), "leader:"+fullReport(t, clients[0]).Leader)
	})
	moved := int64(0)
	for _, n := range fullReport(t, clients[1]).Nodes {
		moved += n.Moved.Ranges
		if n.Moved.Done > 0 && n.Moved.Held == 0 {
			t.Errorf("%s has held no range: %+v", n.ID, n.Moved)
		}
	}
	if moved < 170 {
		t.Errorf("%d ranges have changed hands", moved)
	}
}

// Orders about moves hold on all nodes, and through restarts.
func TestMovesArePausedAndBounded(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	a := openMember(t, "node-a")
	defer a.Close()
	dir := t.TempDir()
	b := openMemberIn(t, dir, "node-b", a.gossipAddr())
	defer func() { b.Close() }()
	resptest.WaitFor(t, "two shares", func() bool { return b.primaries()["node-b"] == 128 })
	one, other := dialNode(t, a), dialNode(t, b)
	told := func(client *redis.Client, lines ...string) {
		t.Helper()
		resptest.WaitFor(t, fmt.Sprint(lines), func() bool {
			text := ringText(client, "INFO")
			for _, line := range lines {
				if !strings.Contains(text, line+"\r\n") {
					return false
				}
			}
			return true
		})
	}
	wantRing(t, other, "OK", "PAUSE")
	told(one, "moves_paused:1", "moves_throttle:0")
	wantRing(t, one, "OK", "THROTTLE", "64mb")
	told(other, "moves_paused:1", "moves_throttle:67108864")
	wantRing(t, other, "RING RESUME first", "LEAVE")
	wantRing(t, one, "is not a number of bytes", "THROTTLE", "fast")
	if r := reportOf(t, one); !r.Paused || r.Throttle != 64<<20 {
		t.Errorf("%+v", r)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openMemberIn(t, dir, "node-b", a.gossipAddr())
	other = dialNode(t, b)
	told(other, "moves_paused:1", "moves_throttle:67108864")
	wantRing(t, other, "OK", "RESUME")
	wantRing(t, other, "OK", "THROTTLE", "0")
	told(one, "moves_paused:0", "moves_throttle:0")
}

// ends waits until a node has ended by itself, and shows what another one reports if it does not.
func ends(t *testing.T, n *Node, other *redis.Client) {
	t.Helper()
	select {
	case <-n.Done():
	case <-time.After(resptest.Patience):
		t.Fatalf("%s does not end:\n%s", n.ID(), ringText(other, "STATUS"))
	}
}

// A node that is told to leave hands over what it has, and ends.
func TestLeavingNodeEnds(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	nodes, clients := threeNodes(t)
	// The first leads and alone had a vote for a while.
	wantRing(t, clients[0], "OK", "LEAVE")
	wantRing(t, clients[0], "OK", "LEAVE") // once more does no harm
	ends(t, nodes[0], clients[1])
	if err := nodes[0].Err(); err != nil {
		t.Error(err)
	}
	if err := nodes[0].Close(); err != nil {
		t.Error(err)
	}
	resptest.WaitFor(t, "two nodes", func() bool {
		r := reportOf(t, clients[1])
		return len(r.Nodes) == 2 && r.Nodes[0].Primaries == 128 && r.Nodes[1].Primaries == 128 && r.Leader != "" && r.Leader != "node-a"
	})
	if n, err := clients[2].DBSize(t.Context()).Result(); n != 3000 || err != nil {
		t.Errorf("%d keys are left, %v", n, err)
	}
	// The table can still be changed by those that are left, down to the last.
	wantRing(t, clients[1], "OK", "LEAVE")
	ends(t, nodes[1], clients[2])
	if err := nodes[1].Close(); err != nil {
		t.Error(err)
	}
	wantRing(t, clients[2], "no other node could take the data", "LEAVE")
	if n, err := clients[2].DBSize(t.Context()).Result(); n != 3000 || err != nil {
		t.Errorf("%d keys are left, %v", n, err)
	}
	if r := reportOf(t, clients[2]); len(r.Nodes) != 1 || r.Leader != "node-c" {
		t.Errorf("%+v", r)
	}
}

func TestPlansListMoves(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	_, clients := threeNodes(t)
	text := ringText(clients[1], "PLAN", "JOIN", "node-d:2", "LEAVE", "node-a")
	for _, want := range []string{"join node-d of weight 2; leave node-a ·", "node-a → node-d", "node-b → node-d", "assumed", "node-d     0  128     0    0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var keys, bytes int
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "all of them"); ok {
			var ranges int
			if _, err := fmt.Sscan(rest, &ranges, &keys, &bytes); err != nil || ranges < 120 || ranges > 130 {
				t.Errorf("%d ranges, %v: %s", ranges, err, line)
			}
		}
	}
	moved := ringText(clients[2], "PLAN", "LEAVE", "node-a")
	gone := int(fullReport(t, clients[0]).Nodes[0].Keys)
	if !strings.Contains(moved, fmt.Sprint(" ", gone, " ")) || keys <= gone {
		t.Errorf("node-a has %d keys, of which\n%s\nand with a join %d", gone, moved, keys)
	}
	for want, words := range map[string]string{
		"is in the cluster already":       "JOIN node-b",
		"there is no node \"nosuch\"":     "LEAVE nosuch",
		"no node would be left":           "LEAVE node-a node-b node-c",
		"there is no node \"node\"":       "LEAVE node",
		"wrong number of arguments":       "JOIN",
		"is not a number":                 "JOIN node-d:heavy",
		"duplicate node":                  "JOIN d d",
		"there are node-a, node-b, node-": "LEAVE x",
	} {
		args := []any{"PLAN"}
		for _, word := range strings.Fields(words) {
			args = append(args, word)
		}
		wantRing(t, clients[0], want, args...)
	}
	// Nothing has been done.
	if r := reportOf(t, clients[0]); len(r.Nodes) != 3 || len(r.Handoffs) != 0 {
		t.Errorf("%+v", r)
	}
}

// A hand-picked point takes load off a node, and only where points are.
func TestPinsMovePoints(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	open := func(id string, join ...string) *Node {
		c := memberConfig(t, t.TempDir(), id, join...)
		c.Strategy = StrategyVnode
		n, err := Open(c)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	a := open("node-a")
	defer a.Close()
	b := open("node-b", a.gossipAddr())
	defer b.Close()
	resptest.WaitFor(t, "two nodes", func() bool { return b.primaries()["node-b"] > 0 })
	client := dialNode(t, b)
	wantRing(t, client, "there is no node", "PIN", "node-x=1")
	wantRing(t, client, "bad pin", "PIN", "node-a=hot")
	wantRing(t, client, "OK", "PIN", "node-a=0")
	wantRing(t, client, "OK", "PIN", "node-b=1073741824")
	// Two points: node-a has what lies up to 0, which is half of the signed circle and
	// a quarter, node-b the quarter between.
	resptest.WaitFor(t, "a quarter", func() bool {
		r := reportOf(t, client)
		return len(r.Handoffs) == 0 && r.Nodes[1].Share > 0.2499 && r.Nodes[1].Share < 0.2501
	})
	if text := ringText(client, "STATUS"); !strings.Contains(text, "share of the ring") {
		t.Error(text)
	}
	c := openMember(t, "other")
	defer c.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return c.primaries()["other"] == 256 })
	wantRing(t, dialNode(t, c), "points are of strategy vnode, this cluster has buckets", "PIN", "other=1")
}

// Proxies tell of the cluster, and go without handing over anything.
func TestProxiesTellAndLeave(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	a := openMember(t, "node-a")
	defer a.Close()
	p := openProxy(t, t.TempDir(), "proxy-p", a.gossipAddr())
	defer p.Close()
	client := dialNode(t, p)
	resptest.WaitFor(t, "the proxy", func() bool {
		text := ringText(client, "STATUS", "JSON")
		r := new(status.Report)
		return json.Unmarshal([]byte(text), r) == nil && len(r.Nodes) == 2 && r.Nodes[1].Role == "proxy" && r.Nodes[1].Answered
	})
	// Gossip tells the others of a proxy before the agreed table does.
	resptest.WaitFor(t, "the proxy in the table", func() bool {
		return strings.Contains(ringText(client, "PLAN", "LEAVE", "proxy-p"), "it has no share")
	})
	wantRing(t, dialNode(t, a), "proxy-p is alive: stop it first", "FORGET", "proxy-p")
	wantRing(t, client, "OK", "LEAVE")
	<-p.Done()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	resptest.WaitFor(t, "one node", func() bool { return len(reportOf(t, dialNode(t, a)).Nodes) == 1 })
}
