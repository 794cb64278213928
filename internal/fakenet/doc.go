// Package fakenet is a network in memory, for tests of nodes in virtual time
// (testing/synctest): streams and packets take a while, packets get lost, hosts are cut
// off from each other, and after a while that ends the streams between them, as TCP does
// for a peer that acknowledges nothing.
//
// Begin with [Net]; a [Host] is what one node sees of it, and fits wherever a node takes
// a network. Nothing here is for production.
package fakenet
