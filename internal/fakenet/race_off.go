//go:build !race

package fakenet

// raced says that the race detector watches.
const raced = false
