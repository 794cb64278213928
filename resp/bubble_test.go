package resp

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// serveBubble serves in virtual time on a network in memory. The returned function connects.
func serveBubble(t *testing.T, change func(*Config)) (*Server, func() net.Conn) {
	t.Helper()
	st, err := store.Open(store.Config{Dir: "/d", FS: memdisk.New(), Strategy: "buckets", Hash: "native", Token: buckets.Token, ExpireFields: collection.ExpireFields})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Store: st}
	change(&cfg)
	srv, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	network := fakenet.New(1, time.Millisecond, 0)
	l, err := network.Host("10.0.0.1").Listen("10.0.0.1:6379")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		if err := srv.Close(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, func() net.Conn {
		c, err := network.Host("10.0.0.2").Dial(t.Context(), "10.0.0.1:6379")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// ask sends a line and returns the first line of the answer.
func ask(t *testing.T, c net.Conn, line string) string {
	t.Helper()
	// The server may have refused the connection and closed it: then its reason can be read still.
	_, _ = io.WriteString(c, line+"\r\n")
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return answer[:len(answer)-2]
}

// A lateLink leads to a node that hears of its ranges late: until then it runs nothing.
type lateLink struct{ serves time.Time }

type lateWay struct {
	lateLink
	n int
}

func (l lateLink) Way() Way { return &lateWay{lateLink: l} }

func (w *lateWay) Send(_ []byte, n int, _ Terms, _ time.Duration, arrived func()) error {
	w.n = n
	if arrived != nil {
		arrived()
	}
	return nil
}

func (w *lateWay) Wait() (Replies, error) {
	var r Replies
	for i := range w.n {
		reply := "+OK\r\n"
		if time.Now().Before(w.serves) {
			reply = "-x\r\n"
			r.Statuses = relay.SetStatus(r.Statuses, i, StatusNotRun)
		}
		r.Bytes = append(r.Bytes, reply...)
		r.Ends = append(r.Ends, len(r.Bytes))
	}
	return r, nil
}

// The new owner of a range may hear of that a moment later than the node that forwards a request to it. The request is
// sent again soon, not only after the pause for a node that stays without the range.
func TestForwardedRequestWaitsBrieflyForANewOwner(t *testing.T) {
	for name, tt := range map[string]struct{ late, most time.Duration }{
		"a moment":       {3 * time.Millisecond, 8 * time.Millisecond}, // and a millisecond each way to the client
		"an election":    {300 * time.Millisecond, 300*time.Millisecond + 2*routesPause},
		"not at all":     {0, 3 * time.Millisecond},
		"a long handoff": {time.Second, time.Second + 2*routesPause},
	} {
		t.Run(name, func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) {
				srv, dial := serveBubble(t, func(*Config) {})
				p, err := ring.NewPlacement([]ring.Row{{Range: ring.Whole, Primary: "n1"}})
				if err != nil {
					t.Fatal(err)
				}
				c := dial()
				for _, line := range []string{"SET k v", "MSET a 1 b 2", "FLUSHALL"} {
					link := lateLink{time.Now().Add(tt.late)}
					srv.SetRoutes(&Routes{Placement: p, Self: "n0", Nodes: map[string]Route{
						"n0": {ID: "n0"}, "n1": {ID: "n1", Addr: "10.0.0.3:6379", Link: link},
					}})
					began := time.Now()
					if got := ask(t, c, line); got != "+OK" {
						t.Errorf("%s: %s", line, got)
					}
					if took := time.Since(began); took > tt.most {
						t.Errorf("%s takes %v, want at most %v", line, took, tt.most)
					}
				}
			})
		})
	}
}
