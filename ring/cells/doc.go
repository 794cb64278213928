// Package cells makes a placement strategy of any algorithm that can list the nodes for a hash.
//
// The circle of tokens is cut into 16,384 cells, a cell being the top 14 bits of a token: under
// the hash slot it is a slot of Redis Cluster. An [Algorithm] lists the nodes for the hash of a cell,
// and [Strategy] makes ranges of cells with the same nodes. So an algorithm needs to know neither
// tokens nor ranges, and a file of some 40 lines is a strategy: see the example.
//
// The package owns the cells, the known algorithms, each in a file of its own with its source, and
// deterministic arithmetic for them. It does no I/O, starts no goroutine and logs nothing.
//
// Read [Algorithm] first, then rendezvous.go.
package cells
