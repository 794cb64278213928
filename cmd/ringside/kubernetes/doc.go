// Package kubernetes asks the Kubernetes API, from within a pod, what a node must know of its
// StatefulSet before it stops.
package kubernetes
