package resp

import (
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

func TestSetThenGet(t *testing.T) {
	_, addr := serveTest(t, nil)
	for proto := 2; proto <= 3; proto++ {
		c := resptest.Dial(t, addr, proto)
		if got := c.Do("SET", "a", "1").String(); got != `+OK` {
			t.Errorf("SET: %s", got)
		}
		if got := c.Do("GET", "a").String(); got != `$1` {
			t.Errorf("GET: %s", got)
		}
	}
}
