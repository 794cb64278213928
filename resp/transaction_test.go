package resp

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// oneOwner is a placement of everything at one node.
func oneOwner(t *testing.T, node string) *ring.Placement {
	t.Helper()
	p, err := ring.NewPlacement([]ring.Row{{Range: ring.Whole, Primary: node, Epoch: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
