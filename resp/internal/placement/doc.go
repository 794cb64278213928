// Package placement describes placements to clients: as the slots of Redis Cluster (slots.go), in the
// replies of CLUSTER (cluster.go), and as messages about what has changed (changes.go), which [Watchers]
// pushes to clients. copies.go counts backups.
package placement
