// Package placement describes placements to clients: as the slots of Redis Cluster (slots.go), and as
// messages about what has changed (changes.go).
package placement
