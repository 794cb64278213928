package ring

// Quotas returns the fair share of each member as a part of all keys of which it
// holds a copy: copies × weight ÷ all weights, but at most 1 since a node holds at
// most one copy of a key; what is above that is shared among the others by weight.
// The shares add up to copies, which is at most the number of members. The members
// must be valid and ordered by id. Nor does a zone hold more copies of a key than
// [Zones.Most] allows.
func Quotas(members []Member, copies int) []float64 {
	if z := ZonesOf(members); z != nil {
		return zonedQuotas(members, copies, z)
	}
	return quotasOf(members, copies)
}

// quotasOf is [Quotas] without zones.
func quotasOf(members []Member, copies int) []float64 {
	quotas := make([]float64, len(members))
	full := 0
	for {
		left, weights := float64(copies-full), 0.0
		for i, m := range members {
			if quotas[i] < 1 {
				weights += m.Weight
			}
		}
		again := false
		for i, m := range members {
			if quotas[i] == 1 {
				continue
			}
			quotas[i] = left * m.Weight / weights
			if quotas[i] >= 1 {
				again = true
			}
		}
		if !again {
			return quotas
		}
		// Those that are full have one copy of all; the rest is shared anew, which
		// can only raise the others.
		full = 0
		for i := range quotas {
			if quotas[i] >= 1 {
				quotas[i] = 1
				full++
			}
		}
		if full == len(members) {
			return quotas
		}
	}
}
