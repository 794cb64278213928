package resp

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// TestInfoKeyspaceAgreesWithDbsize compares the two on all kinds of connections.
func TestInfoKeyspaceAgreesWithDbsize(t *testing.T) {
	r := routedTest(t, 3)
	p := quarters(t, []string{"n0", "n1"}, []string{"n1", "n0"}, []string{"n1"}, []string{"n2", "n0"})
	r.placeAll(p)
	o := resptest.Dial(t, r.addrs[0], 2)
	const keys, expires = 100, 40
	for i := range keys {
		if o.Want("+OK", "SET", fmt.Sprint("k", i), "v"); i < expires {
			o.Want(":1", "EXPIRE", fmt.Sprint("k", i), "1000")
		}
	}
	info := func(o *resptest.Conn) string { return infoFields(o.Do("INFO", "keyspace").Text)["db0"] }
	total, sum := fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0,subexpiry=0", keys, expires), 0
	for i := range r.servers {
		for proto := 2; proto <= 3; proto++ {
			if got := info(resptest.Dial(t, r.addrs[i], proto)); got != total {
				t.Errorf("node %d: %s, want %s", i, got, total)
			}
		}
		redirected := r.redirecting(i)
		own, with := 0, 0
		if _, err := fmt.Sscanf(info(redirected), "keys=%d,expires=%d", &own, &with); err != nil {
			t.Error(err)
		}
		if want := redirected.Do("DBSIZE").Text; strconv.Itoa(own) != want || with >= own {
			t.Errorf("node %d alone: %d keys, %d with an expiry, want %s", i, own, with, want)
		}
		sum += own
	}
	if sum != keys {
		t.Errorf("%d keys on all nodes, want %d", sum, keys)
	}
	// Within a transaction, behind what that has written.
	o.Do("MULTI")
	o.Do("SET", "one more", "v")
	o.Do("INFO", "keyspace")
	if v := o.Do("EXEC"); len(v.Elems) != 2 || infoFields(v.Elems[1].Text)["db0"] != fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0,subexpiry=0", keys+1, expires) {
		t.Errorf("EXEC: %s", v)
	}
	// INFO answers while a node is away.
	link := r.links["n2"]
	link.Link = deadLink{wait: ErrTimeout, asks: make(chan struct{}, 1000)}
	r.links["n2"] = link
	r.place(0, p, nil)
	var own int
	_, _ = fmt.Sscan(r.redirecting(0).Do("DBSIZE").Text, &own)
	if got := info(o); infoCount(got) != own {
		t.Errorf("with a node away: %s, want the %d keys of the node", got, own)
	}
}

func infoCount(db0 string) (keys int) {
	_, _ = fmt.Sscanf(db0, "keys=%d", &keys)
	return keys
}
