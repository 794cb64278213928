package resptest

import (
	"testing"
	"time"
)

// Patience bounds what a test waits for. Each takes a moment on a machine that does nothing else; with the race
// detector, and eight busy processes to a processor, a node once took more than a minute to leave.
const Patience = 3 * time.Minute

// WaitFor waits until a condition holds, and fails the test after [Patience].
func WaitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
