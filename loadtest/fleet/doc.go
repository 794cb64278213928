// Package fleet runs the clusters of a load test, changes them while it goes on, and watches
// what their nodes do.
//
// It owns the nodes, in this process or each in one of its own, their temporary directories,
// which node is killed, and what can be seen of a cluster from outside: what moves, who holds
// how much, who takes which processor. It does not own the load, nor the script.
//
// Begin with [Config] and [Start]; [Fleet.Join], [Fleet.Leave], [Fleet.Kill] and
// [Fleet.Restart] are the events, [Fleet.Balanced] waits for what follows. A [Watch] takes
// samples; it needs no Fleet, so that a cluster that runs elsewhere can be watched, too.
// [Least] is what an event has to move.
package fleet
