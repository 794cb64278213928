// Package scrub compares the ranges of a node with its backups in the background, and replaces copies
// that differ or that a disk has damaged.
//
// It owns the order in which ranges are compared (schedule.go), the comparison of two stores that are
// written to (compare.go), the questions between nodes (question.go) and the steps of a repair
// (repair.go). It owns neither the data nor the table: package replica gives it both, and removes
// damaged ranges. Read [Scrub] and [Config] first.
package scrub
