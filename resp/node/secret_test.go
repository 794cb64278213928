package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/certtest"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp/node/internal/certs"
	"github.com/ringside-kv/ringside/resp/node/internal/hostport"
	"github.com/ringside-kv/ringside/resp/node/internal/peerkey"
)

const testKey = "a key of sixteen bytes or more"

// The invariant of every combination of settings: a socket that other hosts can reach
// asks for a secret or serves no data, and where clients need a password, TLS, a user or the
// permission of a Unix socket, other nodes need a secret.
func TestNoSettingsOpenADoorWithoutASecret(t *testing.T) {
	cert, key := selfSigned(t)
	files := aclFiles(t)
	nodes := &nodeCerts{t: t}
	authority := certtest.New(t, "cluster")
	nodes.write("a", authority, authority)
	peer := func(file string) string { return filepath.Join(nodes.dirs["a"], file) }
	choices := []struct {
		name    string
		options []string
		set     func(c *Config, option string)
	}{
		{"addr", []string{"127.0.0.1:6379", ":6379", "10.0.0.5:6379", "db-1:6379", "socket", "open socket"}, func(c *Config, o string) {
			switch c.Addr = o; o {
			case "socket":
				c.Addr, c.UnixSocket = AddrOff, "/run/ringside.sock"
			case "open socket":
				c.Addr, c.UnixSocket, c.UnixSocketMode = AddrOff, "/run/ringside.sock", 0o777
			}
		}},
		{"password", []string{"", "x"}, func(c *Config, o string) { c.RequirePass = o }},
		{"tls", []string{"", "cert", "ca"}, func(c *Config, o string) {
			if o != "" {
				c.TLSCert, c.TLSKey = cert, key
			}
			if o == "ca" {
				c.TLSCA = cert
			}
		}},
		{"acl-file", []string{"", "open", "off", "password", "restricted"}, func(c *Config, o string) {
			if o != "" {
				c.ACLFile = files[o]
			}
		}},
		{"protected", []string{"yes", "no"}, func(c *Config, o string) { c.ProtectedMode = o == "yes" }},
		{"cluster-key", []string{"", testKey}, func(c *Config, o string) { c.ClusterKey = o }},
		{"told", []string{"alone", "join", "expect", "advertise", "bus", "gossip", "proxy", "no ports"}, func(c *Config, o string) {
			switch o {
			case "join":
				c.Join = []string{"127.0.0.1:7001"}
			case "expect":
				c.BootstrapExpect, c.Join = 3, []string{"127.0.0.1:7001"}
			case "advertise":
				c.Advertise = "10.0.0.5"
			case "bus":
				c.BusAddr = "0.0.0.0:17000"
			case "gossip":
				c.GossipAddr = "0.0.0.0:17000"
			case "proxy":
				c.Role, c.Join = RoleProxy, []string{"127.0.0.1:7001"}
			case "no ports":
				c.BusAddr, c.GossipAddr = AddrOff, AddrOff
			}
		}},
		{"cluster-tls", []string{"", certs.Prefer, certs.Require}, func(c *Config, o string) {
			if o != "" {
				c.ClusterTLS, c.ClusterTLSCert, c.ClusterTLSKey, c.ClusterTLSCA = o, peer("cert.pem"), peer("key.pem"), peer("ca.pem")
			}
		}},
	}
	dir := filepath.Join(t.TempDir(), "new")
	combinations := 1
	for _, choice := range choices {
		combinations *= len(choice.options)
	}
	accepted, withoutSecret := 0, map[string]bool{}
	for i := range combinations {
		c := DefaultConfig()
		c.Dir = dir
		var line []string
		rest := i
		for _, choice := range choices {
			option := choice.options[rest%len(choice.options)]
			rest /= len(choice.options)
			choice.set(&c, option)
			line = append(line, choice.name+"="+option)
		}
		if c.ClusterTLSCert != "" && i%11 != 0 { // reading certificates takes long; 11 shares no factor with the numbers of options
			continue
		}
		if c.Validate() != nil {
			continue
		}
		accepted++
		guarded := c.RequirePass != "" || c.TLSCert != "" || c.ACLFile != "" && c.ACLFile != files["open"] ||
			c.Addr == AddrOff && c.UnixSocketMode != 0o777
		for _, d := range c.doors() {
			if d.secret != string(secretNone) {
				continue
			}
			host, _, err := hostport.Split(d.addr)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case d.socket == "clients" && c.Exposure() != ExposureNone && !c.ProtectedMode:
				withoutSecret["clients, by protected-mode no"] = true
			case !hostport.IsLoopback(host):
				t.Errorf("%v: %s at %s answers other hosts without a secret", line, d.socket, d.addr)
			case guarded:
				t.Errorf("%v: %s at %s answers without a secret, clients need one", line, d.socket, d.addr)
			default:
				withoutSecret[d.socket+" on loopback, where clients need none"] = true
			}
		}
	}
	if accepted < 200 {
		t.Errorf("%d of %d combinations are accepted", accepted, combinations)
	}
	if len(withoutSecret) != 4 {
		t.Errorf("without a secret: %v", withoutSecret)
	}
}

// aclFiles writes ACL files by what they make of the default user.
func aclFiles(t *testing.T) map[string]string {
	dir, files := t.TempDir(), map[string]string{}
	for name, rules := range map[string]string{
		"open": "on nopass ~* &* +@all", "off": "off nopass ~* &* +@all", "password": "on >pw ~* &* +@all", "restricted": "on nopass ~public:* +@read",
	} {
		files[name] = filepath.Join(dir, name)
		text := "user admin on >pw ~* &* +@all\nuser default " + rules + "\n"
		if err := os.WriteFile(files[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// doors returns the sockets of a node and the secret that each asks for.
func (c Config) doors() []socketInfo {
	c.EnsureDefaults()
	clients := "none"
	secret, _ := c.peerSecret()
	guard, _ := c.usersGuard()
	switch {
	case c.RequirePass != "":
		clients = "password"
	case c.TLSCA != "":
		clients = "client certificate"
	case c.TLSCert != "":
		clients = "TLS"
	case guard:
		clients = "users"
	case c.Exposure() == ExposureRefused:
		clients = "none, this machine only"
	}
	var doors []socketInfo
	if c.Addr != AddrOff {
		doors = append(doors, socketInfo{"clients", c.Addr, clients})
	}
	if c.HTTPAddr != HTTPOff {
		readers := "none, no data"
		if c.HTTPAuth {
			readers = "users"
		}
		doors = append(doors, socketInfo{"http", c.HTTPAddr, readers})
	}
	if c.staysAlone() {
		return doors
	}
	return append(doors, socketInfo{"bus", c.BusAddr, string(secret)}, socketInfo{"gossip", c.GossipAddr, string(secret)})
}

// A socketInfo is a socket that the node listens on.
type socketInfo struct{ socket, addr, secret string }

// The sockets of real nodes ask for what the table says.
func TestBusAndGossipRefuseStrangersWithoutTheSecret(t *testing.T) {
	defer goneInTheEnd(t)
	cert, key := selfSigned(t)
	files := aclFiles(t)
	for _, tt := range []struct {
		name    string
		change  func(*Config)
		refused bool
	}{
		{"nothing set", func(*Config) {}, false},
		{"TLS", func(c *Config) { c.TLSCert, c.TLSKey = cert, key }, true},
		{"an ACL file", func(c *Config) { c.ACLFile = files["off"] }, true},
		{"an ACL file without effect", func(c *Config) { c.ACLFile = files["open"] }, false},
		{"a container's line", func(c *Config) { c.Addr, c.RequirePass, c.ProtectedMode = ":0", "secret", false }, true},
	} {
		cfg := memberConfig(t, t.TempDir(), "a")
		cfg.BusAddr, cfg.GossipAddr = "", ""
		tt.change(&cfg)
		n, err := Open(cfg)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		resptest.WaitFor(t, "a cluster of one", func() bool { return n.cluster.entry.entered.Load() })
		for what, addr := range map[string]string{"bus": n.cluster.bus.Addr().String(), "gossip": n.gossipAddr()} {
			if host, _, err := hostport.Split(addr); err != nil || !hostport.IsLoopback(host) {
				t.Errorf("%s: %s at %s", tt.name, what, addr)
			}
		}
		if err := n.strangerAtBus(t); errors.Is(err, bus.ErrKey) != tt.refused || err != nil != tt.refused {
			t.Errorf("%s: the bus says %v to a stranger", tt.name, err)
		}
		stranger := memberConfig(t, t.TempDir(), "stranger", n.gossipAddr())
		s, err := Open(stranger)
		if err != nil {
			t.Fatal(err)
		}
		if tt.refused {
			if err := s.ended(t); !errors.Is(err, members.ErrKey) {
				t.Errorf("%s: gossip says %v to a stranger", tt.name, err)
			}
		} else {
			resptest.WaitFor(t, "the stranger is in", func() bool { return s.cluster.entry.entered.Load() })
			client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
			if err := client.Do(t.Context(), "ACL", "SETUSER", "default", "off").Err(); err == nil || !strings.Contains(err.Error(), "cluster-key") {
				t.Errorf("%s: the default user of two nodes is switched off: %v", tt.name, err)
			}
			if err := client.Do(t.Context(), "ACL", "SETUSER", "u", "on", ">pw").Err(); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			resptest.WaitFor(t, "two servers", func() bool { return n.cluster.table.Servers() == 2 })
			_, _ = client.Close(), s.Close()
		}
		_ = n.Close()
		if !tt.refused {
			cfg.TLSCert, cfg.TLSKey = cert, key
			var fault *Fault
			if with, err := Open(cfg); err == nil {
				t.Errorf("%s: one of two nodes starts with a key of its own", tt.name)
				_ = with.Close()
			} else if !errors.As(err, &fault) || fault.Setting != "cluster-key" || peerkey.Exists(cfg.Dir) {
				t.Errorf("%s: one of two nodes starts with a key of its own: %v", tt.name, err)
			}
		}
	}
}

// strangerAtBus shakes hands as a process that knows the cluster's name and no secret.
func (n *Node) strangerAtBus(t *testing.T) error {
	t.Helper()
	b, err := bus.Listen(bus.Config{ID: "stranger", Cluster: n.cfg.Cluster, Strategy: n.cfg.Strategy, Hash: n.cfg.Hash, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	conn, _, err := b.Dial(t.Context(), n.cluster.bus.Addr().String(), "", bus.Forward)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func TestNodesOfOnePasswordJoinWithoutAKey(t *testing.T) {
	randomtest.DrawShort(t, 4)
	defer goneInTheEnd(t)
	with := func(id, password string, join ...string) *Node {
		cfg := memberConfig(t, t.TempDir(), id, join...)
		cfg.RequirePass = password
		n, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	a := with("a", "secret")
	defer a.Close()
	b := with("b", "secret", a.gossipAddr())
	defer b.Close()
	resptest.WaitFor(t, "b is in", func() bool { return b.cluster.entry.entered.Load() })

	// The nodes prove the password of their start to each other, so none may change it.
	client := redistest.Client(&redis.Options{Addr: a.Addr().String(), Password: "secret"})
	defer client.Close()
	if err := client.ConfigSet(t.Context(), "requirepass", "other").Err(); err == nil || !strings.Contains(err.Error(), "cluster-key") {
		t.Errorf("a node of several took another password: %v", err)
	}
	if err := client.ConfigSet(t.Context(), "requirepass", "secret").Err(); err != nil {
		t.Error(err)
	}
	other := with("c", "other", a.gossipAddr())
	if err := other.ended(t); !errors.Is(err, members.ErrKey) {
		t.Errorf("a node of another password: %v", err)
	}
}

// A password that is set at run time closes the bus, too, until the node has its first
// one again.
func TestPasswordAtRunTimeClosesTheBus(t *testing.T) {
	defer goneInTheEnd(t)
	a := openMember(t, "a")
	defer a.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return a.cluster.entry.entered.Load() })
	client := redistest.Client(&redis.Options{Addr: a.Addr().String()})
	defer client.Close()
	set := func(password string) {
		t.Helper()
		if err := client.ConfigSet(context.Background(), "requirepass", password).Err(); err != nil {
			t.Fatal(err)
		}
	}
	set("secret")
	if err := a.strangerAtBus(t); !errors.Is(err, bus.ErrKey) || !strings.Contains(fmt.Sprint(err), "changed at run time") {
		t.Errorf("the bus says %v to a stranger", err)
	}
	set("")
	if err := a.strangerAtBus(t); err != nil {
		t.Errorf("without a password again: %v", err)
	}
}

// Users that keep clients without a password from anything close the bus, too. From the next start on, other
// nodes prove the key of the directory.
func TestUsersAtRunTimeCloseTheBus(t *testing.T) {
	defer goneInTheEnd(t)
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.ACLFile = aclFiles(t)["open"]
	open := func() (*Node, func(words ...any), func() error) {
		a, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		resptest.WaitFor(t, "a cluster of one", func() bool { return a.cluster.entry.entered.Load() })
		client := redistest.Client(&redis.Options{Addr: a.Addr().String(), Username: "admin", Password: "pw"})
		resptest.WaitFor(t, "users are agreed on", func() bool {
			return client.Do(context.Background(), "ACL", "SETUSER", "admin", "on").Err() == nil
		})
		do := func(words ...any) {
			t.Helper()
			if err := client.Do(context.Background(), words...).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return a, do, func() error { return errors.Join(client.Close(), a.Close()) }
	}
	a, do, end := open()
	closed := func(what string) {
		t.Helper()
		if err := a.strangerAtBus(t); !errors.Is(err, bus.ErrKey) {
			t.Errorf("%s: the bus says %v to a stranger", what, err)
		}
	}
	opened := func(what string) {
		t.Helper()
		if err := a.strangerAtBus(t); err != nil {
			t.Errorf("%s: the bus says %v to a stranger", what, err)
		}
	}
	opened("at the start")
	do("ACL", "SETUSER", "u", "on", ">pw", "~*", "+@all")
	opened("with another user")
	for _, rule := range []string{">pw", "off", "-flushall", "resetkeys"} {
		do("ACL", "SETUSER", "default", rule)
		closed("default " + rule)
		do("ACL", "LOAD")
		opened("after ACL LOAD")
	}
	do("ACL", "SETUSER", "default", "off")
	if err := end(); err != nil {
		t.Fatal(err)
	}
	cfg.ACLFile = ""
	a, _, end = open()
	defer func() { _ = end() }()
	closed("after a restart")
	if a.secret != secretFile {
		t.Errorf("after a restart the secret is %s", a.secret)
	}
}

// Whatever port a web page makes a browser post to, nothing of the body is run, and the
// node goes on.
func TestPostedCommandsAreRunAtNoPort(t *testing.T) {
	defer goneInTheEnd(t)
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.HTTPAddr = "127.0.0.1:0"
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return n.cluster.entry.entered.Load() })
	client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
	defer client.Close()
	if err := client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for what, addr := range map[string]string{
		"clients": n.Addr().String(), "http": n.HTTPAddr().String(), "bus": n.cluster.bus.Addr().String(), "gossip": n.gossipAddr(),
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Repeat("FLUSHALL\r\n*1\r\n$8\r\nFLUSHALL\r\n", 100)
		_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nOrigin: http://evil.example\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", addr, len(body), body)
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection stays open", what)
		}
		_ = conn.Close()
	}
	if got := client.Get(t.Context(), "key").Val(); got != "value" {
		t.Errorf("the key is %q", got)
	}
}
