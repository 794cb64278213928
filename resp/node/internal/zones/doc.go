// Package zones has the cluster agree on the zone that a node was started with.
package zones
