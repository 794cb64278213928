package resp

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// hangs sends a request and expects that no reply comes, for a while.
func hangs(o *resptest.Conn, words ...string) {
	o.T.Helper()
	o.Send(words...)
	o.Silent(30 * time.Millisecond)
}

// What is held too long is answered: a write may be lost, a read may be asked again.
func TestRepliesThatAreHeldTooLong(t *testing.T) {
	randomtest.DrawShort(t, 4)
	for name, node := range map[string]int{"here": 0, "forwarded": 1} {
		t.Run(name, func(t *testing.T) {
			r := routedTest(t, 2)
			tap, err := r.store.Tap(func(store.Change) {}, ring.Whole)
			if err != nil {
				t.Fatal(err)
			}
			defer tap.Close(nil)
			all := []string{"n0", "n1"}
			r.placeAll(quarters(t, all, all, all, all))
			r.servers[0].settings.ForwardLimit.Store(int64(100 * time.Millisecond))
			o, reader := resptest.Dial(t, r.addrs[node], 2), resptest.Dial(t, r.addrs[node], 2)
			o.Want("-"+command.MsgHeldWrite, "SET", "a", "1")
			reader.Want("-"+command.MsgHeld, "GET", "a")
			if _, err := o.C.Write([]byte("GET b\r\nSET a 2\r\nGET a\r\n")); err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{"-" + command.MsgHeld, "-" + command.MsgHeldWrite, "-" + command.MsgHeld} {
				if v, err := o.Read(); err != nil || v.String() != want {
					t.Errorf("reply %d: %s, %v; want %s", i, v, err, want)
				}
			}
			o.Want("-"+command.MsgHeld, "KEYS", "*")
			tap.Acked(tap.Last())
			reader.Want("$2", "GET", "a")
		})
	}
}

func TestAckOfThePrimaryAlone(t *testing.T) {
	for name, node := range map[string]int{"here": 0, "forwarded": 1} {
		t.Run(name, func(t *testing.T) {
			r := routedTest(t, 2)
			tap, err := r.store.Tap(func(store.Change) {}, ring.Whole)
			if err != nil {
				t.Fatal(err)
			}
			defer tap.Close(nil)
			all := []string{"n0", "n1"}
			r.placeAll(quarters(t, all, all, all, all))
			o, strict, reader, late := resptest.Dial(t, r.addrs[node], 2), resptest.Dial(t, r.addrs[node], 2), resptest.Dial(t, r.addrs[node], 2), resptest.Dial(t, r.addrs[node], 2)
			o.Want("$in-sync", "RING", "ACK")
			o.Want("-"+command.MsgSyntax, "RING", "ACK", "x")
			o.Want("+OK", "RING", "ACK", "Primary")
			o.Want("$primary", "RING", "ACK")
			o.Want("+OK", "SET", "a", "1")
			o.Want("+OK", "SET", "a", "2") // tells nothing of what was there
			o.Want(":0", "WAIT", "1", "50")
			first := resptest.Dial(t, r.addrs[node], 2) // whose first write finds what is held
			first.Want("+OK", "RING", "ACK", "primary")
			first.Want("+OK", "SET", "a", "2")
			hangs(reader, "GET", "a")
			hangs(strict, "SET", "b", "1")
			hangs(o, "INCR", "a") // which tells
			tap.Acked(tap.Last())
			for _, waiting := range []struct {
				of   *resptest.Conn
				want string
			}{{reader, "$2"}, {strict, "+OK"}, {o, ":3"}} {
				if v, err := waiting.of.Read(); err != nil || v.String() != waiting.want {
					t.Errorf("%s, %v; want %s", v, err, waiting.want)
				}
			}
			o.Want("+OK", "SET", "a", "4")
			hangs(o, "WAIT", "1", "0")
			tap.Acked(tap.Last())
			if v, err := o.Read(); err != nil || v.String() != ":1" {
				t.Errorf("WAIT: %s, %v", v, err)
			}
			o.Want("+OK", "SET", "a", "5")
			o.Want("+OK", "RING", "ACK", "in-sync")
			o.Want(":0", "WAIT", "1", "50") // earlier writes count
			hangs(o, "SET", "a", "6")
			tap.Acked(tap.Last())
			if v, err := o.Read(); err != nil || v.String() != "+OK" {
				t.Errorf("SET: %s, %v", v, err)
			}
			late.Want("+OK", "RING", "ACK", "primary")
			late.Want("+RESET", "RESET")
			late.Want("$in-sync", "RING", "ACK")
		})
	}
}
