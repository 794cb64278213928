package lease

import "time"

// Times of a lease. The holder counts from the sending of its request and stops early. The granter
// counts from the grant and waits longer. So with messages of any delay and clocks that differ by
// up to a tenth, the lease has expired at the holder before the leader acts on it.
const (
	Length     = 2 * time.Second
	RenewEvery = 500 * time.Millisecond
	Margin     = Length/10 + 100*time.Millisecond
)

// Rules disable parts of the rules, for tests that show that each is needed.
type Rules struct {
	FromReceipt   bool // the holder counts from the arrival of the grant
	NoMargin      bool // neither side leaves a margin
	AnyIndex      bool // a grant counts before the holder knows its table
	Unconfirmed   bool // the leader grants without asking a majority
	Unsettled     bool // the leader grants before it has applied all earlier terms
	WhileReplaced bool // a node gets grants during its failover
	unapplied     bool // a node gets grants although it does not apply the table
	AtOnce        bool // a node is replaced although its lease may be valid
	NewLeader     bool // a new leader does not wait for leases of the previous one
	AnyTerm       bool // an entry is applied in any term
	SameInterval  bool // replies leave although ranges may have been lost
}

// A Holder is the pure state of a node's own lease. Times are those of the node's clock, which runs
// while the machine is suspended. The caller locks it.
type Holder struct {
	Disabled Rules
	Until    time.Duration
	pending  []grant // grants that do not count yet, oldest first
}

// A grant counts once this node has applied the table up to index.
type grant struct {
	until time.Duration
	index uint64
}

// maxPendingOfHolder bounds the grants that do not count yet. A node with more has lagged for
// longer than a lease lasts.
const maxPendingOfHolder = 8

// AddGrant records the grant for a request that was sent at sent and answered now.
func (h *Holder) AddGrant(sent, now time.Duration, index, applied uint64) {
	if h.Disabled.FromReceipt {
		sent = now
	}
	g := grant{until: sent + Length - Margin, index: index}
	if h.Disabled.NoMargin {
		g.until = sent + Length
	}
	if h.Disabled.AnyIndex {
		g.index = 0
	}
	if len(h.pending) == maxPendingOfHolder {
		h.pending = append(h.pending[:0], h.pending[1:]...)
	}
	h.pending = append(h.pending, g)
	h.ApplyIndex(applied)
}

// ApplyIndex records how far this node has applied the table.
func (h *Holder) ApplyIndex(index uint64) {
	kept := h.pending[:0]
	for _, g := range h.pending {
		if g.index > index {
			kept = append(kept, g)
		} else {
			h.Until = max(h.Until, g.until)
		}
	}
	h.pending = kept
}
