package command

import "sync/atomic"

// Limits bound what commands may build and reply.
type Limits struct {
	MaxKey       atomic.Int64 // bytes of a key, and of a field or member
	MaxValue     atomic.Int64 // bytes of a string
	Packed       atomic.Int64 // bytes of a collection up to which it is one entry
	Chunks       atomic.Bool  // lists may have chunks: all nodes know them
	Sparse       atomic.Int64 // bytes of a HyperLogLog up to which it is sparse
	OutputBuffer atomic.Int64 // bytes of replies that wait for one client
	DumpVersion  atomic.Int64 // the RDB version that DUMP writes; 0: the oldest that can hold the value
	Encodings    Encodings
	CountsUses   atomic.Bool // how often keys are used is counted, for the eviction of those that are used least
}

// Encodings are up to which sizes Redis keeps collections in a compact form. Here they only decide
// what OBJECT ENCODING tells of what is written from then on, except StreamNode: XTRIM and XADD with ~
// remove entries of a stream by so many.
type Encodings struct {
	HashEntries, HashValue atomic.Int64 // fields; bytes of a field and of a value
	ListSize               atomic.Int64 // elements, or, below 0, bytes: -1 for 4 KiB to -5 for 64 KiB
	SetIntegers            atomic.Int64 // members, all of them integers
	SetEntries, SetValue   atomic.Int64 // members of other sets; bytes of a member
	ZSetEntries, ZSetValue atomic.Int64 // members; bytes of a member
	StreamNode             atomic.Int64 // entries
}
