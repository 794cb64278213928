package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

func TestRingSlowlogTellsWhereTheTimeWent(t *testing.T) {
	_, addr := serveTest(t, nil)
	c := resptest.Dial(t, addr, 2)
	c.Want("*", "RING", "SLOWLOG")
	c.Want("+OK", "CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "128")
	c.Want("+OK", "SET", "k", "v")
	got := c.Do("RING", "SLOWLOG", "1")
	if len(got.Elems) != 1 || len(got.Elems[0].Elems) != 8 || got.Elems[0].Elems[3].Text != "set" || len(got.Elems[0].Elems[7].Elems) == 0 {
		t.Fatalf("%#v", got)
	}
	text := c.Do("RING", "EXPLAIN", "k").Text
	if !strings.Contains(text, " SET took ") || !strings.Contains(text, "log ") || !strings.Contains(text, "backups: none\n") {
		t.Errorf("RING EXPLAIN: %s", text)
	}
	c.Want("+OK", "CONFIG", "SET", "slowlog-log-slower-than", "-1")
	before := len(c.Do("RING", "SLOWLOG", "100").Elems)
	c.Want("+OK", "SET", "k", "v")
	if after := len(c.Do("RING", "SLOWLOG", "100").Elems); after > before+1 { // CONFIG SET itself may be one
		t.Errorf("%d entries, then %d", before, after)
	}
	for _, line := range []string{"RING SLOWLOG x", "RING SLOWLOG -1", "RING SLOWLOG 1 x", "RING SLOWLOG 1 4294967296", "RING SLOWLOG 1 2 3", "RING EXPLAIN", "RING EXPLAIN a b"} {
		if got := c.Do(strings.Fields(line)...); got.Kind != '-' {
			t.Errorf("%s: %v", line, got)
		}
	}
}
