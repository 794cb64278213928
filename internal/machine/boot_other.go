//go:build !linux

package machine

// BootID is not known: a node that was not stopped cleanly proves nothing.
func BootID() string { return "" }
