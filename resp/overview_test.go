package resp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/store"
	"github.com/uber-go/tally/v4"
)

// scene is an Overview that tells what it is given.
type scene struct {
	report *status.Report
	err    error
	moves  atomic.Pointer[Moves]
	asked  atomic.Pointer[context.Context]
	waits  bool // until its context ends
}

func (s *scene) Status(ctx context.Context) (*status.Report, error) {
	s.asked.Store(&ctx)
	if s.waits {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.report, s.err
}

func (s *scene) Moves() Moves {
	if m := s.moves.Load(); m != nil {
		return *m
	}
	return Moves{}
}

func sceneTest(t *testing.T, s *scene, scope tally.Scope) *resptest.Conn {
	t.Helper()
	_, addr := serveTest(t, func(c *Config, _ *store.Config) {
		c.Overview = s
		if scope != nil {
			c.Scope = scope
		}
	})
	return resptest.Dial(t, addr, 2)
}

func TestRingStatusTellsPeopleAndPrograms(t *testing.T) {
	s := &scene{report: &status.Report{Cluster: "ours", Asked: "n0", Nodes: []status.Node{{ID: "<n0>", Health: status.Alive, Answered: true}}}}
	o := sceneTest(t, s, nil)
	if text := o.Do("RING", "STATUS").Text; !strings.HasPrefix(text, "cluster ours") || !strings.Contains(text, "<n0>") {
		t.Error(text)
	}
	var back status.Report
	text := o.Do("RING", "STATUS", "json").Text
	if err := json.Unmarshal([]byte(text), &back); err != nil || back.Nodes[0].ID != "<n0>" || strings.Contains(text, `\u003c`) {
		t.Errorf("%v: %s", err, text)
	}
	o.Want("-"+command.MsgSyntax, "RING", "STATUS", "JSON", "x")
	o.Want("-"+command.MsgSyntax, "RING", "STATUS", "x")
	s.err = errors.New("not yet")
	o.Want("-ERR not yet", "RING", "STATUS")
	_, addr := serveTest(t, nil)
	if v := resptest.Dial(t, addr, 2).Do("RING", "STATUS"); v.Kind != '-' {
		t.Errorf("%v", v)
	}
}

// A report that takes long holds nobody up for ever, and not a server that closes.
func TestRingStatusIsBounded(t *testing.T) {
	s := &scene{waits: true}
	o := sceneTest(t, s, nil)
	if _, err := o.C.Write([]byte("*2\r\n$4\r\nRING\r\n$6\r\nSTATUS\r\n")); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "the question", func() bool { return s.asked.Load() != nil })
	ctx := *s.asked.Load()
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > operatorTimeout {
		t.Errorf("it may wait until %v", end)
	}
}

func TestMovesAreInInfoLevelsAndMetrics(t *testing.T) {
	scope := tally.NewTestScope("", nil)
	s := &scene{}
	s.moves.Store(&Moves{
		Cluster: "ours", Generation: "12ab", Leader: "n3", Paused: true, Throttle: 5, Switching: true, Running: 2, PendingKeys: 70, PendingBytes: 800,
		Waiting: map[string]int{"paused": 1, "cutover": 0}, Moved: status.Moved{Done: 3, Failed: 1, Ranges: 17, Keys: 1000, Bytes: 123456, Traffic: 54321, Rate: 9000, Held: 0.25},
		Short: 6, Lost: 2, Feeding: status.Feeding{Pending: 4, PendingFor: 0.5},
	})
	o := sceneTest(t, s, scope)
	o.Want("*($primaries :1 $backups :0 $pending :0 $pending_keys :70 $pending_bytes :800 $pending_items :4"+noLoad+")", "LOADLEVELS")
	info := infoFields(o.Do("RING", "INFO").Text)
	for name, want := range map[string]string{
		"cluster": "ours", "generation": "12ab", "leader": "n3", "moves_paused": "1", "moves_throttle": "5", "strategy_switching": "1", "handoffs_running": "2",
		"handoffs_done": "3", "handoffs_failed": "1", "pending_keys": "70", "pending_bytes": "800", "moved_ranges": "17", "moved_keys": "1000",
		"moved_bytes": "123456", "moved_traffic_bytes": "54321", "moved_bytes_per_second": "9000", "held_milliseconds": "250",
		"pending_items": "4", "ranges_short_of_backups": "6", "ranges_lost": "2", "min_in_sync": "1",
	} {
		if info[name] != want {
			t.Errorf("RING INFO: %s is %q, want %q", name, info[name], want)
		}
	}
	for name, want := range map[string]int64{
		"handoffs_total+result=done": 3, "handoffs_total+result=failed": 1, "moved_ranges_total+": 17, "moved_keys_total+": 1000,
		"moved_bytes_total+": 123456, "moved_traffic_bytes_total+": 54321, "held_microseconds_total+": 250000,
	} {
		resptest.WaitFor(t, name, func() bool {
			c := scope.Snapshot().Counters()[name]
			return c != nil && c.Value() == want
		})
	}
	for name, want := range map[string]float64{
		"handoffs_running+": 2, "handoffs_paused+": 1, "handoffs_throttle_bytes_per_second+": 5, "pending_keys+": 70, "pending_bytes+": 800,
		"pending_items+": 4, "pending_items_seconds+": 0.5, "ranges_short_of_backups+": 6, "ranges_lost+": 2,
		"handoffs_waiting+cause=paused": 1, "handoffs_waiting+cause=cutover": 0,
	} {
		resptest.WaitFor(t, name, func() bool {
			g := scope.Snapshot().Gauges()[name]
			return g != nil && g.Value() == want
		})
	}
}
