package resp

import (
	"testing"
)

func TestSetThenGet(t *testing.T) {
	_, addr := serveTest(t, nil)
	for proto := 2; proto <= 3; proto++ {
		c := dialRedis(t, addr, proto)
		if got := c.do("SET", "a", "1").String(); got != `+OK` {
			t.Errorf("SET: %s", got)
		}
		if got := c.do("GET", "a").String(); got != `$1` {
			t.Errorf("GET: %s", got)
		}
	}
}
