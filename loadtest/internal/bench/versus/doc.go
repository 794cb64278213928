// Command versus compares Ringside with Redis on one machine.
//
// It builds and starts Ringside, starts redis-server where that is installed,
// drives both in turn with the same load and prints the ratios beside those that
// Ringside is meant to reach:
//
//	go run ./loadtest/internal/bench/versus            # or: go tool task bench
//	go run ./loadtest/internal/bench/versus --quick    # two minutes, to see that it works
//	go run ./loadtest/internal/bench/versus --only 'GET .* P16' --rounds 5
//
//	go run ./loadtest/internal/bench/versus --json a.json       # keep the results
//	go run ./loadtest/internal/bench/versus diff a.json b.json  # and compare those of two commits
//
//	go run ./loadtest/internal/bench/versus --forward  # a Ringside proxy and nutcracker before backends
//	go run ./loadtest/internal/bench/versus --cores    # Ringside with 1, 2, 4, … cores
//	go run ./loadtest/internal/bench/versus --large 10000000 # collections of ten million elements
//
// The load comes from redis-benchmark where it is installed, otherwise from a
// small driver of its own, so that Go alone is enough to measure Ringside.
//
// What keeps the comparison fair, since the client and both servers share the
// machine: the two are measured in alternating rounds and the ratio is taken
// within each round; the next measurement waits until the server before it has
// finished what it left for the background (compactions, rewrites of the AOF);
// and the CPU that this took counts for that server's workload. Both serve from
// fresh directories, whose keyspace is filled and read through once before
// anything is measured.
//
// The numbers never change the exit status; a server or load that failed does.
//
// Begin with workloads.json, the table of what is measured, and workload.go, which explains it; then
// bout, which measures one pairing of contenders, and runLarge, for --large.
package main
