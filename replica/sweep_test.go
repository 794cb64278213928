package replica

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/lease"
)

// Gossip that shows a node is no reason to throw away what may be the last copy of its ranges.
func TestCopyIsKeptWhileNoMemberHasALease(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		st := stateOf(t, "b")
		row, _ := st.Row(0)
		e := &Engine{}
		e.initParts()
		e.cfg.Self, e.cfg.Away = "c", func(string) bool { return false }
		if e.sweeper.allCopiesAway(st, row) {
			t.Error("without leases gossip decides")
		}
		e.cfg.Leases.Clock = func() time.Duration { return 0 }
		if !e.sweeper.allCopiesAway(st, row) {
			t.Error("thrown away by the word of gossip alone")
		}
		e.leaseHolders.update([]string{"c", "d"}, time.Now())
		if !e.sweeper.allCopiesAway(st, row) {
			t.Error("thrown away although no member has a lease")
		}
		e.leaseHolders.update([]string{"b"}, time.Now())
		if e.sweeper.allCopiesAway(st, row) {
			t.Error("kept although a member has a lease")
		}
		time.Sleep(lease.Length)
		if !e.sweeper.allCopiesAway(st, row) {
			t.Error("thrown away by a word that is old")
		}
		e.leaseHolders.update([]string{"p", "b"}, time.Now())
		e.cfg.Away = func(string) bool { return true }
		if !e.sweeper.allCopiesAway(st, row) {
			t.Error("thrown away although gossip does not show any member")
		}
	})
}
