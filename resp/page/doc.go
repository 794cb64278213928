// Package page serves the live page of a cluster, which a browser shows, and the JSON that it is made of: the
// report of package status, the ranges of the placement, and the last hour of the node's own figures. It
// changes nothing but by orders, which are RING commands of a user who has a password: see orders.go.
package page
