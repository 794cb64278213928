package resp

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// hangs sends a request and tells that no reply comes, for a while.
func (o *oracle) hangs(args ...string) {
	o.t.Helper()
	if _, err := o.c.Write(encodeCommands([][]string{args})); err != nil {
		o.t.Fatal(err)
	}
	_ = o.c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	if _, err := o.r.Peek(1); err == nil {
		o.t.Errorf("%v has a reply", args)
	}
	_ = o.c.SetReadDeadline(time.Time{})
}

// What is held too long is answered: a write may be lost, a read may be asked again.
func TestRepliesThatAreHeldTooLong(t *testing.T) {
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
			o, reader := dialRedis(t, r.addrs[node], 2), dialRedis(t, r.addrs[node], 2)
			o.want("-"+command.MsgHeldWrite, "SET", "a", "1")
			reader.want("-"+command.MsgHeld, "GET", "a")
			if _, err := o.c.Write([]byte("GET b\r\nSET a 2\r\nGET a\r\n")); err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{"-" + command.MsgHeld, "-" + command.MsgHeldWrite, "-" + command.MsgHeld} {
				if v, err := readValue(o.r); err != nil || v.String() != want {
					t.Errorf("reply %d: %s, %v; want %s", i, v, err, want)
				}
			}
			o.want("-"+command.MsgHeld, "KEYS", "*")
			tap.Acked(tap.Last())
			reader.want("$2", "GET", "a")
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
			o, strict, reader, late := dialRedis(t, r.addrs[node], 2), dialRedis(t, r.addrs[node], 2), dialRedis(t, r.addrs[node], 2), dialRedis(t, r.addrs[node], 2)
			o.want("$in-sync", "RING", "ACK")
			o.want("-"+command.MsgSyntax, "RING", "ACK", "x")
			o.want("+OK", "RING", "ACK", "Primary")
			o.want("$primary", "RING", "ACK")
			o.want("+OK", "SET", "a", "1")
			o.want("+OK", "SET", "a", "2") // tells nothing of what was there
			o.want(":0", "WAIT", "1", "50")
			first := dialRedis(t, r.addrs[node], 2) // whose first write finds what is held
			first.want("+OK", "RING", "ACK", "primary")
			first.want("+OK", "SET", "a", "2")
			reader.hangs("GET", "a")
			strict.hangs("SET", "b", "1")
			o.hangs("INCR", "a") // which tells
			tap.Acked(tap.Last())
			for _, waiting := range []struct {
				of   *oracle
				want string
			}{{reader, "$2"}, {strict, "+OK"}, {o, ":3"}} {
				if v, err := readValue(waiting.of.r); err != nil || v.String() != waiting.want {
					t.Errorf("%s, %v; want %s", v, err, waiting.want)
				}
			}
			o.want("+OK", "SET", "a", "4")
			o.hangs("WAIT", "1", "0")
			tap.Acked(tap.Last())
			if v, err := readValue(o.r); err != nil || v.String() != ":1" {
				t.Errorf("WAIT: %s, %v", v, err)
			}
			o.want("+OK", "SET", "a", "5")
			o.want("+OK", "RING", "ACK", "in-sync")
			o.want(":0", "WAIT", "1", "50") // earlier writes count
			o.hangs("SET", "a", "6")
			tap.Acked(tap.Last())
			if v, err := readValue(o.r); err != nil || v.String() != "+OK" {
				t.Errorf("SET: %s, %v", v, err)
			}
			late.want("+OK", "RING", "ACK", "primary")
			late.want("+RESET", "RESET")
			late.want("$in-sync", "RING", "ACK")
		})
	}
}
