package zones

import "github.com/ringside-kv/ringside/internal/agreed"

// crowds counts nodes by zone. A node without a zone is in one of its own.
type crowds struct {
	values *agreed.Values
	zones  map[string]int
}

func crowdsOf[T any](values *agreed.Values, nodes []T, id func(T) string) crowds {
	c := crowds{values, make(map[string]int)}
	for _, n := range nodes {
		if zone := Of(values, id(n)); zone != "" {
			c.zones[zone]++
		}
	}
	return c
}

// of is how many of the nodes are in the zone of one more.
func (c crowds) of(node string) int { return c.zones[Of(c.values, node)] }

// Roomiest returns which of several nodes is in the zone with the fewest of others; the first of equals. There
// must be one.
func Roomiest[T any](values *agreed.Values, nodes, others []T, id func(T) string) int {
	best, crowds := 0, crowdsOf(values, others, id)
	for i, n := range nodes {
		if crowds.of(id(n)) < crowds.of(id(nodes[best])) {
			best = i
		}
	}
	return best
}

// Uneven returns which of some nodes, but for one that stays, should leave its place to which of others,
// since the zone of the first then still has at least as many as that of the second; -1 if there is none.
func Uneven[T any](values *agreed.Values, nodes, others []T, id func(T) string, stays string) (from, to int) {
	crowds := crowdsOf(values, nodes, id)
	if len(crowds.zones) == 0 || len(others) == 0 {
		return -1, -1
	}
	from, to = -1, Roomiest(values, others, nodes, id)
	most := crowds.of(id(others[to])) + 1
	for i, n := range nodes {
		if c := crowds.of(id(n)); c > most && id(n) != stays {
			from, most = i, c
		}
	}
	return from, to
}
