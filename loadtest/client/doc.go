// Package client connects the clients of a load test and sends their operations.
//
// It owns connections, routes ([Route]), the closed and the open loop, the replies, and the
// measurement of the generator's own processor time. It does not own the choice of operations
// (package workload), the judgement of replies (package check) or the figures (package result).
//
// Read [Config] and [Open] first, then worker.go for the loop of one client.
package client
