package resp

import "sync/atomic"

// Limits bound what commands may build and reply.
type Limits struct {
	maxKey       atomic.Int64 // bytes of a key, and of a field or member
	maxValue     atomic.Int64 // bytes of a string
	packed       atomic.Int64 // bytes of a collection up to which it is one entry
	sparse       atomic.Int64 // bytes of a HyperLogLog up to which it is sparse
	outputBuffer atomic.Int64 // bytes of replies that wait for one client
}
