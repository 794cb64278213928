package zones

import (
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/ring"
)

// prefix is what the names of zones begin with.
const prefix = "zone/"

// Of returns the zone of a node, empty if it has none.
func Of(values *agreed.Values, node string) string { return values.Of(prefix + node).Body }

// Member returns a member with its zone.
func Member(values *agreed.Values, m ring.Member) ring.Member {
	if values == nil {
		return m
	}
	// A value that names no zone, from a build with other rules, must not keep strategies from placing.
	if zone := Of(values, m.ID); ring.ValidateZone(zone) == nil {
		m.Zone = zone
	}
	return m
}

// Any reports whether a node has a zone.
func Any(values *agreed.Values) bool { return len(values.Under(prefix)) > 0 }

// Changed reports whether a change is one of a zone.
func Changed(changes []agreed.Change) bool {
	return slices.ContainsFunc(changes, func(c agreed.Change) bool { return strings.HasPrefix(c.Name, prefix) })
}

// Set returns the change that gives a node a zone, or none if that is empty. There is nothing to change if ok
// is false.
func Set(values *agreed.Values, node, zone string) (c agreed.Change, ok bool) {
	was := values.Of(prefix + node)
	c = agreed.Change{Name: was.Name, Body: zone, Remove: zone == "", Was: was.Version}
	return c, was.Body != zone
}

// Without returns the values without the zone of a node that is gone.
func Without(values *agreed.Values, node string) *agreed.Values {
	c, ok := Set(values, node, "")
	if !ok {
		return values
	}
	// A removal cannot fail: there is room, and the version is the present one.
	left, _ := values.With([]agreed.Change{c}, 0)
	return left
}
