package node

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/unixsocket"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp/status"
)

func unixClient(path string) *redis.Client {
	return redistest.Client(&redis.Options{Network: "unix", Addr: path, MaxRetries: -1})
}

// A store with TLS on IPv6, and a proxy beside it that has nothing but a Unix socket for clients.
func TestUnixSocketServesBesideAndInsteadOfTCP(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 loopback: ", err)
	} else {
		_ = l.Close()
	}
	defer goneInTheEnd(t)
	ctx := context.Background()
	cert, key := selfSigned(t)
	dir := t.TempDir()
	storePath, proxyPath := filepath.Join(dir, "store.sock"), filepath.Join(dir, "proxy.sock")
	configure := func(c *Config) {
		c.Addr, c.HTTPAddr, c.env.Timing = "[::1]:0", HTTPOff, members.Fast()
		c.Cache, c.BlockCache, c.ClusterKey = 8<<20, 8<<20, "0123456789abcdef"
	}
	a := openTest(t, func(c *Config) {
		configure(c)
		c.UnixSocket, c.TLSCert, c.TLSKey = storePath, cert, key
	})
	defer a.Close()
	for _, addr := range []string{a.Addr().String(), a.gossipAddr(), a.cluster.advertisedBus} {
		if !strings.HasPrefix(addr, "[::1]:") {
			t.Errorf("a node with addr [::1]:0 has the address %s", addr)
		}
	}
	p := openTest(t, func(c *Config) {
		configure(c)
		c.Addr, c.UnixSocket, c.UnixSocketMode = AddrOff, proxyPath, 0o770
		c.BusAddr, c.GossipAddr = "[::1]:0", "[::1]:0"
		c.Join, c.Role = []string{a.gossipAddr()}, RoleProxy
	})
	defer p.Close()

	for _, at := range []struct {
		n    *Node
		path string
		mode fs.FileMode
	}{{a, storePath, unixsocket.DefaultMode}, {p, proxyPath, 0o770}} {
		client := unixClient(at.path)
		if err := client.Set(ctx, "key", at.path, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got := client.Get(ctx, "key").Val(); got != at.path {
			t.Errorf("key is %q through %s", got, at.path)
		}
		list := client.ClientList(ctx).Val()
		if want := "addr=" + at.path + ":0 laddr=" + at.path + ":0 "; !strings.Contains(list, want) || !strings.Contains(list, " flags=U ") {
			t.Errorf("CLIENT LIST is %q, want %q and flags=U", list, want)
		}
		if strings.Contains(list, " fd=-1 ") {
			t.Errorf("the connection is no bare socket: %q", list)
		}
		if info := client.Info(ctx, "server").Val(); !strings.Contains(info, "\r\nlistener1:name=unix,bind="+at.path+"\r\n") {
			t.Errorf("INFO has no listener of %s:\n%s", at.path, info)
		}
		config := client.ConfigGet(ctx, "unixsocket*").Val()
		if config["unixsocket"] != at.path || config["unixsocketperm"] == "" {
			t.Errorf("CONFIG GET unixsocket* is %v", config)
		}
		if info, err := os.Lstat(at.path); err != nil || info.Mode().Perm() != at.mode {
			t.Errorf("%s has mode %v, %v", at.path, info.Mode(), err)
		}
		if at.n.SocketPath() != at.path {
			t.Errorf("SocketPath is %q", at.n.SocketPath())
		}
		_ = client.Close()
		source := status.Source{Addr: at.path}
		if report, err := source.Fetch(ctx); err != nil || len(report.Nodes) == 0 {
			t.Errorf("the status through %s is %v, %v", at.path, report, err)
		}
	}
	if p.Addr().String() != proxyPath+":0" {
		t.Errorf("the address of a node without TCP is %s", p.Addr())
	}

	taken := DefaultConfig()
	taken.Addr, taken.Dir, taken.UnixSocket = AddrOff, t.TempDir(), storePath
	taken.HTTPAddr, taken.BusAddr, taken.GossipAddr = HTTPOff, "127.0.0.1:0", "127.0.0.1:0"
	if _, err := Open(taken); !errors.Is(err, unixsocket.ErrInUse) {
		t.Errorf("opening a node at a socket in use: %v", err)
	}
	for _, n := range []*Node{p, a} {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{storePath, proxyPath} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there after Close: %v", path, err)
		}
	}
}

func TestValidateUnixSocket(t *testing.T) {
	for _, test := range []struct {
		change func(*Config)
		want   string // in the error; empty: none
	}{
		{func(c *Config) { c.UnixSocket = "/run/s" }, ""},
		{func(c *Config) { c.Addr, c.UnixSocket = AddrOff, "/run/s" }, ""},
		{func(c *Config) { c.UnixSocket = "/" + strings.Repeat("s", 200) }, "unix-socket: "},
		{func(c *Config) { c.UnixSocket = "@s" }, "unix-socket: "},
		{func(c *Config) { c.UnixSocket, c.UnixSocketMode = "/run/s", 0o4777 }, "unix-socket-mode: "},
	} {
		c := DefaultConfig()
		c.Dir = t.TempDir()
		test.change(&c)
		err := c.Validate()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: got %v", test.want, err)
		}
	}
}
