// Package clustertest runs a whole cluster in a Go test: real nodes, over a network in memory, with
// their data in memory. Start with [Start].
//
//	c := clustertest.Start(t, clustertest.Config{Nodes: 3})
//	rdb := c.Client(0)
//	c.Kill(1)
//
// A cluster of three starts in about 150 ms. After [Cluster.Kill] or [Cluster.Partition], other nodes
// take over within two to four seconds, as in production. Within testing/synctest that time, and all
// other time, is virtual: keys expire and nodes fail over at once.
//
// It is for tests of applications, and for tests of this module. It opens no port.
package clustertest
