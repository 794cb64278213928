package resp

import (
	"strings"
	"testing"
)

// A token says what a process knows of a key: another one that serves it in the same epoch, as
// the node does that was started anew, cannot tell whether it has changed.
func TestTransactionTokenOfAnotherProcessIsRefused(t *testing.T) {
	r := routedTest(t, 2)
	watched, err := forwarded(t, r.servers[0], []string{"RING", "WATCH", "key"})
	if err != nil {
		t.Fatal(err)
	}
	token, found := strings.CutPrefix(strings.TrimSuffix(watched[0], "\r\n"), "*1\r\n$40\r\n")
	if !found {
		t.Fatalf("the token is %q", watched)
	}
	exec := []string{"RING", "EXEC", "1", "key", token, "2", "INCR", "key"}
	for i, want := range []string{"*-1\r\n", "*1\r\n:1\r\n"} {
		if got, err := forwarded(t, r.servers[1-i], exec); err != nil || got[0] != want {
			t.Errorf("node %d: %q, %v, want %q", 1-i, got, err, want)
		}
	}
}
