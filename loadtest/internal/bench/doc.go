// Command bench measures clusters of Ringside on this machine:
//
//	go run ./loadtest/internal/bench backups    # the cost of a backup
//	go run ./loadtest/internal/bench moving     # the speed at which a joining node gets its share
//	go run ./loadtest/internal/bench pauses     # how long keys cannot be written when nodes end
//	go run ./loadtest/internal/bench evicting   # how long writers wait while keys are evicted
//
// Each command builds the binary and starts nodes as processes; COMMAND --help lists its flags. The
// clients, the nodes and their disks share the machine. The figures never change the exit status; a
// node or a request that fails does.
//
// backups (backups.go). Clients SET keys of the first of two nodes, in turns without and with a
// backup at the other node. The command prints the throughput of 50 clients at pipeline 16, the
// latency of one client that sends one request at a time, and the processor time of each node and
// of the clients for a SET; then the medians and what a backup costs and adds. It compares that
// with a SET that the first node forwards to the other, and with a round trip (PING). In turns
// called bare there is no backup, and a process beside the node applies as many writes to a Pebble
// of its own (store/bare): the least that a copy can cost. Where other programs run, processor time
// tells more than throughput.
//
// moving (moving.go). One node is filled, others join. The command prints the rate of the move, and
// with --clients the throughput and latency of clients that write before and during the move. With
// --missed the last node is stopped, some keys change, the node returns, and the command prints
// what was sent to bring its copies up to date:
//
//	go run ./loadtest/internal/bench moving --keys 10000000 --size 100 --missed 1
//
// pauses (pauses.go). Clients write one key each through nodes that keep running. In a round of
//
//   - stop, the primary of the keys ends by SIGTERM, which promotes their backups, and is restarted;
//   - back, which follows, that node gets its share again;
//   - kill, the primary of the keys ends by SIGKILL;
//   - leader, the node that leads the table ends by SIGKILL, and the keys are those of which it has
//     no copy.
//
// The pause of a key is the longest time from sending a SET to its success, with all repetitions.
// The command prints the least, the median and the most over all keys and rounds, beside the same of
// an equal time before the event: all share the machine. It also counts leases of other nodes that
// ended, which must not happen. A change of the table waits for disks: with a --dir in memory the
// figures show the rest.
//
// evicting (evicting.go). Clients SET keys, ten times as many as fit into maxmemory, in turns without a limit and with each
// policy. Between two measurements the data shrinks to the limit. The command prints throughput, latencies and the
// processor time of the node for a SET, then how p99 of each round compares with that without eviction.
package main
