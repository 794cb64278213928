package resp

import (
	"maps"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// tellReplicaof tells a server that its cluster is a replica.
func tellReplicaof(t *testing.T, s *Server) {
	t.Helper()
	values, err := (*agreed.Values)(nil).With([]agreed.Change{{Name: agreed.ReplicaofName, Body: `{"node":"another"}`}}, 7)
	if err != nil {
		t.Fatal(err)
	}
	was := s.routes.Load()
	s.SetRoutes(&Routes{Placement: was.Placement, Self: was.Self, Nodes: maps.Clone(was.Nodes), Values: values, Generation: 1, Index: 7})
}

// Scripts of one pipeline are sent as such that only read, each of them.
func TestEachScriptOfAPipelineOnlyReadsAtAReplica(t *testing.T) {
	r, keys := halves(t)
	for _, s := range r.servers {
		tellReplicaof(t, s)
	}
	c := resptest.Dial(t, r.addrs[0], 2)
	write := []string{"EVAL", "return redis.call('SET', KEYS[1], '1')", "1", keys[1]}
	for i, got := range c.DoAll([][]string{write, write, write}) {
		if !strings.HasPrefix(got.String(), "-READONLY") {
			t.Errorf("script %d: %s", i, got)
		}
	}
	c.Want(":0", "EXISTS", keys[1])
}

// A node may be the last to hear that the cluster has become a replica: it was stopped, say, and the copy has long
// begun. What it lets clients write until then, other nodes do not run, and once it has heard it does not try again.
func TestNodeThatHasNotHeardOfReplicaofWritesNowhere(t *testing.T) {
	r, keys := halves(t)
	tell := func(i int) { tellReplicaof(t, r.servers[i]) }
	tell(1)
	far := keys[1]
	var clients []*resptest.Conn
	all := [][]string{
		{"SET", far, "1"}, {"MSET", far, "1", far + "2", "2"}, {"MSET", keys[0], "1", far, "1"}, {"EVAL", "return redis.call('SET', KEYS[1], '1')", "1", far},
		{"RPUSH", far, "1"}, {"FLUSHALL"}, {"XADD", far, "*", "a", "1"},
	}
	for _, words := range all {
		c := resptest.Dial(t, r.addrs[0], 2)
		c.Send(words...)
		clients = append(clients, c)
	}
	queued := resptest.Dial(t, r.addrs[0], 2)
	queued.Want("+OK", "MULTI")
	queued.Want("+QUEUED", "SET", far, "1")
	queued.Send("EXEC")
	resptest.WaitFor(t, "requests that the other node has not run", func() bool { return r.servers[1].stats.NotMine.Load() >= int64(len(all)) })
	tell(0)
	for i, c := range clients {
		if got := c.Next().String(); !strings.Contains(got, "READONLY") && !strings.HasPrefix(got, "-UNKNOWN A part") {
			t.Errorf("%q: %s", all[i], got)
		}
	}
	if got := queued.Next().String(); !strings.HasPrefix(got, "-EXECABORT") {
		t.Errorf("EXEC: %s", got)
	}
	c := resptest.Dial(t, r.addrs[1], 2)
	c.Want(":0", "EXISTS", far, far+"2")
}
