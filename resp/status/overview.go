package status

import "context"

// An Overview knows the cluster and this node's part in it. Its methods are called by
// connections' goroutines, several at once.
type Overview interface {
	// Status asks all nodes how they are. One that does not answer in time is in the
	// report all the same. ctx is as that of an order of an operator.
	Status(ctx context.Context) (*Report, error)
	// Moves returns at once.
	Moves() Moves
}
