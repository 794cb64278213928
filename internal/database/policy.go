package database

import (
	"slices"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// A Policy says where the keys of one database lie, or, after a swap, those of the data that it showed first.
type Policy struct {
	Number int
	// Together reports that all keys lie at one token, that of the spot; else they are spread.
	Together bool
	Spot     int
	// Change is not 0 while the policy is about to change: requests for the keys wait until it is 0 again.
	// It tells one change from all others.
	Change uint64
	// The others are of a [Kept] policy; else 0. Moving tells that there is a Move.
	Flips, Step uint64
	Moving      bool
	Move        Move
}

// Policies are those of all data whose policy is not the default, by its numbers, and the order in which the
// databases show data. They never change. nil means that there are none, and that each database shows the
// data of its number.
type Policies struct {
	all   []Policy
	order *Order
	// base, body and kept are what [Policies.Agreed] has made these of.
	base     *Policies
	body     string
	kept     []agreed.Value
	position Position // nil: no key has moved yet
}

// NewPolicies returns policies, of which no two have the same number; nil if all are the default.
func NewPolicies(all []Policy) *Policies {
	all = slices.DeleteFunc(slices.Clone(all), func(p Policy) bool { return p == Policy{Number: p.Number} })
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Policy) int { return a.Number - b.Number })
	return &Policies{all: all}
}

// All returns the policies that are not the default. The caller must not change them.
func (p *Policies) All() []Policy {
	if p == nil {
		return nil
	}
	return p.all
}

// Ordered returns the policies with the order that an agreed value has in its body; before, if that is the
// same. What cannot be read, as of a later version, is no order.
func (p *Policies) Ordered(body string, before *Policies) *Policies {
	switch {
	case body == "":
		return p
	case before != nil && before.base == p && before.body == body && before.kept == nil:
		return before
	}
	order, _ := ParseOrder(body)
	return &Policies{all: p.All(), order: order, base: p, body: body}
}

// Order returns the order in which the databases show data.
func (p *Policies) Order() *Order {
	if p == nil {
		return nil
	}
	return p.order
}

// Data returns the data that a database shows.
func (p *Policies) Data(n int) int { return p.Order().Shown(n).Data }

// Number returns the database that shows the data of a head.
func (p *Policies) Number(head Head) int { return p.Order().Number(head) }

// Swaps returns how many swaps of databases there have been.
func (p *Policies) Swaps() uint64 { return p.Order().Swaps() }

// Swapping reports whether two databases are being swapped.
func (p *Policies) Swapping() bool { return p.Order().Change() != 0 }

// Renewed returns the head by these policies of a stored key by earlier or later ones: that of the data that
// the same database shows. swapped tells that the database was swapped in between.
func (p *Policies) Renewed(stored []byte, by *Policies) (now Head, swapped bool) {
	head, name := Split(stored)
	return p.HeadFor(by.Number(head), name), p.Swapped(head, by)
}

// Swapped reports whether the database of a head by earlier policies was swapped since.
func (p *Policies) Swapped(head Head, by *Policies) bool {
	n := by.Number(head)
	return p.Order().Shown(n) != by.Order().Shown(n)
}

// OfDatabase returns the policy of the data that a database shows.
func (p *Policies) OfDatabase(n int) Policy { return p.Of(p.Data(n)) }

// Of returns the policy of data.
func (p *Policies) Of(n int) Policy {
	if p != nil {
		for i := range p.all {
			if p.all[i].Number == n {
				return p.all[i]
			}
		}
	}
	return Policy{Number: n}
}

// With returns the policies with one of them replaced.
func (p *Policies) With(policy Policy) *Policies {
	all := slices.DeleteFunc(slices.Clone(p.All()), func(q Policy) bool { return q.Number == policy.Number })
	return NewPolicies(append(all, policy))
}

// Head returns the head that the keys of a database have; while they move, that of the new places.
func (p *Policies) Head(n int) Head { return p.OfDatabase(n).Head() }

// Head returns the head of the database's keys.
func (p Policy) Head() Head {
	if p.Together {
		return TogetherHead(p.Number, p.Spot)
	}
	return Head(p.Number)
}

// String returns the name of the policy.
func (p Policy) String() string {
	if p.Together {
		return "together"
	}
	return "spread"
}

// Valid reports whether number and spot are within their limits.
func (p Policy) Valid() bool {
	return p.Number >= 0 && p.Number < Limit && p.Spot >= 0 && p.Spot < Spots && (p.Together || p.Spot == 0)
}

// A Form is that of a stored key, compared with the policy of its data.
type Form int8

const (
	Present Form = iota // as the policy asks
	Changed             // of another policy
	Held                // the policy changes, the key moves, or the database is being swapped
)

// FormOf returns the form of a stored key.
func (p *Policies) FormOf(stored []byte) Form {
	if p == nil && !MayHaveMark(stored) {
		return Present
	}
	head := HeadOf(stored)
	if p != nil && p.position != nil && p.Of(head.Number()).Moving {
		return p.FormAt(head, p.Position(stored))
	}
	return p.FormAt(head, 0)
}

// FormAt returns the form of stored keys with a head, at a position.
func (p *Policies) FormAt(head Head, at uint64) Form {
	policy := p.Of(head.Number())
	now, waits := policy.headAt(at)
	switch {
	case waits, policy.Change != 0, p.Order().holds(head):
		return Held
	case now != head:
		return Changed
	}
	return Present
}
