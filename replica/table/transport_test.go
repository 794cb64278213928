package table

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"
)

// A heard is a transport that keeps who handles heartbeats.
type heard struct {
	raft.Transport
	handle func(raft.RPC)
}

func (h *heard) SetHeartbeatHandler(handle func(raft.RPC)) { h.handle = handle }

// The library panics where it cannot store the term of one, since the disk is closed; of one
// that comes later it says nothing at all.
func TestHeartbeatAfterTheEndDoesNoHarm(t *testing.T) {
	virtually(t, t.TempDir(), func(t *testing.T, g *group) {
		h := new(heard)
		g.change = func(c *Config) {
			h.Transport = c.transport
			c.transport = h
		}
		table := g.open("n0")
		g.must(table.Found(g.context(), found("n0", 16)))
		beat := func(term uint64) raft.RPCResponse {
			answers := make(chan raft.RPCResponse, 1)
			h.handle(raft.RPC{RespChan: answers, Command: &raft.AppendEntriesRequest{
				RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte("other"), Addr: []byte("n1")}, Term: term,
			}})
			return <-answers
		}
		if a := beat(1000); a.Error != nil {
			t.Errorf("a heartbeat is refused: %v", a.Error)
		}
		g.kill("n0")
		if a := beat(2000); !errors.Is(a.Error, ErrClosed) {
			t.Errorf("the answer is %+v", a)
		}
	})
}
