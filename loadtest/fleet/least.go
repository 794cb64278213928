package fleet

// A Holding is what a node has: primaries and backups.
type Holding struct{ Keys, Bytes int64 }

// Holdings are those of all nodes, by id.
type Holdings map[string]Holding

// Moved is what nodes have handed over.
type Moved struct{ Keys, Bytes, Handoffs int64 }

// Least is what has to move at the least from before to an even distribution over the nodes
// that are there afterwards, weights being their shares, with so many copies of everything.
// total is what there is of primaries.
func Least(before Holdings, weights map[string]float64, copies int, total Holding) Holding {
	return Holding{}
}
