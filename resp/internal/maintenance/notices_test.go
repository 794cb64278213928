package maintenance

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A fakeClient keeps what it is sent, with spaces between lines.
type fakeClient struct {
	queued, sent []string
	used         time.Time
	waits        int // that have been ended
}

func (c *fakeClient) Queue(message []byte) bool {
	c.queued = append(c.queued, strings.ReplaceAll(strings.TrimSpace(string(message)), "\r\n", " "))
	return len(c.queued) == 1
}

func (c *fakeClient) Kick() {
	c.sent = append(c.sent, c.queued...)
	c.queued = nil
}

func (c *fakeClient) EndTimedWaits() { c.waits++ }

func (c *fakeClient) Idle() time.Duration { return time.Since(c.used) }

func (c *fakeClient) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.sent, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(c.sent, "\n"), strings.Join(want, "\n"))
	}
	c.sent = nil
}

func TestClientsAreSharedOutAmongAddresses(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var n Notices
		clients, routed := [3]fakeClient{}, &fakeClient{used: time.Now()}
		n.Add(routed, Routed)
		n.Add(&clients[0], Named)
		n.Add(&clients[1], Unnamed)
		n.Move(nil, 5*time.Second) // nowhere to go
		clients[0].expect(t)
		n.Move([]string{"b:1", "c:1"}, 5*time.Second)
		time.Sleep(2 * time.Second)
		n.Add(&clients[2], Named) // comes late
		n.Move([]string{"d:1"}, time.Second)
		routed.expect(t)
		if routed.waits != 0 || clients[0].waits != 1 || clients[1].waits != 1 {
			t.Errorf("waits have ended: %d, %d, %d", routed.waits, clients[0].waits, clients[1].waits)
		}
		for i := range clients {
			n.Remove(&clients[i])
		}
		before := time.Now()
		if n.AwaitMoved(t.Context()); time.Since(before) > awaitPause {
			t.Error("a client that follows CLUSTER SLOTS was waited for")
		}
		if got := clients[1].sent; len(got) != 1 || !strings.HasSuffix(got[0], ":5 _") {
			t.Errorf("without an address: %q", got)
		}
		first, late := clients[0].sent, clients[2].sent
		if len(first) != 1 || !strings.HasPrefix(first[0], "*4 $6 MOVING :") || !strings.HasSuffix(first[0], ":5 $3 b:1") {
			t.Errorf("first: %q", first)
		}
		if len(late) != 1 || !strings.HasSuffix(late[0], ":3 $3 c:1") {
			t.Errorf("late: %q", late)
		}
	})
}

func TestAwaitMovedReturnsOnceClientsAreGone(t *testing.T) {
	for name, c := range map[string]struct {
		leaves, last time.Duration // when one closes its connection, when it sends its last command
		stops        time.Duration // when ctx ends
		want         time.Duration
	}{
		"leaves":            {leaves: 300 * time.Millisecond, last: time.Minute, stops: time.Minute, want: 300 * time.Millisecond},
		"is idle":           {leaves: time.Minute, last: 500 * time.Millisecond, stops: time.Minute, want: 700 * time.Millisecond},
		"stays":             {leaves: time.Minute, last: time.Minute, stops: time.Minute, want: 4 * time.Second},
		"there is no time":  {leaves: time.Minute, last: time.Minute, stops: 2 * time.Second, want: 2 * time.Second},
		"is idle all along": {leaves: time.Minute, last: -time.Minute, stops: time.Minute, want: 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) {
				var n Notices
				n.AwaitMoved(t.Context()) // before Move
				began := time.Now()
				client := &fakeClient{used: began.Add(c.last)}
				n.Add(client, Named)
				n.Move([]string{"b:1"}, 4*time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), c.stops)
				defer cancel()
				timer := time.AfterFunc(c.leaves, func() { n.Remove(client) })
				defer timer.Stop()
				n.AwaitMoved(ctx)
				if took := time.Since(began); took < c.want || took > c.want+2*awaitPause {
					t.Errorf("%v, not %v", took, c.want)
				}
			})
		})
	}
}

func TestFollowTellsWhatBeginsAndEnds(t *testing.T) {
	var n Notices
	first, late := &fakeClient{}, &fakeClient{}
	n.Add(first, Named)
	n.Follow(nil, nil)
	n.Follow([]string{"a"}, nil)
	n.Follow([]string{"a", "b"}, nil) // no longer empty before
	first.expect(t, "*4 $9 MIGRATING :1 :10 *1 $1 a")
	n.Follow([]string{"b"}, []string{"c"})
	first.expect(t, "*4 $12 FAILING_OVER :2 :10 *1 $1 c")
	n.Add(late, Unnamed)
	n.Add(late, Unnamed) // again
	late.expect(t, "*4 $9 MIGRATING :2 :10 *1 $1 b", "*4 $12 FAILING_OVER :2 :10 *1 $1 c")
	n.Follow(nil, nil)
	ends := []string{"*3 $8 MIGRATED :3 *1 $1 b", "*3 $11 FAILED_OVER :4 *1 $1 c"}
	first.expect(t, ends...)
	late.expect(t, ends...)
	n.Remove(first)
	n.Remove(first)
	n.Follow([]string{"a"}, nil)
	first.expect(t)
	if n.Len() != 1 {
		t.Errorf("%d clients", n.Len())
	}
}

func TestParse(t *testing.T) {
	const resp2 = "ERR CLIENT MAINT_NOTIFICATIONS ON needs protocol 3: send HELLO 3 first"
	const kind = "ERR moving-endpoint-type is one of auto, internal-ip, internal-fqdn, external-ip, external-fqdn, none"
	for _, c := range []struct {
		args     string
		protocol int
		endpoint Endpoint
		on       bool
		msg      string
	}{
		{"ON", 3, Named, true, ""},
		{"on Moving-Endpoint-Type internal-ip", 3, Named, true, ""},
		{"on moving-endpoint-type NONE", 3, Unnamed, true, ""},
		{"on moving-endpoint-type none moving-endpoint-type auto", 3, Named, true, ""},
		{"OFF", 2, 0, false, ""},
		{"ON", 2, 0, false, resp2},
		{"on moving-endpoint-type", 3, 0, false, command.MsgSyntax},
		{"on other x", 3, 0, false, command.MsgSyntax},
		{"on moving-endpoint-type x", 3, 0, false, kind},
		{"off moving-endpoint-type none", 3, 0, false, command.MsgSyntax},
		{"maybe", 3, 0, false, command.MsgSyntax},
	} {
		var args [][]byte
		for _, arg := range strings.Fields(c.args) {
			args = append(args, []byte(arg))
		}
		endpoint, on, msg := Parse(args, c.protocol)
		if endpoint != c.endpoint || on != c.on || msg != c.msg {
			t.Errorf("%s: %d, %t, %q", c.args, endpoint, on, msg)
		}
	}
}
