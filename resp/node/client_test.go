package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uber-go/tally/v4"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/client"
)

func openRing(t *testing.T, route string, n *Node, metrics tally.Scope) *client.Ring {
	t.Helper()
	r, err := client.Open(t.Context(), client.Config{
		Addrs: []string{n.Addr().String()}, Route: route, Metrics: metrics, RetryFor: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shares waits until every node knows that each has its share and nothing moves. A node that has
// not heard of the table yet knows of no share at all.
func shares(t *testing.T, nodes ...*Node) {
	t.Helper()
	resptest.WaitFor(t, fmt.Sprint(len(nodes), " shares"), func() bool {
		for _, n := range nodes {
			if len(n.cluster.table.State().Handoffs()) > 0 {
				return false
			}
			p := n.primaries()
			for _, other := range nodes {
				if p[other.ID()] > 256/len(nodes)+1 || p[other.ID()] < 256/len(nodes) {
					return false
				}
			}
		}
		return true
	})
}

// A client that routes by itself runs a mixed load while two nodes join and one leaves:
// no command fails, and none is executed twice or not at all.
func TestRingFollowsJoinsAndLeaves(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, route := range []string{client.Forward, client.Redirect} {
		t.Run(route, func(t *testing.T) {
			defer goneInTheEnd(t)
			nodes := []*Node{openMember(t, "a")}
			defer closeAll(t, &nodes)
			shares(t, nodes...)
			scope := tally.NewTestScope("", nil)
			r := openRing(t, route, nodes[0], scope)
			defer r.Close()

			stop := make(chan struct{})
			var load sync.WaitGroup
			counts := make([]tallied, 4)
			for w := range counts {
				load.Go(func() { counts[w] = countThrough(t, r, w, stop) })
			}
			for _, id := range []string{"b", "c"} {
				nodes = append(nodes, openMember(t, id, nodes[0].gossipAddr()))
				shares(t, nodes...)
			}
			leaving, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := nodes[1].Leave(leaving); err != nil {
				t.Error(err)
			}
			shares(t, nodes[0], nodes[2])
			close(stop)
			load.Wait()

			for w, want := range counts {
				sum := int64(0)
				for j := range 97 {
					got, err := r.Do(t.Context(), "GET", fmt.Sprintf("count:%d:%d", w, j)).Int()
					if err != nil && !errors.Is(err, client.ErrNull) {
						t.Fatal(err)
					}
					sum += got
				}
				if sum < want.done || sum > want.done+want.unknown || want.done == 0 {
					t.Errorf("%d were counted, and %d perhaps; it is %d", want.done, want.unknown, sum)
				}
			}
			if n, err := r.Do(t.Context(), "DBSIZE").Int(); err != nil || route == client.Forward && n < 97 {
				t.Errorf("DBSIZE: %d, %v", n, err)
			}
			for _, c := range scope.Snapshot().Counters() {
				t.Log(c.Name(), c.Value())
			}
		})
	}
}

// tallied counts increments: those that were acknowledged, and those of unknown outcome.
type tallied struct{ done, unknown int64 }

// count counts the increment of a reply. It returns false if that failed in another way.
func (c *tallied) count(err error) bool {
	switch {
	case err == nil:
		c.done++
	case errors.Is(err, client.ErrUnknownOutcome):
		c.unknown++
	default:
		return false
	}
	return true
}

// countThrough runs a mixed load until stop is closed, and returns how much it has counted. It
// rests for some milliseconds now and then, for the nodes to get on. On a machine that stands still,
// commands exceed their deadline, and their outcome is unknown.
func countThrough(t *testing.T, r *client.Ring, w int, stop chan struct{}) (n tallied) {
	ctx := context.Background()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return n
		default:
		}
		time.Sleep(4 * time.Millisecond)
		p := r.Pipeline()
		for j := range 10 {
			p.Do("INCR", fmt.Sprintf("count:%d:%d", w, (i*10+j)%97))
		}
		replies, _ := p.Exec(ctx)
		if len(replies) != 10 {
			t.Errorf("pipeline: %d replies", len(replies))
			return n
		}
		replies = append(replies, r.Do(ctx, "INCR", fmt.Sprintf("count:%d:%d", w, i%97)))
		for _, reply := range replies {
			if !n.count(reply.Err()) {
				t.Errorf("INCR: %v", reply.Err())
				return n
			}
		}
		a, b, c := fmt.Sprint("a:", w, ":", i%50), fmt.Sprint("b:", w, ":", i%50), fmt.Sprint("c:", w, ":", i%50)
		set := r.Do(ctx, "MSET", a, "1", b, "2", c, "3").Err()
		if set != nil && !errors.Is(set, client.ErrUnknownOutcome) {
			t.Errorf("MSET: %v", set)
			return n
		}
		if got, err := r.Do(ctx, "MGET", a, "none", b, c).Texts(); err != nil || set == nil && fmt.Sprint(got) != "[1  2 3]" {
			t.Errorf("MGET: %q, %v", got, err)
			return n
		}
		got, err := r.Do(ctx, "DEL", a, b, c, "none").Int()
		if err != nil && !errors.Is(err, client.ErrUnknownOutcome) || err == nil && set == nil && got != 3 {
			t.Errorf("DEL: %d, %v", got, err)
			return n
		}
	}
}

// While a node is away, the keys of the others are served, and its own once it is back;
// its address is another then.
func TestRingSurvivesLossOfNode(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	defer goneInTheEnd(t)
	a := openMember(t, "a")
	defer a.Close()
	shares(t, a)
	dir := t.TempDir()
	b, c := openMemberIn(t, dir, "b", a.gossipAddr()), openMember(t, "c", a.gossipAddr())
	defer c.Close()
	shares(t, a, b, c)
	r := openRing(t, "", b, tally.NoopScope) // which is the one that will go
	defer r.Close()
	ctx := t.Context()
	at := make(map[string][]string)
	st := b.cluster.table.State()
	for i := range 300 {
		key := fmt.Sprint("key:", i)
		if err := r.Do(ctx, "SET", key, fmt.Sprint(i)).Err(); err != nil {
			t.Fatal(err)
		}
		row, _ := st.Row(b.cluster.strategy.Token([]byte(key)))
		at[row.Primary] = append(at[row.Primary], key)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, key := range append(at["a"], at["c"]...) {
		if err := r.Do(ctx, "GET", key).Err(); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := r.Do(short, "SET", at["b"][0], "x").Err(); err == nil {
		t.Errorf("%s is written though its node is away", at["b"][0])
	}
	b = openMemberIn(t, dir, "b", a.gossipAddr())
	defer func() { _ = b.Close() }()
	for i, key := range at["b"] {
		// Each is tried for a minute at most.
		if _, err := r.Do(ctx, "GET", key).Text(); err != nil {
			t.Fatalf("%d: %s: %v", i, key, err)
		}
	}
}

func TestRingSpeaksTLS(t *testing.T) {
	defer goneInTheEnd(t)
	cert, key := selfSigned(t)
	n := openTest(t, func(c *Config) { c.TLSCert, c.TLSKey, c.RequirePass, c.HTTPAddr = cert, key, "secret", HTTPOff })
	defer n.Close()
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	_, port, _ := net.SplitHostPort(n.Addr().String())
	cfg := client.Config{Addrs: []string{net.JoinHostPort("localhost", port)}, TLS: &tls.Config{RootCAs: roots}, Password: "secret"}
	cfg.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", n.Addr().String())
	}
	r, err := client.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	value := strings.Repeat("\x00value\r\n", 100_000)
	if err := r.Do(t.Context(), "SET", "k", value).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Do(t.Context(), "GET", "k").Text(); got != value || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	cfg.Password = "wrong"
	if _, err := client.Open(t.Context(), cfg); !strings.Contains(fmt.Sprint(err), "WRONGPASS") {
		t.Errorf("a wrong password: %v", err)
	}
	cfg.TLS = &tls.Config{}
	if _, err := client.Open(t.Context(), cfg); !strings.Contains(fmt.Sprint(err), "certificate") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}
