package cells_test

import (
	"fmt"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
)

// modulo is the algorithm that consistent hashing replaced: the hash modulo the number of nodes.
type modulo struct{ nodes int }

// newModulo is its [cells.Algorithm].
func newModulo(nodes []cells.Node) (cells.Chooser, error) { return modulo{len(nodes)}, nil }

// Choose implements [cells.Chooser]: the backups are the nodes behind the primary.
func (m modulo) Choose(hash uint64, n int, chosen []int) []int {
	for i := range n {
		chosen = append(chosen, (int(hash%uint64(m.nodes))+i)%m.nodes)
	}
	return chosen
}

// An algorithm of your own is a function and a type with one method. With a line in the table
// algorithms of package ring/strategy, all commands of Ringside know it.
func Example() {
	strategy := cells.New("modulo", newModulo, false)
	members := []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}, {ID: "c", Weight: 1}}
	placement, err := strategy.Desired(ring.Input{Members: members, Backups: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	row := placement.Lookup(strategy.Token([]byte("user:1")))
	fmt.Println(row.Primary, row.Backups)
	// Output: a [b]
}
