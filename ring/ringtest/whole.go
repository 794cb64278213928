package ringtest

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// slotSize is how many tokens a slot of Redis Cluster is.
const slotSize = 1 << 32 / ring.Slots

func (s Suite) wholeness(_ *testing.T, h *history) {
	for _, n := range []int{1, 1, 1, 2, 7, 30} {
		h.join(n)
		h.settle()
	}
	for len(h.members) > 1 {
		h.leave(9)
		h.settle()
	}
}

// checkWhole looks at a placement without the help of what made it.
func (h *history) checkWhole(p *ring.Placement) {
	t := h.t
	t.Helper()
	live := make(map[string]bool)
	for _, m := range h.members {
		live[m.ID] = true
	}
	copies := h.input().Copies()
	if h.suite.Pointless != nil {
		copies = min(copies, len(h.members)-len(h.suite.Pointless(h.members)))
	}
	covered := uint64(0)
	at := p.Row(0).Range.Start
	for row := range p.Rows() {
		if row.Range.Start != at {
			t.Fatalf("%v begins after %08x", row.Range, at)
		}
		at = row.Range.End
		covered += row.Range.Len()
		if row.Primary == "" {
			t.Fatalf("%v has no primary", row.Range)
		}
		seen := make(map[string]bool)
		for node := range row.Copies() {
			if !live[node] || seen[node] {
				t.Fatalf("%v: %s is no member or has two copies: %+v", row.Range, node, row)
			}
			seen[node] = true
		}
		if len(seen) != copies {
			t.Fatalf("%v: %d copies, want %d", row.Range, len(seen), copies)
		}
		if len(row.Learners) > 0 {
			t.Fatalf("%v has learners", row.Range)
		}
		if h.suite.Slots && (row.Range.Start%slotSize != 0 || row.Range.End%slotSize != 0) {
			t.Fatalf("%v cuts a slot", row.Range)
		}
	}
	if covered != 1<<32 || at != p.Row(0).Range.Start {
		t.Fatalf("%d tokens are covered, up to %08x", covered, at)
	}
	for range 100 {
		token := ring.Token(h.rnd.Uint32())
		if row := p.Lookup(token); !row.Range.Contains(token) {
			t.Fatalf("%08x is looked up in %v", token, row.Range)
		}
	}
}

// checkEpochs holds each row's epoch against those of the rows that it follows.
func (h *history) checkEpochs(before, after *ring.Placement) {
	if before == nil {
		return
	}
	h.t.Helper()
	for r, rows := range ring.Overlay(before, after) {
		was, is := rows[0], rows[1]
		kept := was.Range == is.Range && was.Primary == is.Primary
		if kept && is.Epoch != was.Epoch || !kept && is.Epoch <= was.Epoch {
			h.t.Fatalf("%v: epoch %d after %d: %+v, %+v", r, is.Epoch, was.Epoch, was, is)
		}
	}
}

func (s Suite) order(t *testing.T, h *history) {
	for range s.steps(4) {
		h.join(1 + h.rnd.IntN(12))
		want, err := s.Strategy.Desired(h.input())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			h.rnd.Shuffle(len(h.members), func(i, j int) { h.members[i], h.members[j] = h.members[j], h.members[i] })
			got, err := s.Strategy.Desired(h.input())
			if err != nil {
				t.Fatal(err)
			}
			if text(t, got) != text(t, want) {
				t.Fatalf("%d nodes in another order have another placement", len(h.members))
			}
		}
		h.present = want
		h.leave(2)
	}
}

func (s Suite) idempotence(t *testing.T, h *history) {
	for range s.steps(5) {
		h.join(1 + h.rnd.IntN(5))
		h.settle()
		if before := h.settle(); text(t, before) != text(t, h.present) {
			t.Fatalf("%d nodes: the desired placement is not desired any more", len(h.members))
		}
		h.leave(h.rnd.IntN(3))
	}
}

// text also makes sure that both forms of a placement can be read back.
func text(t *testing.T, p *ring.Placement) string {
	t.Helper()
	written, err := p.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var fromText, fromBinary ring.Placement
	if err := fromText.UnmarshalText(written); err != nil {
		t.Fatal(err)
	}
	if err := fromBinary.UnmarshalBinary(binary); err != nil {
		t.Fatal(err)
	}
	for _, read := range []*ring.Placement{&fromText, &fromBinary} {
		if again, err := read.MarshalText(); err != nil || string(again) != string(written) {
			t.Fatalf("read back, the placement is another one (%v)", err)
		}
	}
	return string(written)
}
