package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/certtest"
	"github.com/ringside-kv/ringside/internal/memconn"
)

// A member is a node with files of its own.
type member struct {
	Current
	dir   string
	files Files
	log   bytes.Buffer
}

func newMember(t *testing.T, signs *certtest.Authority, trusts ...*certtest.Authority) *member {
	t.Helper()
	m := &member{dir: t.TempDir()}
	m.files = Files{Cert: filepath.Join(m.dir, "cert"), Key: filepath.Join(m.dir, "key"), CA: filepath.Join(m.dir, "ca"), Peers: true}
	m.issue(t, signs)
	m.trust(t, trusts...)
	m.Set(Load(m.files, func(setting, format string, args ...any) { t.Errorf("%s: "+format, append([]any{setting}, args...)...) }), slog.New(slog.NewTextHandler(&m.log, nil)))
	return m
}

func (m *member) issue(t *testing.T, signs *certtest.Authority, changes ...func(*x509.Certificate)) {
	cert, key := signs.Issue(t, "node", changes...)
	certtest.Replace(t, m.dir, map[string][]byte{"cert": cert, "key": key})
}

func (m *member) trust(t *testing.T, trusts ...*certtest.Authority) {
	var text []byte
	for _, a := range trusts {
		text = append(text, a.PEM()...)
	}
	certtest.Replace(t, m.dir, map[string][]byte{"ca": text})
}

// look has the files looked at now.
func (m *member) look() { m.looked = time.Time{} }

// connect has a dial b, and returns the first fault of either side.
func connect(a, b *member) error {
	a.look()
	b.look()
	near, far := memconn.Pipe()
	defer near.Close()
	told := make(chan error, 1)
	go func() {
		defer far.Close()
		server := tls.Server(far, b.Config())
		err := server.Handshake()
		if err == nil {
			_, err = server.Write([]byte("x"))
		}
		told <- err
	}()
	client := tls.Client(near, a.Client())
	err := client.Handshake()
	if err == nil {
		_, err = io.ReadFull(client, make([]byte, 1))
	}
	_ = near.Close()
	if other := <-told; other != nil {
		err = other
	}
	return err
}

func TestPeersVerifyEachOther(t *testing.T) {
	cluster, other := certtest.New(t, "cluster"), certtest.New(t, "other")
	a, b := newMember(t, cluster, cluster), newMember(t, cluster, cluster)
	stranger := newMember(t, other, other, cluster)
	if err := connect(a, b); err != nil {
		t.Error(err)
	}
	for name, test := range map[string][2]*member{"dials": {stranger, a}, "accepts": {a, stranger}} {
		if err := connect(test[0], test[1]); err == nil {
			t.Errorf("a stranger %s", name)
		}
	}
	// The authority changes in three steps of which each node takes each by itself.
	for _, step := range []func(m *member){
		func(m *member) { m.trust(t, cluster, other) }, func(m *member) { m.issue(t, other) }, func(m *member) { m.trust(t, other) },
	} {
		for _, m := range []*member{a, b} {
			step(m)
			for _, pair := range [][2]*member{{a, b}, {b, a}} {
				if err := connect(pair[0], pair[1]); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if err := connect(newMember(t, cluster, cluster, other), a); err == nil {
		t.Error("a certificate of the earlier authority counts")
	}
}

func TestOnlyCertificatesWithANameOfNodesCount(t *testing.T) {
	authority := certtest.New(t, "company")
	spiffe := func(path string) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			c.DNSNames, c.URIs = nil, []*url.URL{{Scheme: "spiffe", Host: "shop", Path: path}}
		}
	}
	named := func(names ...string) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.Subject.CommonName, c.DNSNames = "ringside-9", names }
	}
	for _, test := range []struct {
		names string
		peer  func(*x509.Certificate)
		ok    bool
	}{
		{"", named("cart.shop.svc"), true},
		{"ringside-*", named("ringside-0"), true},
		{"ringside-*", named("cart.shop.svc", "RINGSIDE-0"), true},
		{"ringside-*", named("cart.ringside-0"), false},
		{"ringside-*", named("cart.shop.svc"), false}, // the common name does not count beside other names
		{"ringside-*", named(), true},
		{"*.ringside.shop.svc, node", named("ringside-0.ringside.shop.svc"), true},
		{"*.ringside.shop.svc, node", named("ringside.shop.svc"), false},
		{"spiffe://shop/ringside/*,node", spiffe("/ringside/0"), true},
		{"spiffe://shop/ringside/*,node", spiffe("/cart/0"), false},
		{"nodes", func(c *x509.Certificate) { c.Subject.CommonName, c.DNSNames = "", nil }, false},
	} {
		peer, own := newMember(t, authority, authority), newMember(t, authority, authority)
		peer.issue(t, authority, test.peer)
		own.files.Names = test.names
		own.now.Load().files.Names = test.names
		own.now.Load().asPeer()
		for name, pair := range map[string][2]*member{"dials": {peer, own}, "accepts": {own, peer}} {
			err := connect(pair[0], pair[1])
			if (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "cluster-tls-name") && !strings.Contains(err.Error(), "bad certificate") {
				t.Errorf("with %q, a peer %s: %v", test.names, name, err)
			}
		}
		// No node starts with a certificate that others with its settings would refuse.
		peer.files.Names = test.names
		refused := false
		Load(peer.files, func(setting, _ string, _ ...any) { refused = setting == "cluster-tls-cert" })
		if refused == test.ok {
			t.Errorf("a node starts with %q: %t", test.names, !refused)
		}
	}
}

func TestCertificateThatPeersWouldRefuseIsNotUsed(t *testing.T) {
	cluster, other := certtest.New(t, "cluster"), certtest.New(t, "other")
	for name, test := range map[string]struct {
		signs  *certtest.Authority
		change func(*x509.Certificate)
		text   string
	}{
		"another authority": {other, func(*x509.Certificate) {}, "unknown authority"},
		"expired":           {cluster, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }, "expired"},
		"not valid yet":     {cluster, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }, "not yet valid"},
		"for servers only":  {cluster, func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }, "clientAuth"},
		"for clients only":  {cluster, func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[:1] }, "serverAuth"},
	} {
		m := newMember(t, cluster, cluster)
		before := m.Client()
		m.issue(t, test.signs, test.change)
		m.look()
		if m.Client() != before || m.Failures() != 1 || !strings.Contains(m.log.String(), test.text) || !strings.Contains(m.log.String(), "cluster-tls-cert") {
			t.Errorf("%s: replaced is %t, %d failures, log %s", name, m.Client() != before, m.Failures(), &m.log)
		}
		var faults []string
		Load(m.files, func(setting, format string, args ...any) {
			faults = append(faults, setting+": "+fmt.Sprintf(format, args...))
		})
		if len(faults) != 1 || !strings.HasPrefix(faults[0], "cluster-tls-cert: ") || !strings.Contains(faults[0], test.text) {
			t.Errorf("%s: at the start: %q", name, faults)
		}
		m.issue(t, cluster)
		m.look()
		if m.Client() == before {
			t.Errorf("%s: a good certificate is not used after it", name)
		}
	}
	var none Current
	var log bytes.Buffer
	none.Set(nil, slog.New(slog.NewTextHandler(&log, nil)))
	none.Reload(nil)
	none.Reload(newMember(t, cluster, cluster).now.Load())
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "setting=cluster-tls-cert") {
		t.Errorf("a reload turns TLS on: %s", got)
	}
	if none.Client() != nil || none.Config() != nil {
		t.Error("a configuration without certificates")
	}
}

func TestSettingsOfCertificatesAreWhole(t *testing.T) {
	authority := certtest.New(t, "cluster")
	whole := newMember(t, authority, authority).files
	for _, test := range []struct {
		change func(*Settings)
		want   []string
	}{
		{func(*Settings) {}, nil},
		{func(s *Settings) { s.Mode = Prefer }, []string{"cluster-tls"}},
		{func(s *Settings) { s.Nodes, s.Mode = whole, Prefer }, []string{"cluster-tls"}},
		{func(s *Settings) { s.Nodes, s.Mode, s.Keyed = whole, Prefer, true }, nil},
		{func(s *Settings) { s.Nodes = whole }, nil},
		{func(s *Settings) { s.Nodes = whole; s.Nodes.Names = "node, other" }, nil},
		{func(s *Settings) { s.Nodes = whole; s.Nodes.Names = "node,," }, []string{"cluster-tls-name"}},
		{func(s *Settings) { s.Nodes = whole; s.Nodes.Names = "other" }, []string{"cluster-tls-cert"}},
		{func(s *Settings) { s.Nodes.Names = "node" }, []string{"cluster-tls-cert", "cluster-tls-key", "cluster-tls-ca"}},
		{func(s *Settings) { s.Nodes.CA = "x" }, []string{"cluster-tls-cert", "cluster-tls-key"}},
		{func(s *Settings) { s.Nodes.Cert = "x" }, []string{"cluster-tls-key", "cluster-tls-ca"}},
		{func(s *Settings) { s.Clients.Key = "x" }, []string{"tls-cert"}},
		{func(s *Settings) { s.Clients.Cert = "x" }, []string{"tls-key"}},
		{func(s *Settings) { s.Clients.CA, s.Nodes.Key = "x", "x" }, []string{"tls-ca", "cluster-tls-cert", "cluster-tls-ca"}},
		{func(s *Settings) { s.User = ByName }, []string{"tls-auth-user"}},
	} {
		s := Settings{User: NoUser, Nodes: Files{Peers: true}, Mode: Require}
		test.change(&s)
		var got []string
		s.Validate(func(setting, _ string, _ ...any) { got = append(got, setting) })
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%+v: faults of %v, want %v", s, got, test.want)
		}
	}
}

func TestEveryAuthorityOfAFileIsRead(t *testing.T) {
	one, two := certtest.New(t, "one").PEM(), certtest.New(t, "two").PEM()
	broken := bytes.Replace(two, two[40:60], two[60:80], 1)
	for name, test := range map[string]struct {
		text        []byte
		ok, clients bool
	}{
		"one":             {one, true, true},
		"two":             {append(bytes.Clone(one), two...), true, true},
		"text around":     {[]byte("# one\n" + string(one) + "# two\n" + string(two) + "\n"), true, true},
		"a broken second": {append(bytes.Clone(one), broken...), false, true},
		"a broken first":  {append(bytes.Clone(broken), one...), false, true},
		"none":            {nil, false, false},
		"a key":           {[]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), false, false},
	} {
		if _, err := authorities(test.text, true); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := authorities(test.text, false); (err == nil) != test.clients {
			t.Errorf("%s, for clients: %v", name, err)
		}
	}
}
