package table

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// Whoever was asked to lead and could not is asked again only when that is safe, so that
// the one who asked can decide things when it leads again, whatever comes between.
func TestLeaderContinuesAfterFailedTransfer(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		for range randomtest.Length(240, 4) { // what the library looks at first is chance
			cedeInVain(t, g)
			time.Sleep(2 * transferAgainAfter)
		}
	})
}

func cedeInVain(t *testing.T, g *group) {
	leader := g.leader()
	var others []raft.Server
	for _, s := range leader.servers() {
		if string(s.Address) != leader.cfg.ID {
			others = append(others, s)
		}
	}
	deaf, heir := others[0], others[1]

	// The replication to a voter that is away is busy with a pause that gets long, and
	// ends, with the leadership, before it has looked what there is to do.
	g.link(leader.cfg.ID, string(deaf.Address), false)
	time.Sleep(20 * time.Second)
	g.weigh(leader, leader.cfg.ID, 2+rand.Float64())
	for range 2 {
		if err := leader.transferTo(deaf); err == nil {
			t.Fatal("a voter that is away has taken the office")
		}
		time.Sleep(time.Second) // a transfer ends a little after its answer
	}
	g.link(leader.cfg.ID, string(heir.Address), false)
	g.until(func() bool { _, leads := g.tables[string(heir.Address)].Leader(); return leads }, "another leads")
	time.Sleep(20 * time.Second)

	g.link(leader.cfg.ID, string(heir.Address), true)
	g.link(leader.cfg.ID, string(deaf.Address), true)
	self := raft.Server{ID: raft.ServerID(leader.Server()), Address: raft.ServerAddress(leader.cfg.ID)}
	for range 100 { // whoever leads passes the office on
		if _, leads := leader.Leader(); leads {
			break
		}
		if now := g.leader(); now != nil {
			now.transferTo(self)
		}
		time.Sleep(time.Second)
	}
	g.weigh(leader, leader.cfg.ID, 1+rand.Float64())
}

// A leader cedes to whoever answers.
func TestTransferSkipsUnreachableVoters(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		leader := g.leader()
		away := g.idle(leader)
		g.kill(away)
		if err := leader.TransferLeadership(g.context()); err != nil {
			t.Fatal(err)
		}
		g.until(func() bool { l := g.leader(); return l != nil && l != leader }, "another leads")
	})
}
