package replica

import "time"

// What leases are made of. A holder counts from the moment at which it asked, and stops
// early; whoever grants counts from the moment of the grant, and waits longer: so however
// long messages take, and with clocks that differ by up to a tenth, a lease has ended here
// before anybody there acts on it.
const (
	leaseLength = 2 * time.Second
	leaseRenew  = 500 * time.Millisecond
	leaseMargin = leaseLength/10 + 100*time.Millisecond
)

// leaseRules leave parts of the rules out, for tests that show what each is for.
type leaseRules struct {
	fromReceipt   bool // a holder counts from when the grant reaches it
	noMargin      bool // neither side leaves a margin
	anyIndex      bool // a grant counts before the holder knows the table that it was made from
	unconfirmed   bool // a leader grants without asking a majority
	unsettled     bool // a leader grants before it has applied what came before its term
	whileReplaced bool // a node gets grants while its failover is under way
	unapplied     bool // a node gets grants although it does not apply the table
	atOnce        bool // a node is replaced although its lease may go on
	newLeader     bool // a new leader does not wait for the leases of the one before it
	anyTerm       bool // an entry is applied in whatever term
	sameInterval  bool // replies leave without a look at whether ranges were lost meanwhile
}

// A holder is a node's own lease. It is pure: times are those of the node's clock, which
// goes on while the machine is suspended.
type holder struct {
	disabled leaseRules
	until    time.Duration
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
func (h *holder) addGrant(sent, now time.Duration, index, applied uint64) {
	if h.disabled.fromReceipt {
		sent = now
	}
	g := grant{until: sent + leaseLength - leaseMargin, index: index}
	if h.disabled.noMargin {
		g.until = sent + leaseLength
	}
	if h.disabled.anyIndex {
		g.index = 0
	}
	if len(h.pending) == maxPendingOfHolder {
		h.pending = append(h.pending[:0], h.pending[1:]...)
	}
	h.pending = append(h.pending, g)
	h.applyIndex(applied)
}

// applyIndex says how far this node has applied the table.
func (h *holder) applyIndex(index uint64) {
	kept := h.pending[:0]
	for _, g := range h.pending {
		if g.index > index {
			kept = append(kept, g)
		} else {
			h.until = max(h.until, g.until)
		}
	}
	h.pending = kept
}

// isValid tells whether the node may answer.
func (h *holder) isValid(now time.Duration) bool { return now < h.until }
