package command

import "sync/atomic"

// Limits bound what commands may build and reply.
type Limits struct {
	MaxKey       atomic.Int64 // bytes of a key, and of a field or member
	MaxValue     atomic.Int64 // bytes of a string
	Packed       atomic.Int64 // bytes of a collection up to which it is one entry
	Sparse       atomic.Int64 // bytes of a HyperLogLog up to which it is sparse
	OutputBuffer atomic.Int64 // bytes of replies that wait for one client
}
