// Command moving measures how fast a node that joins gets its share of the data, and what
// clients notice of it.
//
// It builds and starts one node, fills it, lets others join over loopback and prints the
// rate of the move; with clients that write meanwhile, also their throughput and latency
// before and during the move:
//
//	go run ./loadtest/internal/bench/moving                    # idle
//	go run ./loadtest/internal/bench/moving --clients 50       # 50 clients that write at full speed
//	go run ./loadtest/internal/bench/moving --keys 10000000 --size 16 --nodes 4
//
// With --missed it takes the last node away afterwards, changes some of the keys, starts it
// again, and prints what it took to bring its copies up to date:
//
//	go run ./loadtest/internal/bench/moving --keys 10000000 --size 100 --missed 1
//
// The clients, the nodes and their disks share the machine. The numbers never change the
// exit status; a node or a request that failed does.
//
// Begin with run, which is the whole course, watch, which sees when a move begins and ends,
// and resync.
package main
