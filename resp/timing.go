package resp

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/trace"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// Where the time of requests goes, from their arrival until their replies have left: see package trace. Slow requests
// are in RING SLOWLOG, of this node and of those that it sends them to.

// beginTiming begins with requests that have arrived, unless replies to earlier ones are still here.
func beginTiming(c *conn, arrived time.Duration) {
	if c.from != nil || !c.answers.Left() {
		return
	}
	c.timing.Begin(arrived)
	if traces := c.srv.cfg.Traces; traces != nil {
		c.timing.Sampled = traces.Sample()
	}
}

// sendFor sends a batch of the connection's requests on its way, and notes that it goes there. arrived is as in
// [batch.send].
func sendFor(c *conn, b *batch, timeout time.Duration, arrived func()) {
	terms := c.termsTo(b.link)
	terms.Atomic, terms.Part = b.atomic, b.part
	b.departure, terms.Trace = c.timing.Leave(b.link.ID, c.srv.started)
	b.send(terms, timeout, arrived)
}

// isSlow reports whether requests that took so long are kept in the log of slow ones.
func isSlow(s *Server, took time.Duration) bool {
	limit := s.settings.SlowerThan.Load()
	return limit >= 0 && int64(took) >= limit
}

// endTiming notes requests whose replies have left now. cmd is the one that took longest; nil: none is timed.
func endTiming(c *conn, cmd *command.Row, took, now time.Duration) {
	e := trace.Entry{Name: adminClient{c}.Name(), Client: adminClient{c}.Addr()}
	note(c, &e, cmd, took, now)
}

// endForwarded notes requests of another node that are answered now.
func endForwarded(c *conn) {
	f := c.from
	now := c.srv.clock()
	took := now - c.timing.Arrived
	if !isSlow(c.srv, took) && c.timing.Sampled == nil || f.parked != nil || len(c.reqs) == 0 {
		return
	}
	r := &c.reqs[0]
	if r.cmd == nil || r.cmd.Waits || r.waits {
		return
	}
	cmd := r.cmd
	if cmd.As != nil {
		cmd = cmd.As
	}
	note(c, &trace.Entry{Client: "node", Name: f.group.batches[0].From}, cmd, took, now)
}

func note(c *conn, e *trace.Entry, cmd *command.Row, took, now time.Duration) {
	t, s := &c.timing, c.srv
	var acks []trace.Ack
	if s.cfg.AckTimes != nil {
		add := func(node string, at time.Time) { acks = append(acks, trace.Ack{Node: node, At: at}) }
		c.unit.EachAwaited(func(tap *store.Tap, number uint64) { s.cfg.AckTimes(tap, number, add) })
	}
	e.At, e.Took, e.Token, e.Keyed = time.Now(), took, t.Token, t.Keyed
	e.Command, e.Stages = "wait", t.Stages(s.started, acks)
	if cmd != nil {
		e.Command = cmd.Full
	}
	if cmd != nil && isSlow(s, took) && cmd.Flags&command.FlagSkipSlowlog == 0 {
		s.late.Add(*e, int(s.settings.SlowlogLen.Load()))
	}
	if t.Sampled != nil {
		s.cfg.Traces.Export(t.Sampled, &trace.Requests{
			Command: e.Command, FromClient: c.from == nil, Database: int(c.session.database.Load()),
			Arrived: t.Arrived, Left: now, Stages: e.Stages, Unknown: c.unitFailed,
		}, s.started)
		t.Sampled = nil
	}
}

// cmdRingSlowlog is RING SLOWLOG [count [token]]: the requests whose replies left late, and where their time went; of
// the range of a token only, if there is one.
func cmdRingSlowlog(x *call) {
	n := int64(10)
	var match func(*trace.Entry) bool
	ok := len(x.Args) <= 4
	if ok && len(x.Args) > 2 {
		n, ok = wire.ParseInt(x.Args[2])
	}
	if ok && len(x.Args) > 3 {
		token, err := strconv.ParseUint(string(x.Args[3]), 10, 32)
		ok, match = err == nil, lateIn(x.srv, ring.Token(token))
	}
	if !ok || n < 0 {
		x.Error(command.MsgSyntax)
		return
	}
	entries := x.srv.late.Latest(int(min(n, 1<<20)), match)
	x.Array(len(entries))
	for i := range entries {
		entries[i].Reply(x.Writer)
	}
}

// lateIn returns what matches the requests on keys of the range that a token is in.
func lateIn(s *Server, token ring.Token) func(*trace.Entry) bool {
	routes := s.routes.Load()
	if routes == nil {
		return func(e *trace.Entry) bool { return e.Keyed }
	}
	span := routes.Placement.Lookup(token).Range
	return func(e *trace.Entry) bool { return e.Keyed && span.Contains(e.Token) }
}

// explained is how many slow requests of each node RING EXPLAIN shows.
const explained = 5

// cmdRingExplain is RING EXPLAIN key: where requests on a key go, how long the way there takes now, and where the time
// of slow ones on its range went.
func cmdRingExplain(x *call) {
	var text strings.Builder
	token := x.Unit.Place(storedKey(x, x.Args[2])).Token()
	row, self := &ring.Row{Range: ring.Whole, Primary: x.srv.selfID()}, x.srv.selfID()
	routes := x.srv.routes.Load()
	if routes != nil {
		row = routes.Placement.Lookup(token)
	}
	fmt.Fprintf(&text, "range: %v\nprimary: %s\nbackups: %s\n", row.Range, cmp.Or(row.Primary, "none"), cmp.Or(strings.Join(row.Backups, ", "), "none"))
	in := lateIn(x.srv, token)
	for _, e := range x.srv.late.Latest(explained, func(e *trace.Entry) bool { return e.WentTo(row.Primary) || in(e) }) {
		fmt.Fprintf(&text, "slow at %s: %s\n", self, e.String())
	}
	if row.Primary != self && row.Primary != "" {
		route := routes.Nodes[row.Primary]
		start := x.srv.clock()
		b := batch{link: &route, requests: 1, bytes: wire.SubRequest("RING", "SLOWLOG", strconv.AppendInt(nil, explained, 10), strconv.AppendUint(nil, uint64(token), 10))}
		b.send(Terms{}, publishTimeout, nil)
		reply, err := b.reply()
		took := x.srv.clock() - start
		x.waited += took
		if err != nil {
			fmt.Fprintf(&text, "hop to %s: %v\n", row.Primary, err)
		} else {
			fmt.Fprintf(&text, "hop to %s: %s\n", row.Primary, trace.Text(took))
		}
		for _, said := range trace.Described(reply) {
			fmt.Fprintf(&text, "slow at %s: %s\n", row.Primary, said)
		}
	}
	x.Verbatim(text.String())
}
