package node

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/uber-go/tally/v4"

	"github.com/ringside-kv/ringside/internal/certtest"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/resp/node/internal/certs"
)

// nodeCerts are the files of certificates of the nodes of a cluster, each node's in a directory of its own.
type nodeCerts struct {
	t    *testing.T
	dirs map[string]string
}

// write gives a node a new certificate, unless signs is nil, and the authorities that it trusts.
func (n *nodeCerts) write(id string, signs *certtest.Authority, trusts ...*certtest.Authority) {
	n.t.Helper()
	if n.dirs == nil {
		n.dirs = map[string]string{}
	}
	if n.dirs[id] == "" {
		n.dirs[id] = n.t.TempDir()
	}
	files := map[string][]byte{}
	for _, a := range trusts {
		files["ca.pem"] = append(files["ca.pem"], a.PEM()...)
	}
	if signs != nil {
		files["cert.pem"], files["key.pem"] = signs.Issue(n.t, id)
	}
	certtest.Replace(n.t, n.dirs[id], files)
}

func (n *nodeCerts) configure(cfg *Config) {
	dir := n.dirs[cfg.ID]
	cfg.ClusterTLSCert, cfg.ClusterTLSKey, cfg.ClusterTLSCA = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")
}

// counted returns a counter of a node's bus.
func counted(scope tally.TestScope, name string) int64 {
	total := int64(0)
	for _, c := range scope.Snapshot().Counters() {
		if c.Name() == "bus."+name+"_total" {
			total += c.Value()
		}
	}
	return total
}

// TestCertificatesBetweenNodesAreIntroducedNodeByNode restarts the nodes of a cluster with certificates that they prefer, then
// with ones that they demand, while clients of the other nodes go on. Then it replaces the authority without a restart. No
// command fails.
func TestCertificatesBetweenNodesAreIntroducedNodeByNode(t *testing.T) {
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		mode := "off"
		files := &nodeCerts{t: t}
		scopes := map[string]tally.TestScope{}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			cfg.ClusterKey = "the cluster key of all nodes"
			if mode != "off" {
				files.configure(cfg)
				cfg.ClusterTLS = mode
			}
			scopes[cfg.ID] = tally.NewTestScope("", nil)
			cfg.Scope = scopes[cfg.ID]
		})
		c.three()
		shown := func(want string) {
			t.Helper()
			client := c.client("a")
			defer func() { _ = client.Close() }()
			if got := client.ConfigGet(t.Context(), "tls-cluster").Val()["tls-cluster"]; got != want {
				t.Errorf("tls-cluster is %q, not %q", got, want)
			}
		}
		shown("no")
		ids := c.running()
		restartAll := func() {
			t.Helper()
			for i, id := range ids {
				others := []string{ids[(i+1)%3], ids[(i+2)%3]}
				c.settled()
				stop := c.rounds(others...)
				c.stop(id)
				c.start(id, others[0])
				c.ready(id)
				if _, times := stop(); times < 10 {
					t.Errorf("%s restarts: %d rounds", id, times)
				}
			}
			c.settled()
		}
		earlier, later := certtest.New(t, "earlier"), certtest.New(t, "later")
		for _, id := range ids {
			files.write(id, earlier, earlier)
		}
		for _, mode = range []string{certs.Prefer, certs.Require} {
			restartAll()
			shown("yes")
		}
		if _, err := c.do("a", "CONFIG", "SET", "tls-cluster", "no"); err == nil {
			t.Error("tls-cluster was switched off")
		}
		for _, id := range ids {
			if n := counted(scopes[id], "plain"); n > 0 {
				t.Errorf("%s has made %d connections without TLS", id, n)
			}
		}

		stop := c.rounds(ids...)
		for _, step := range []struct{ signs, trusts, also *certtest.Authority }{{nil, earlier, later}, {later, earlier, later}, {nil, later, later}} {
			for _, id := range ids {
				files.write(id, step.signs, step.trusts, step.also)
				time.Sleep(2 * time.Second)
			}
		}
		if _, times := stop(); times < 10 {
			t.Errorf("while the authority changes: %d rounds", times)
		}
		restartAll() // all connections are made anew
		for _, id := range ids {
			if n := c.nodes[id].nodeTLS.Failures(); n > 0 {
				t.Errorf("%s could not use certificates %d times", id, n)
			}
		}

		// A node of the earlier authority is a stranger now.
		strangers := certtest.New(t, "earlier")
		stranger := func(tls *bus.TLS) error {
			t.Helper()
			b, err := bus.Listen(bus.Config{
				ID: "stranger", Cluster: "ringside", Strategy: StrategyBuckets, Hash: HashNative, Listen: "10.0.0.9:16379",
				Network: c.net.Host("10.0.0.9"), Key: []byte("the cluster key of all nodes"), TLS: tls,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = b.Close() }()
			conn, _, err := b.Dial(context.Background(), "10.0.0.1:16379", "", bus.Forward)
			if err == nil {
				_ = conn.Close()
			}
			return err
		}
		files.write("stranger", strangers, strangers, later)
		cfg := DefaultConfig()
		cfg.ID = "stranger"
		files.configure(&cfg)
		_, loaded, err := cfg.loadTLS()
		if err != nil {
			t.Fatal(err)
		}
		var own certs.Current
		own.Set(loaded, c.nodes["a"].cfg.Logger)
		before := counted(scopes["a"], "refused")
		if err := stranger(&bus.TLS{Client: own.Client, Server: own.Config}); !errors.Is(err, bus.ErrTLS) {
			t.Errorf("a stranger's certificate: %v", err)
		}
		if err := stranger(nil); !errors.Is(err, bus.ErrTLS) {
			t.Errorf("no certificate: %v", err)
		}
		// The strangers are told before it is counted.
		c.within(time.Minute, "two refusals are counted", func() bool { return counted(scopes["a"], "refused")-before == 2 })
		c.close()
	})
}
