// Package placing compares the strategy that a node asks for with the one of its cluster.
package placing
