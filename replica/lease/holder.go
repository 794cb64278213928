package lease

import "time"

// What leases are made of. A holder counts from the moment at which it asked, and stops
// early; whoever grants counts from the moment of the grant, and waits longer: so however
// long messages take, and with clocks that differ by up to a tenth, a lease has ended here
// before anybody there acts on it.
const (
	Length     = 2 * time.Second
	RenewEvery = 500 * time.Millisecond
	Margin     = Length/10 + 100*time.Millisecond
)

// leaseRules leave parts of the rules out, for tests that show what each is for.
type Rules struct {
	FromReceipt   bool // a holder counts from when the grant reaches it
	NoMargin      bool // neither side leaves a margin
	AnyIndex      bool // a grant counts before the holder knows the table that it was made from
	Unconfirmed   bool // a leader grants without asking a majority
	Unsettled     bool // a leader grants before it has applied what came before its term
	WhileReplaced bool // a node gets grants while its failover is under way
	unapplied     bool // a node gets grants although it does not apply the table
	AtOnce        bool // a node is replaced although its lease may go on
	NewLeader     bool // a new leader does not wait for the leases of the one before it
	AnyTerm       bool // an entry is applied in whatever term
	SameInterval  bool // replies leave without a look at whether ranges were lost meanwhile
}

// A holder is a node's own lease. It is pure: times are those of the node's clock, which
// goes on while the machine is suspended.
type Holder struct {
	Disabled Rules
	Until    time.Duration
	pending  []grant // that do not count yet, the older first
}

// A grant counts once this node has applied the table up to index.
type grant struct {
	until time.Duration
	index uint64
}

// maxPendingOfHolder bounds the grants that do not count yet. More than these would be a node
// that has not caught up for longer than a lease lasts.
const maxPendingOfHolder = 8

// addGrant takes in the answer to a request that was sent at a time and answered now.
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

// applyIndex says how far this node has applied the table.
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

// isValid tells whether the node may answer.
func (h *Holder) isValid(now time.Duration) bool { return now < h.Until }
