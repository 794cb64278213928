package resp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/orders"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/vnode"
	"github.com/ringside-kv/ringside/store"
	"github.com/uber-go/tally/v4"
)

// four are the buckets of mask 0003, of two nodes.
func four(t *testing.T, epoch uint64, primaries ...string) *ring.Placement {
	t.Helper()
	rows := make([]ring.Row, 4)
	for i := range rows {
		rows[i] = ring.Row{Range: ring.Range{Start: ring.Token(i) << 30, End: ring.Token(i+1) << 30}, Epoch: epoch, Primary: primaries[i]}
		if primaries[i] == "n0" {
			rows[i].Backups = []string{"n1"}
		} else {
			rows[i].Learners = []string{"n0"}
		}
	}
	p, err := ring.NewPlacement(rows)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// noLoad is what LOADLEVELS shows of the load on an idle node.
const noLoad = " $operations_per_second :0 $bytes_per_second :0 $hottest_operations_per_second :0 $hottest_bytes_per_second :0 $hottest_range $"

func TestHashmaskListsBuckets(t *testing.T) {
	r := routedTest(t, 2)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("-"+admin.MsgNoPlacement, "HASHMASK")
	o.Want("-"+admin.MsgNoPlacement, "RING", "PLACEMENT")
	o.Want("*($primaries :1 $backups :0 $pending :0 $pending_keys :0 $pending_bytes :0 $pending_items :0"+noLoad+")", "LOADLEVELS")
	r.placeAll(four(t, 3, "n0", "n1", "n1", "n0"))
	// In the order of their ids; the ranges' order is that of the ids' bits reversed.
	o.Want("*($0003 *(*($0000/0003 $n0 *($n1) :3) *($0001/0003 $n1 * :3) *($0002/0003 $n1 * :3) *($0003/0003 $n0 *($n1) :3)))", "HASHMASK")
	o.Want("*($primaries :2 $backups :0 $pending :2 $pending_keys :0 $pending_bytes :0 $pending_items :0"+noLoad+")", "LOADLEVELS")
	resptest.Dial(t, r.addrs[1], 3).Want("%($primaries :2 $backups :2 $pending :2 $pending_keys :0 $pending_bytes :0 $pending_items :0"+noLoad+")", "LOADLEVELS")
	p, err := ring.NewPlacement([]ring.Row{{Range: ring.Range{Start: 5, End: 5}, Primary: "n0"}})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(p)
	if got := o.Do("HASHMASK").Text; !strings.Contains(got, "RING PLACEMENT") {
		t.Errorf("HASHMASK of a ring: %s", got)
	}
}

func TestHashmaskSubscribePushesChanges(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(four(t, 3, "n0", "n1", "n1", "n0"))
	old, modern := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[0], 3)
	old.Want("*($subscribe $__placement__ :1)", "HASHMASK", "SUBSCRIBE")
	modern.Want("+OK", "HASHMASK", "SUBSCRIBE")
	modern.Want("+OK", "HASHMASK", "SUBSCRIBE") // once is enough
	resptest.WaitFor(t, "subscribers", func() bool { return r.servers[0].watchers.Len() == 2 })
	r.placeAll(four(t, 3, "n0", "n1", "n1", "n0")) // nothing new
	r.placeAll(four(t, 3, "n0", "n0", "n1", "n0"))
	const change = "0002/0003 epoch=3 primary=n0 backups=n1\n"
	if got := old.Next().String(); got != "*($message $__placement__ $"+change+")" {
		t.Errorf("RESP2: %q", got)
	}
	if got := modern.Next().String(); got != ">($message $__placement__ $"+change+")" {
		t.Errorf("RESP3: %q", got)
	}
	// Commands go on, and RESET ends it.
	old.Want("+PONG", "PING")
	old.Want("+RESET", "RESET")
	r.placeAll(four(t, 4, "n0", "n0", "n1", "n0"))
	if got := modern.Next(); len(got.Elems) != 3 || strings.Count(got.Elems[2].Text, "\n") != 4 {
		t.Errorf("%v", got)
	}
	old.Want("+PONG", "PING")
	modern.C.Close()
	resptest.WaitFor(t, "the end of the subscription", func() bool { return !r.servers[0].watchers.Any() })
	r.placeAll(four(t, 5, "n1", "n1", "n1", "n1"))
}

func TestRingTellsWhereThingsAre(t *testing.T) {
	r := routedTest(t, 2)
	p := four(t, 3, "n0", "n1", "n1", "n0")
	r.placeAll(p)
	o := resptest.Dial(t, r.addrs[0], 2)
	for i := range 20 {
		key := fmt.Sprint("k", i)
		row := p.Lookup(r.token([]byte(key)))
		v := o.Do("RING", "LOCATE", key)
		for field, want := range map[string]string{
			"token": fmt.Sprintf("%08x", r.token([]byte(key))), "range": row.Range.String(), "primary": row.Primary,
			"addr": r.links[row.Primary].Addr, "epoch": "3", "slot": fmt.Sprint(ring.Slot([]byte(key))),
		} {
			if got := v.Field(field); got == nil || got.Text != want {
				t.Errorf("%s of %s: %v, want %s", field, key, got, want)
			}
		}
		if n := len(v.Field("backups").Elems); n != len(row.Backups) {
			t.Errorf("%d backups", n)
		}
	}
	nodes := o.Do("RING", "NODES")
	if len(nodes.Elems) != 2 {
		t.Fatalf("nodes: %v", nodes)
	}
	for i, node := range nodes.Elems {
		if id := fmt.Sprint("n", i); node.Field("id").Text != id || node.Field("addr").Text != r.addrs[i] {
			t.Errorf("node %d: %v", i, node)
		}
	}
	var text, binary ring.Placement
	if err := text.UnmarshalText([]byte(o.Do("RING", "PLACEMENT", "TEXT").Text)); err != nil {
		t.Error(err)
	}
	if err := binary.UnmarshalBinary([]byte(o.Do("RING", "PLACEMENT").Text)); err != nil {
		t.Error(err)
	}
	if text.Len() != 4 || binary.Len() != 4 || text.Row(1).Primary != "n1" || binary.Row(3).Backups[0] != "n1" {
		t.Errorf("placements: %v, %v", text, binary)
	}
	info := infoFields(o.Do("RING", "INFO").Text)
	for name, want := range map[string]string{
		"node": "n0", "strategy": "buckets", "hash": "native", "route": "forward", "term": "1", "nodes": "2", "ranges": "4",
		"primaries": "2", "backups": "0", "pending": "2", "held": "0",
	} {
		if info[name] != want {
			t.Errorf("RING INFO: %s is %q, want %q", name, info[name], want)
		}
	}
	if _, ok := infoFields(o.Do("INFO", "ring").Text)["requests_forwarded"]; !ok {
		t.Error("INFO ring does not count forwarded requests")
	}
	for _, wrong := range [][]string{{"RING", "PLACEMENT", "x"}, {"RING", "ROUTE", "x"}, {"RING", "ROUTE", "forward", "x"}} {
		o.Want("-"+command.MsgSyntax, wrong...)
	}
	_, lone := serveTest(t, nil)
	if v := resptest.Dial(t, lone, 2).Do("RING", "LOCATE", "k"); v.Field("range").Text != "00000000-00000000" || v.Field("addr").Text != lone {
		t.Errorf("LOCATE on a lone node: %v", v)
	}
}

// orderLog is an Operator that notes what it is told, and fails with err.
type orderLog struct {
	log    []string
	err    error
	values *agreed.Values // what Agree returns
}

func (o *orderLog) note(format string, args ...any) error {
	o.log = append(o.log, fmt.Sprintf(format, args...))
	return o.err
}

func (o *orderLog) Plan(_ context.Context, c orders.Change) (string, error) {
	if c.Load {
		return "the load\n", o.note("plan load")
	}
	return "the plan\n", o.note("plan %v %v %q %v", c.Join, c.Leave, c.Strategy, c.Settings)
}
func (o *orderLog) Decisions(_ context.Context, n int) (string, error) {
	return "the decisions\n", o.note("decisions %d", n)
}
func (o *orderLog) Strategy(context.Context) (string, error) {
	return "strategy:x\r\n", o.note("strategy")
}
func (o *orderLog) BalanceLoad(_ context.Context, mode string) (string, error) {
	return "load_balancing:off\r\n", o.note("balance %q", mode)
}
func (o *orderLog) Switch(_ context.Context, name string, settings []string) error {
	return o.note("switch %s %v", name, settings)
}
func (o *orderLog) Agree(context.Context, []agreed.Change) (*agreed.Values, error) {
	return o.values, o.note("agree")
}
func (o *orderLog) Ordered(_ context.Context, user, order string) {
	_ = o.note("ordered %s %s", user, order)
}
func (o *orderLog) Leave(context.Context) error                 { return o.note("leave") }
func (o *orderLog) Forget(_ context.Context, node string) error { return o.note("forget %s", node) }
func (o *orderLog) Pause(context.Context) error                 { return o.note("pause") }
func (o *orderLog) Resume(context.Context) error {
	return cmp.Or(o.note("resume"), errors.New("resume: no leader"))
}
func (o *orderLog) Throttle(_ context.Context, n int64) error { return o.note("throttle %d", n) }
func (o *orderLog) Scrub(context.Context) error               { return o.note("scrub") }
func (o *orderLog) Backups(_ context.Context, n int) error    { return o.note("backups %d", n) }
func (o *orderLog) Backup(_ context.Context, words []string, _ <-chan struct{}) ([]byte, error) {
	return []byte("the part"), o.note("backup %q", words)
}
func (o *orderLog) Databases(_ context.Context, n int) error { return o.note("databases %d", n) }
func (o *orderLog) Policies() (PolicyChanger, error)         { return nil, o.note("policies") }
func (o *orderLog) Recreate(_ context.Context, ranges []ring.Range, from string) error {
	return o.note("recreate %v %q", ranges, from)
}
func (o *orderLog) Pin(_ context.Context, p vnode.Pins) error {
	return o.note("pin %s %d %v", p.Node, len(p.Tokens), p.Only)
}

func TestOrdersReachTheOperator(t *testing.T) {
	operator := &orderLog{}
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Operator = operator })
	_, lone := serveTest(t, nil)
	o, nobody := resptest.Dial(t, addr, 2), resptest.Dial(t, lone, 2)
	for _, test := range []struct{ line, Writer, log string }{
		{"RING PLAN JOIN a b:2 LEAVE c", "$the plan\n", `plan [{a 1 [] false } {b 2 [] false }] [c] "" []`},
		{"RING PLAN JOIN a ZONE leave b:2 zone z LEAVE c", "$the plan\n", `plan [{a 1 [] false leave} {b 2 [] false z}] [c] "" []`},
		{"RING PLAN STRATEGY ketama POINTS 8 LEAVE c", "$the plan\n", `plan [] [c] "ketama" [POINTS 8]`},
		{"RING PLAN load", "$the load\n", "plan load"},
		{"RING DECISIONS", "$the decisions\n", "decisions 20"},
		{"RING DECISIONS 3", "$the decisions\n", "decisions 3"},
		{"RING BALANCE LOAD", "$load_balancing:off\r\n", `balance ""`},
		{"RING BALANCE LOAD ON", "+OK", `balance "on"`},
		{"RING BALANCE load off", "+OK", `balance "off"`},
		{"RING BALANCE LOAD Once", "+OK", `balance "once"`},
		{"RING STRATEGY", "$strategy:x\r\n", "strategy"},
		{"RING STRATEGY vnode VNODES 8", "+OK", "switch vnode [VNODES 8]"},
		{"RING STRATEGY maglev", "+OK", "switch maglev []"},
		{"RING LEAVE", "+OK", "leave"},
		{"RING FORGET n7", "+OK", "forget n7"},
		{"RING PAUSE", "+OK", "pause"},
		{"RING RESUME", "-ERR resume: no leader", "resume"},
		{"RING THROTTLE 64mb", "+OK", "throttle 67108864"},
		{"RING BACKUPS 2", "+OK", "backups 2"},
		{"RING BACKUP READ x a 7", "$the part", `backup ["READ" "x" "a" "7"]`},
		{"RING SCRUB", "+OK", "scrub"},
		{"RING RECREATE 00000000-10000000", "+OK", `recreate [00000000-10000000] ""`},
		{"RING RECREATE all", "+OK", `recreate [] ""`},
		{"RING RECREATE ALL FROM a", "+OK", `recreate [] "a"`},
		{"RING RECREATE 00000000-10000000 20000000-30000000 FROM a", "+OK", `recreate [00000000-10000000 20000000-30000000] "a"`},
		{"RING RECREATE 00000000-10000000 FROM a", "+OK", `recreate [00000000-10000000] "a"`},
		{"RING PIN a=1,0x20", "+OK", "pin a 2 true"},
		{"RING PIN a+=-5", "+OK", "pin a 1 false"},
	} {
		operator.log = nil
		args := strings.Fields(test.line)
		o.Want(test.Writer, args...)
		want := []string{test.log}
		if test.Writer == "+OK" {
			want = append(want, "ordered default "+test.line)
		}
		if !slices.Equal(operator.log, want) {
			t.Errorf("%s: %q, want %q", test.line, operator.log, want)
		}
		nobody.Want("-ERR this node is not part of a cluster", args...)
	}
	operator.log = nil
	for _, line := range []string{
		"RING PLAN x y", "RING PLAN JOIN a:0", "RING PLAN JOIN LEAVE", "RING PLAN JOIN a ZONE", "RING PLAN JOIN a ZONE x,y", "RING PLAN STRATEGY", "RING THROTTLE fast", "RING BACKUPS -1", "RING BACKUPS", "RING RECREATE x",
		"RING RECREATE 00000000-10000000 OF a", "RING PIN a", "RING FORGET", "RING NOSUCH", "RING PLAN", "RING PLAN LOAD x", "RING PLAN LOAD JOIN a", "RING BALANCE LOAD maybe",
		"RING BALANCE", "RING BALANCE KEYS", "RING BALANCE LOAD ON OFF", "RING SCRUB x",
		"RING DECISIONS x", "RING DECISIONS -1", "RING DECISIONS 1 2",
	} {
		if got := o.Do(strings.Fields(line)...); got.Kind != '-' {
			t.Errorf("%s: %v", line, got)
		}
	}
	if len(operator.log) > 0 {
		t.Errorf("orders: %v", operator.log)
	}
}

func TestRequestsElsewhereAreMetrics(t *testing.T) {
	scope := tally.NewTestScope("", nil)
	r := routedTestWith(t, 2, func(c *Config, _ *store.Config) { c.Scope = scope })
	r.placeAll(four(t, 1, "n0", "n1", "n1", "n0"))
	o, to := resptest.Dial(t, r.addrs[0], 2), r.redirecting(0)
	far := ""
	for i := 0; far == ""; i++ {
		if key := fmt.Sprint("k", i); o.Do("RING", "LOCATE", key).Field("primary").Text == "n1" {
			far = key
		}
	}
	o.Want("_$", "GET", far)
	o.Want("_$", "GET", far)
	if to.Do("GET", far).Kind != '-' {
		t.Error("no redirect")
	}
	o.Do("MSETNX", "a", "1", "b", "1", "c", "1", "d", "1", "e", "1", "f", "1", "g", "1")
	if _, err := forwarded(t, r.servers[0], []string{"GET", far}); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]int64{
		"requests_elsewhere_total+result=forwarded":  2,
		"requests_elsewhere_total+result=redirected": 1,
		"requests_elsewhere_total+result=cross_slot": 1,
		"requests_not_mine_total+":                   1,
	} {
		resptest.WaitFor(t, name, func() bool {
			c := scope.Snapshot().Counters()[name]
			return c != nil && c.Value() >= want
		})
		if got := scope.Snapshot().Counters()[name].Value(); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
