// Package typegate keeps the first value of a type that earlier builds do not know from being written before all nodes
// of the cluster know such types. The nodes agree on that once; from then on a node of an earlier build is not admitted.
package typegate
