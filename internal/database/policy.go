package database

import "slices"

// A Policy says where the keys of one database lie.
type Policy struct {
	Number int
	// Together reports that all keys lie at one token, that of the spot; else they are spread.
	Together bool
	Spot     int
	// Change is not 0 while the policy is about to change: requests for the keys wait until it is 0 again.
	// It tells one change from all others.
	Change uint64
}

// Policies are those of all databases whose policy is not the default, by their numbers. They never
// change. nil means that there are none.
type Policies struct {
	all []Policy
}

// NewPolicies returns policies, of which no two have the same number; nil if all are the default.
func NewPolicies(all []Policy) *Policies {
	all = slices.DeleteFunc(slices.Clone(all), func(p Policy) bool { return p == Policy{Number: p.Number} })
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Policy) int { return a.Number - b.Number })
	return &Policies{all}
}

// All returns the policies that are not the default. The caller must not change them.
func (p *Policies) All() []Policy {
	if p == nil {
		return nil
	}
	return p.all
}

// Of returns the policy of a database.
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

// Head returns the head that the keys of a database have.
func (p *Policies) Head(n int) Head { return p.Of(n).Head() }

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

// A Form is that of a stored key, compared with the policy of its database.
type Form int8

const (
	Present Form = iota // as the policy asks
	Changed             // of another policy
	Held                // the policy changes
)

// FormOf returns the form of a stored key.
func (p *Policies) FormOf(stored []byte) Form {
	if p == nil && !MayHaveMark(stored) {
		return Present
	}
	return p.FormOfHead(HeadOf(stored))
}

// FormOfHead returns the form of stored keys with a head.
func (p *Policies) FormOfHead(head Head) Form {
	switch policy := p.Of(head.Number()); {
	case policy.Change != 0:
		return Held
	case policy.Head() != head:
		return Changed
	}
	return Present
}
