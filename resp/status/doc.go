// Package status is a cluster at a glance: what there is to tell of it, as RING STATUS
// does, and the drawing of that for a terminal.
//
// It owns the form of a [Report], in Go and in JSON, how one is fetched from a node
// ([Source]), and its drawing: units, columns, the grid of buckets; and the same of a
// [Plan]. It does not own the figures, which package resp/node gathers.
//
// Read [Report] first, then draw.go.
package status
