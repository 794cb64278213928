// Package loadtest runs a load test: the same script and the same clients for each contestant,
// round by round. A contestant is a cluster that package cluster starts, or a server that runs
// already.
//
// It owns the script ([ParseScript]) and the course of a run. Package client sends the load, check
// judges the replies, result holds the figures, report shows them.
//
// Read [Config] and [Run] first, then play.go for one run.
package loadtest
