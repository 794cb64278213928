package database

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// PolicyPrefix begins the names of the agreed values that hold a [Kept] policy. The number of the data follows.
const PolicyPrefix = "databases/policy/"

// PolicyName returns the name of the agreed value for data.
func PolicyName(data int) string { return PolicyPrefix + strconv.Itoa(data) }

// End is one more than the highest position of a key.
const End = 1 << 52

// A Position tells where a stored key of a database that is spread lies among all keys: its token, and behind it
// the top 20 bits of its order.
type Position func(stored []byte) uint64

// A Kept is the policy of data whose policy was changed while it had keys. It takes the place of the policy in
// the placement table.
type Kept struct {
	Together bool `json:"together"`
	Spot     int  `json:"spot"`
	// Flips counts the changes: the places of the present policy are even or odd for cursors of SCAN.
	Flips uint64 `json:"flips"`
	// Step rises with each change of this value but one of the cursor. It never falls, so that no copy and no
	// deletion takes place that an earlier step has asked for.
	Step uint64 `json:"step"`
	// Move is not nil while keys move from the places of the earlier policy to those of this one.
	Move *Move `json:"move,omitempty"`
}

// A Move says which keys have moved already, by position: see [Position]. A key below the cursor is served at its new
// place, one from Until on at its old place. Requests for keys in between wait.
type Move struct {
	Spot   int    `json:"spot"` // of the earlier policy, if that was together
	Cursor uint64 `json:"cursor"`
	Until  uint64 `json:"until"`
	// Low and High bound the positions of keys that may lie at both places: copies that do not count yet, and
	// what is not deleted yet.
	Low  uint64 `json:"low"`
	High uint64 `json:"high"`
	// Paused is the number of the pause during which no step may begin; 0: none.
	Paused uint64 `json:"paused,string,omitempty"`
}

var errKept = errors.New("a policy of a database that cannot be")

// ParseKept reads the body of an agreed value.
func ParseKept(body string) (k Kept, err error) {
	if err := json.Unmarshal([]byte(body), &k); err != nil {
		return Kept{}, err
	}
	p := Policy{Together: k.Together, Spot: k.Spot}
	m := k.Move
	if !p.Valid() || k.Flips == 0 || k.Step == 0 || m != nil && (m.Spot < 0 || m.Spot >= Spots || k.Together && m.Spot != 0 ||
		m.Low > m.Cursor || m.Cursor > m.Until || m.Until > max(m.High, m.Cursor) || max(m.Until, m.High) > End) {
		return Kept{}, errKept
	}
	return k, nil
}

// Body returns the body of the agreed value.
func (k Kept) Body() string {
	b, _ := json.Marshal(k) // of numbers
	return string(b)
}

// Begin returns the policy by which keys begin to move from one to another. A policy has changed at an earlier time
// if was says so.
func (k Kept) Begin(from, to Policy) Kept {
	return Kept{Together: to.Together, Spot: to.Spot, Flips: k.Flips + 1, Step: k.Step + 1, Move: &Move{Spot: from.Spot}}
}

// Next returns the policy with a higher step, for a change of its move.
func (k Kept) Next(change func(m *Move)) Kept {
	m := *k.Move
	change(&m)
	k.Step++
	k.Move = &m
	return k
}

// Cancelled returns the policy with a step in which no key waits. What an earlier step has asked for does not
// take place any more.
func (k Kept) Cancelled(paused uint64) Kept {
	return k.Next(func(m *Move) { m.Until, m.Paused = m.Cursor, paused })
}

// Old returns the policy from which keys move.
func (p Policy) Old() Policy {
	return Policy{Number: p.Number, Together: !p.Together, Spot: p.Move.Spot}
}

// headAt returns the head that a key at a position has, and whether requests for it wait.
func (p *Policy) headAt(at uint64) (head Head, waits bool) {
	if p.Moving && at >= p.Move.Cursor {
		return p.Old().Head(), at < p.Move.Until
	}
	return p.Head(), false
}

// Moved returns how many percent of the positions have moved.
func (p Policy) Moved() int {
	if !p.Moving {
		return 100
	}
	return int(p.Move.Cursor * 100 / End)
}

// Agreed returns the policies with what agreed values say of them: the order of the databases, and policies that
// were changed while there were keys. It returns before if that is the same. position is that of the cluster's keys.
func (p *Policies) Agreed(values *agreed.Values, before *Policies, position Position) *Policies {
	body, kept := values.Of(OrderName).Body, values.Under(PolicyPrefix)
	switch {
	case len(kept) == 0:
		return p.Ordered(body, before)
	case before != nil && before.base == p && before.body == body && slices.Equal(before.kept, kept):
		return before
	}
	all := slices.Clone(p.All())
	for _, value := range kept {
		n, err := strconv.Atoi(strings.TrimPrefix(value.Name, PolicyPrefix))
		k, fault := ParseKept(value.Body)
		if err != nil || fault != nil || n < 0 || n >= Limit {
			continue // as of a later version
		}
		of := Policy{Number: n, Together: k.Together, Spot: k.Spot, Change: p.Of(n).Change, Flips: k.Flips, Step: k.Step}
		if k.Move != nil {
			of.Moving, of.Move = true, *k.Move
		}
		all = append(slices.DeleteFunc(all, func(q Policy) bool { return q.Number == n }), of)
	}
	next := &Policies{base: p, body: body, kept: kept, position: position}
	next.order, _ = ParseOrder(body)
	if of := NewPolicies(all); of != nil {
		next.all = of.all
	}
	return next
}

// Revision rises with each swap of databases, and with each change of a policy from which keys begin to move. It is the
// same on all nodes that know of the same ones.
func (p *Policies) Revision() uint64 {
	revision := p.Swaps()
	for _, of := range p.All() {
		revision += of.Flips
	}
	return revision
}

// MovedOnly reports whether policies differ from earlier ones in nothing but how far keys have moved.
func (p *Policies) MovedOnly(before *Policies) bool {
	base, body := p.root()
	baseBefore, bodyBefore := before.root()
	return base == baseBefore && body == bodyBefore && p.Revision() == before.Revision()
}

func (p *Policies) root() (*Policies, string) {
	if p == nil || p.body == "" && p.kept == nil {
		return p, ""
	}
	return p.base, p.body
}

// Position returns the position of a stored key; 0 while nothing moves.
func (p *Policies) Position(stored []byte) uint64 {
	if p == nil || p.position == nil {
		return 0
	}
	head, name := Split(stored)
	var short [64]byte
	return p.position(AppendKey(short[:0], Head(head.Number()), name))
}

// HeadFor returns the head that a key of a database has.
func (p *Policies) HeadFor(n int, name []byte) Head {
	of := p.OfDatabase(n)
	if !of.Moving {
		return of.Head()
	}
	head, _ := of.headAt(p.Position(AppendKey(nil, Head(of.Number), name)))
	return head
}

// Serves reports whether a stored key is the one of two copies that counts, as long as keys move.
func (p *Policies) Serves(stored []byte) bool {
	if p == nil {
		return true
	}
	of := p.Of(HeadOf(stored).Number())
	if !of.Moving {
		return true
	}
	head, _ := of.headAt(p.Position(stored))
	return head == HeadOf(stored)
}

// AnyMoves reports whether the keys of some database move.
func (p *Policies) AnyMoves() bool {
	return slices.ContainsFunc(p.All(), func(of Policy) bool { return of.Moving })
}

// Steps tells all steps of data from each other, or with a number below 0 those of all data.
func (p *Policies) Steps(data int) (sum uint64) {
	for _, of := range p.All() {
		if data < 0 || of.Number == data {
			sum += of.Step
		}
	}
	return sum
}

// Divide reports whether keys of one tag, which lie together in a database that is spread, do not for now: a part of those
// with the tag has moved.
func (p *Policies) Divide(stored [][]byte) bool {
	heads := make(map[uint64]Head, len(stored))
	for _, key := range stored {
		head := HeadOf(key)
		if !p.Of(head.Number()).Moving {
			continue
		}
		group := uint64(head.Number())<<32 | p.Position(key)>>20
		if other, known := heads[group]; known && other != head {
			return true
		}
		heads[group] = head
	}
	return false
}
