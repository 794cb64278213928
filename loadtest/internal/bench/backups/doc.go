// Command backups measures what a backup of everything that is written costs.
//
// It builds and starts two nodes on this machine, and has clients SET keys that the first
// of them serves, in turns without a backup and with one at the other node:
//
//	go run ./loadtest/internal/bench/backups
//	go run ./loadtest/internal/bench/backups --rounds 9 --duration 10s
//
// It prints the throughput of 50 clients at pipeline 16 and the latency of one client
// that sends one request at a time, in each turn, with the processor time that either
// node and the clients take for a SET; then the medians, what a backup costs and adds. What
// it adds compares with what a round trip between the nodes adds, where the first one forwards
// the SET to the other, and with a mere round trip (PING) of a client.
//
// The clients, both nodes and their disks
// share the machine, so that a backup costs at least the processor time of its node.
//
// How much that must be, turns called bare tell: there is no backup, and beside the node a
// process applies as many writes as the clients make to a Pebble of its own, and does nothing
// else (store/bare). There is no stream, nothing is acknowledged, nobody looks at what was
// there before.
//
// Where other programs run, processor time tells more than throughput. The numbers never
// change the exit status; a node or a request that failed does.
package main
