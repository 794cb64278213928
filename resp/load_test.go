package resp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
)

// cellOf is the cell of a key.
func cellOf(key string) ring.Range {
	t := buckets.Token([]byte(key)) &^ (1<<18 - 1)
	return ring.Range{Start: t, End: t + 1<<18}
}

func TestLoadCountsRequestsAndBytesOfKeys(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		srv, dial := serveBubble(t, func(*Config) {})
		c := dial()
		o := &resptest.Conn{Reader: resptest.NewReader(c), T: t, C: c}
		value := strings.Repeat("v", 1000)
		const forever = 1e9 // seconds: the rates then remember nothing from before the last tick
		for i, tt := range []struct {
			args  []string
			ops   float64 // of key a
			bytes float64 // within a tenth
		}{
			{[]string{"SET", "a", value}, 1, 1030},
			{[]string{"GET", "a"}, 1, 1030},
			{[]string{"MGET", "a", "b"}, 1, 535}, // b has the other half
			{[]string{"PING"}, 0, 0},
			{[]string{"GET", "b"}, 0, 0},
			{[]string{"SETRANGE", "a", "300000", "x"}, 1, 53},
			{[]string{"GET", "a"}, 1, 300025}, // too long for the replies of a unit: it leaves in parts
			{[]string{"EVAL", "return redis.call('strlen', KEYS[1])", "1", "a"}, 1, 88},
			{[]string{"LPUSH", "a", "x"}, 1, 98}, // of the wrong type, and work all the same
			{[]string{"GET", "a", "surplus"}, 0, 0},
		} {
			time.Sleep(time.Second) // past a tick of the server: the next is as far away
			srv.meter.Tick(forever)
			o.Do(tt.args...)
			srv.meter.Tick(forever)
			rate := srv.meter.Rate(cellOf("a"))
			ops, bytes := rate.Ops*forever, rate.Bytes*forever
			if math.Abs(ops-tt.ops) > .01 || math.Abs(bytes-tt.bytes) > tt.bytes/10 {
				t.Errorf("%d, %.60q: %.2f operations and %.0f bytes, want %.0f and about %.0f", i, tt.args, ops, bytes, tt.ops, tt.bytes)
			}
		}
	})
}

func TestLoadIsCountedAtTheOwnerOfForwardedRequests(t *testing.T) {
	r, keys := halves(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	for _, key := range keys {
		o.Want("+OK", "SET", key, "v")
	}
	for i, s := range r.servers {
		s.meter.Tick(1)
		if own := s.meter.Rate(cellOf(keys[i])); own.Ops == 0 {
			t.Errorf("node %d has counted nothing", i)
		}
		if other := s.meter.Rate(cellOf(keys[1-i])); other.Ops != 0 {
			t.Errorf("node %d has counted an operation of the other one", i)
		}
	}
}

func TestLoadlevelsShowsTheHottestRange(t *testing.T) {
	r, keys := halves(t)
	for i, s := range r.servers {
		o := resptest.Dial(t, r.addrs[i], 2)
		o.Want("+OK", "SET", keys[i], "v")
		s.meter.Tick(1)
		want := s.routes.Load().Placement.Lookup(cellOf(keys[i]).Start).Range.String()
		if text := fmt.Sprint(o.Do("LOADLEVELS")); !strings.Contains(text, "$hottest_range $"+want) {
			t.Errorf("%s, want the range %s", text, want)
		}
	}
}

func TestLoadlevelsListsLoadByRange(t *testing.T) {
	r, keys := halves(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "SET", keys[0], "v")
	r.servers[0].meter.Tick(1e9)
	whole := r.servers[0].routes.Load().Placement.Lookup(cellOf(keys[0]).Start).Range
	o.Want("*(*($"+whole.String()+" $0.000 $0.0 :1 :"+strconv.Itoa(len(keys[0])+1)+"))", "LOADLEVELS", "RANGES")
	reply := o.Do("LOADLEVELS", "RANGES", "8192")
	if len(reply.Elems) != 4096 {
		t.Fatalf("%d pieces", len(reply.Elems))
	}
	for _, piece := range reply.Elems {
		of, err := ring.ParseRange(piece.Elems[0].Text)
		if err != nil || of.Len() != 1<<19 {
			t.Fatal(piece)
		}
		if has := piece.Elems[3].String() == ":1"; has != of.Contains(cellOf(keys[0]).Start) {
			t.Errorf("%v", piece)
		}
	}
	for _, args := range [][]string{{"LEVELS"}, {"RANGES", "1", "2"}} {
		o.Want("-ERR syntax error", append([]string{"LOADLEVELS"}, args...)...)
	}
	for _, n := range []string{"0", "16385", "x", "-1"} {
		o.Want("-ERR the number of pieces must be within 1..16384", "LOADLEVELS", "RANGES", n)
	}
}
