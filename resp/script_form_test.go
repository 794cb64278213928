package resp

import (
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
)

// A script gets the replies that clients get, and its commands have only the words that clients may send, also where
// a node runs it for another node or as part of a transaction.
func TestForwardedScriptHasFormsOfClients(t *testing.T) {
	_, lone := serveTest(t, nil)
	one := routedTest(t, 1)
	whole, err := ring.NewPlacement([]ring.Row{{Primary: "n0"}})
	if err != nil {
		t.Fatal(err)
	}
	one.placeAll(whole)
	for name, addr := range map[string]string{"lone": lone, "cluster of one": one.addrs[0]} {
		t.Run(name, func(t *testing.T) {
			o, sub := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
			sub.Do("PSUBSCRIBE", "p*")
			o.Want("+OK", "SET", "k", "v")
			o.Want("+OK", "MULTI")
			o.Want("+QUEUED", "RANDOMKEY") // it cuts the transaction, so the parts are run as another node's
			for _, script := range []string{
				"return redis.call('randomkey')",
				"return redis.call('dbsize')",
				"return redis.call('keys', '*')",
				"return redis.call('scan', 0)",
				"return redis.call('scan', 0, 'DATABASE', 0)",
				"return redis.call('scan', 0, 'LAYOUT', 0, 0)",
				"return redis.call('pubsub', 'numpat')",
			} {
				o.Want("+QUEUED", "EVAL", script, "0")
			}
			got := o.Do("EXEC")
			want := []string{"$k", "$k", ":1", "*($k)", "*($0 *($k))", "-", "-", ":1"}
			if len(got.Elems) != len(want) {
				t.Fatalf("EXEC: %s", got)
			}
			for i, w := range want {
				if s := got.Elems[i].String(); s != w && (w != "-" || s[0] != '-') {
					t.Errorf("reply %d: %s, want %s", i, s, w)
				}
			}
		})
	}
	two := routedTest(t, 2)
	if whole, err = ring.NewPlacement([]ring.Row{{Primary: "n1"}}); err != nil {
		t.Fatal(err)
	}
	two.placeAll(whole)
	sub := resptest.Dial(t, two.addrs[1], 2)
	sub.Do("PSUBSCRIBE", "p*")
	resptest.Dial(t, two.addrs[0], 2).Want(":1", "EVAL", "return redis.call('pubsub', 'numpat')", "1", "k")
}
