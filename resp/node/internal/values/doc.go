// Package values gives a node's server the values that the cluster has agreed on, and keeps them for the next
// start of the node. Package agreement changes them.
package values
