package ring

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// MaxZoneLen is the length in bytes of the longest name of a zone.
const MaxZoneLen = 64

// ValidateZone checks the name of a zone; the empty name is that of none. Its error is [ErrZone].
func ValidateZone(name string) error {
	if len(name) > MaxZoneLen {
		return fmt.Errorf("%w: %.20q… has %d bytes, %d are allowed", ErrZone, name, len(name), MaxZoneLen)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("%w: %q is not UTF-8", ErrZone, name)
	}
	for _, r := range name {
		if r == ',' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return fmt.Errorf("%w: %q contains %q; commas, spaces and control characters are not allowed", ErrZone, name, r)
		}
	}
	return nil
}

// Zones are the zones of members: sets of nodes that may fail together. A member that names none is a zone
// of its own. nil stands for members of which no two are in one zone, so that any nodes may hold the copies
// of a range. Zones never change.
type Zones struct {
	numbers map[string]int32 // by the member's id
	sizes   []int            // of each zone, in members
}

// ZonesOf returns the zones of members, nil if no two are in one zone.
func ZonesOf(members []Member) *Zones {
	z := &Zones{numbers: make(map[string]int32, len(members))}
	named := make(map[string]int32)
	for i := range members {
		m := &members[i]
		number, known := named[m.Zone]
		if !known || m.Zone == "" {
			number = int32(len(z.sizes))
			z.sizes = append(z.sizes, 0)
			named[m.Zone] = number
		}
		z.sizes[number]++
		z.numbers[m.ID] = number
	}
	if len(z.sizes) == len(members) {
		return nil
	}
	return z
}

// Of returns the number of a member's zone. A node that is no member is in none: -1.
func (z *Zones) Of(node string) int32 {
	if number, ok := z.numbers[node]; ok {
		return number
	}
	return -1
}

// Most is how many of the copies of a range may be in one zone: 1 if there are enough zones, otherwise as
// few as the sizes of the zones allow.
func (z *Zones) Most(copies int) int {
	for most := 1; ; most++ {
		room := 0
		for _, size := range z.sizes {
			room += min(size, most)
		}
		if room >= copies || most >= copies {
			return most
		}
	}
}

// Share reports whether two nodes are in one zone.
func (z *Zones) Share(a, b string) bool {
	if z == nil {
		return false
	}
	of := z.Of(a)
	return of >= 0 && of == z.Of(b)
}

// Spread chooses n of the nodes of an order, the first of them first: no two of one zone while there are
// others, then no three, and so on. zone are the zones of the nodes, which are numbers. It appends to
// chosen, and chooses fewer only if there are fewer.
func Spread(order, zone []int32, n int, chosen []int32) []int32 {
	from := len(chosen)
	n = min(n, len(order))
	for most := 1; len(chosen)-from < n; most++ {
		for _, node := range order {
			if len(chosen)-from == n {
				break
			}
			if !slices.Contains(chosen[from:], node) && countZone(chosen[from:], zone, zone[node]) < most {
				chosen = append(chosen, node)
			}
		}
	}
	return chosen
}

// countZone counts the nodes of a zone.
func countZone(nodes, zone []int32, in int32) int {
	count := 0
	for _, node := range nodes {
		if zone[node] == in {
			count++
		}
	}
	return count
}

// zonedQuotas is [Quotas] with at most so many copies of a key in a zone. What a zone cannot have is shared
// among the members of the others.
func zonedQuotas(members []Member, copies int, z *Zones) []float64 {
	most := z.Most(copies)
	quotas := make([]float64, len(members))
	full := make([]bool, len(z.sizes))
	left := copies
	for {
		// Members of zones that are not full, then of the zone that has become so.
		var open []int
		for i := range members {
			if !full[z.Of(members[i].ID)] {
				open = append(open, i)
			}
		}
		shareOut(members, open, left, quotas)
		over := int32(-1)
		sums := make([]float64, len(z.sizes))
		for _, i := range open {
			zone := z.Of(members[i].ID)
			if sums[zone] += quotas[i]; sums[zone] > float64(most)+1e-9 && (over < 0 || sums[zone] > sums[over]) {
				over = zone
			}
		}
		if over < 0 {
			return quotas
		}
		var inside []int
		for _, i := range open {
			if z.Of(members[i].ID) == over {
				inside = append(inside, i)
			}
		}
		shareOut(members, inside, most, quotas)
		full[over] = true
		left -= most
	}
}

// shareOut gives some of the members their quotas of copies.
func shareOut(members []Member, some []int, copies int, quotas []float64) {
	sharing := make([]Member, len(some))
	for i, at := range some {
		sharing[i] = members[at]
	}
	for i, quota := range quotasOf(sharing, copies) {
		quotas[some[i]] = quota
	}
}
