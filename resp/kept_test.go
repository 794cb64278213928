package resp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// TestKeptScriptsAndEventsFollowClientMemory bounds both at a quarter of a small client-memory.
func TestKeptScriptsAndEventsFollowClientMemory(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "CONFIG", "SET", "client-memory", "4194304")
	const most = 1 << 20
	for i := range 100 {
		o.Want(":1", "EVAL", "return 1 -- "+fmt.Sprint(i)+strings.Repeat("x", 10<<10), "0")
	}
	kept, n, evicted := srv.scripts.Kept()
	if n > most || n < most/2 {
		t.Errorf("scripts of %d bytes are kept, at most %d are to be", n, most)
	}
	if got := o.InfoField("evicted_scripts", "INFO", "stats"); got != int(evicted) || int(evicted)+kept != 100 || evicted == 0 {
		t.Errorf("of 100 scripts %d are kept, %d are evicted, and INFO says %d", kept, evicted, got)
	}
	o.Want("+OK", "CONFIG", "RESETSTAT")
	if got := o.InfoField("evicted_scripts", "INFO", "stats"); got != 0 {
		t.Errorf("%d scripts are evicted after RESETSTAT", got)
	}
	if n := srv.keptMost(); n != most {
		t.Errorf("%d bytes of events may wait for a node, want %d", n, most)
	}
}
