// Package zones keeps the zones of nodes among the values that a cluster agrees on (package agreed): that of
// node x under the name "zone/x". What a zone is, and where copies go, package ring knows.
package zones
