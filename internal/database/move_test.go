package database

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// TestKeysAreServedByTheirPositions has a move at a cursor: a key below it has the new form, one from Until on the old one,
// and those in between wait in both.
func TestKeysAreServedByTheirPositions(t *testing.T) {
	position := func(stored []byte) uint64 {
		var at uint64
		_, _ = fmt.Sscan(string(Name(stored)), &at)
		return at
	}
	for _, together := range []bool{true, false} {
		to := Policy{Number: 3, Together: together}
		from := Policy{Number: 3, Together: !together}
		kept := Kept{}.Begin(from, to)
		kept = kept.Next(func(m *Move) { m.Cursor, m.Until, m.High = 100, 200, 200 })
		values, err := (*agreed.Values)(nil).With([]agreed.Change{{Name: PolicyName(3), Body: kept.Body()}}, 7)
		if err != nil {
			t.Fatal(err)
		}
		var table *Policies
		p := table.Agreed(values, nil, position)
		if p.Agreed(values, p, position) == p || table.Agreed(values, p, position) != p {
			t.Error("the same values make other policies")
		}
		for at, want := range map[uint64][2]Form{0: {Changed, Present}, 99: {Changed, Present}, 100: {Held, Held}, 199: {Held, Held}, 200: {Present, Changed}, End - 1: {Present, Changed}} {
			name := []byte(fmt.Sprint(at))
			before, after := AppendKey(nil, from.Head(), name), AppendKey(nil, to.Head(), name)
			if got := [2]Form{p.FormOf(before), p.FormOf(after)}; got != want {
				t.Errorf("the key at %d has forms %v, want %v", at, got, want)
			}
			now := to.Head()
			if at >= 100 {
				now = from.Head()
			}
			if head, _ := p.Renewed(before, p); head != now || p.HeadFor(3, name) != now || p.Serves(before) != (now == from.Head()) || p.Serves(after) != (now == to.Head()) {
				t.Errorf("the key at %d has another head than %x", at, now)
			}
		}
		group := [][]byte{AppendKey(nil, from.Head(), []byte("150")), AppendKey(nil, to.Head(), []byte("50"))}
		if !p.Divide(group) || p.Divide(group[:1]) {
			t.Error("keys with one token are divided by the cursor")
		}
	}
}

// TestRevisionRisesWhenKeysBeginToMove tells what nodes must have in common from what they need not.
func TestRevisionRisesWhenKeysBeginToMove(t *testing.T) {
	with := func(kept Kept, before *Policies) *Policies {
		values, err := agreed.New([]agreed.Value{{Name: PolicyName(3), Version: 1, Body: kept.Body()}})
		if err != nil {
			t.Fatal(err)
		}
		return (*Policies)(nil).Agreed(values, before, func([]byte) uint64 { return 0 })
	}
	kept := Kept{}.Begin(Policy{}, Policy{Together: true})
	begun := with(kept, nil)
	if begun.Revision() != 1 || begun.MovedOnly(nil) {
		t.Errorf("revision %d when keys begin to move", begun.Revision())
	}
	on := with(kept.Next(func(m *Move) { m.Until, m.High = End, End }), begun)
	if on.Revision() != 1 || !on.MovedOnly(begun) {
		t.Errorf("revision %d behind a step", on.Revision())
	}
}

// FuzzKeptPoliciesThatAreReadAreInOrder reads any text as a policy.
func FuzzKeptPoliciesThatAreReadAreInOrder(f *testing.F) {
	kept := Kept{}.Begin(Policy{Together: true, Spot: 5}, Policy{})
	f.Add(kept.Body())
	f.Add(kept.Next(func(m *Move) { m.Cursor, m.Until, m.High = 1, End, End }).Cancelled(9).Body())
	f.Add(`{"together":true,"spot":3,"flips":1,"step":1}`)
	f.Add(`{"flips":1,"step":1,"move":{"spot":40}}`)
	f.Fuzz(func(t *testing.T, body string) {
		k, err := ParseKept(body)
		if err != nil {
			return
		}
		if again, err := ParseKept(k.Body()); err != nil || again.Body() != k.Body() {
			t.Errorf("%s, then %s, %v", k.Body(), again.Body(), err)
		}
		if m := k.Move; m != nil && (m.Low > m.Cursor || m.Cursor > m.Until || m.Until > End) {
			t.Errorf("%+v", *m)
		}
	})
}
