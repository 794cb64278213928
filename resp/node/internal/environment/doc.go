// Package environment is what lies under a node: network, disk and clocks. They are the system's
// unless a test has put others there. Start with [Environment].
//
// Tests of package node set the fields by themselves. Packages that start nodes for the tests of
// others, as resp/node/clustertest, reach them through [Of].
package environment
