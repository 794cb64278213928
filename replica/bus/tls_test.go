package bus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/certtest"
)

// testTLS has a node show a certificate and trust authorities.
func testTLS(own tls.Certificate, trusted ...*certtest.Authority) *TLS {
	pool := certtest.Pool(trusted...)
	verify := func(state tls.ConnectionState) error {
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool})
		if err != nil {
			err = &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
		}
		return err
	}
	return &TLS{
		Client: func() *tls.Config {
			return &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, VerifyConnection: verify,
				GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }}
		},
		Server: func() *tls.Config {
			return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
				SessionTicketsDisabled: true}
		},
	}
}

func optional(t *TLS) *TLS {
	t.Optional = true
	return t
}

// TestConnectionsAreSecuredByCertificates has nodes of all combinations of TLS meet over real sockets.
func TestConnectionsAreSecuredByCertificates(t *testing.T) {
	cluster, other := certtest.New(t, "cluster"), certtest.New(t, "other")
	pair := func(of *certtest.Authority, name string, changes ...func(*x509.Certificate)) tls.Certificate {
		return of.Pair(t, name, changes...)
	}
	required := func(name string) *TLS { return testTLS(pair(cluster, name), cluster) }
	expired := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }
	server := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	nobody := required("a")
	nobody.Client = func() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true} }
	for _, test := range []struct {
		name            string
		dials, accepts  *TLS
		secure, refused bool
	}{
		{"both", required("a"), required("b"), true, false},
		{"the dialler's is optional", optional(required("a")), required("b"), true, false},
		{"the acceptor's is optional", required("a"), optional(required("b")), true, false},
		{"both are optional", optional(required("a")), optional(required("b")), true, false},
		{"neither", nil, nil, false, false},
		{"only the dialler, optional", optional(required("a")), nil, false, false},
		{"only the acceptor, optional", nil, optional(required("b")), false, false},
		{"only the dialler", required("a"), nil, false, true},
		{"only the acceptor", nil, required("b"), false, true},
		{"a stranger dials", testTLS(pair(other, "a"), cluster), required("b"), false, true},
		{"a stranger dials where TLS is optional", testTLS(pair(other, "a"), cluster), optional(required("b")), false, true},
		{"a stranger accepts", required("a"), testTLS(pair(other, "b"), cluster), false, true},
		{"a stranger accepts where TLS is optional", optional(required("a")), testTLS(pair(other, "b"), cluster), false, true},
		{"an expired certificate", testTLS(pair(cluster, "a", expired), cluster), required("b"), false, true},
		{"a certificate for servers only", testTLS(pair(cluster, "a", server), cluster), required("b"), false, true},
		{"no certificate", nobody, required("b"), false, true},
		{"two authorities while they change", testTLS(pair(other, "a"), cluster, other), testTLS(pair(cluster, "b"), cluster, other), true, false},
	} {
		eachKey(t, func(t *testing.T, key []byte) {
			dialler, acceptor := testConfig("a"), testConfig("b")
			dialler.TLS, acceptor.TLS, dialler.Key, acceptor.Key = test.dials, test.accepts, key, key
			b := startBus(t, acceptor)
			met := make(chan Peer, 2)
			b.cfg.Met = func(p Peer) { met <- p }
			a := startBus(t, dialler)
			conn, peer, err := a.Dial(t.Context(), b.Addr().String(), "b", Stream)
			if test.refused {
				if !errors.Is(err, ErrTLS) {
					t.Errorf("%s: %v", test.name, err)
				}
				if err == nil {
					_ = conn.Close()
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			defer conn.Close()
			if p := <-met; p.Secure != test.secure || peer.Secure != test.secure {
				t.Errorf("%s: secure is %t at the dialler, %t at the acceptor", test.name, peer.Secure, p.Secure)
			}
			if got := conn.(interface{ PeerIncarnation() uint64 }).PeerIncarnation(); got != 7 {
				t.Errorf("%s: incarnation %d", test.name, got)
			}
			text := strings.Repeat("between nodes ", 10_000)
			go func() { _, _ = conn.Write([]byte(text)) }()
			got := make([]byte, len(text))
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != text {
				t.Errorf("%s: the echo is another text, %v", test.name, err)
			}
		})
	}
}

// TestPeerWithCertificateStillProvesTheKey has a node with a certificate, but another cluster key, dial.
func TestPeerWithCertificateStillProvesTheKey(t *testing.T) {
	cluster := certtest.New(t, "cluster")
	dialler, acceptor := testConfig("a"), testConfig("b")
	dialler.TLS, acceptor.TLS = testTLS(cluster.Pair(t, "a"), cluster), testTLS(cluster.Pair(t, "b"), cluster)
	acceptor.Key = testKey
	b := startBus(t, acceptor)
	for _, key := range []string{"", "another key of sixteen bytes"} {
		dialler.Key = []byte(key)
		if _, _, err := startBus(t, dialler).Dial(t.Context(), b.Addr().String(), "b", Stream); !errors.Is(err, ErrKey) {
			t.Errorf("key %q: %v", key, err)
		}
	}
}

// TestProofOfTheKeyCannotBePassedOn puts a process between two nodes that has a certificate of the cluster, and not the key:
// it decrypts what one side sends and encrypts it for the other.
func TestProofOfTheKeyCannotBePassedOn(t *testing.T) {
	cluster := certtest.New(t, "cluster")
	dialler, acceptor := testConfig("a"), testConfig("b")
	dialler.TLS, acceptor.TLS = testTLS(cluster.Pair(t, "a"), cluster), testTLS(cluster.Pair(t, "b"), cluster)
	dialler.Key, acceptor.Key = testKey, testKey
	b := startBus(t, acceptor)
	between, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own := testTLS(cluster.Pair(t, "between"), cluster)
	done := make(chan struct{})
	defer func() { _ = between.Close(); <-done }()
	go func() {
		defer close(done)
		near, err := between.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			_ = near.Close()
			return
		}
		in, out := tls.Server(near, own.Server()), tls.Client(far, own.Client())
		back := make(chan struct{})
		go func() { defer close(back); _, _ = io.Copy(in, out); _ = near.Close() }()
		_, _ = io.Copy(out, in)
		_ = far.Close()
		<-back
	}()
	conn, _, err := startBus(t, dialler).Dial(t.Context(), between.Addr().String(), "b", Stream)
	if !errors.Is(err, ErrKey) {
		t.Errorf("the proof was passed on: %v", err)
	}
	if err == nil {
		_ = conn.Close()
	}
}

// TestNodeWithoutTLSIsFoundAgain has a node that speaks no TLS restart with it: where TLS is optional, what a node remembers
// of it keeps no connection from it.
func TestNodeWithoutTLSIsFoundAgain(t *testing.T) {
	cluster := certtest.New(t, "cluster")
	dialler, acceptor := testConfig("a"), testConfig("b")
	dialler.TLS = optional(testTLS(cluster.Pair(t, "a"), cluster))
	a := startBus(t, dialler)
	dial := func(secure bool) {
		t.Helper()
		b := startBus(t, acceptor)
		conn, peer, err := a.Dial(t.Context(), b.Addr().String(), "b", Stream)
		if err != nil || peer.Secure != secure {
			t.Fatalf("secure is %t: %v", peer.Secure, err)
		}
		_ = conn.Close()
		_ = b.Close()
	}
	dial(false)
	if !a.plain.has("b", time.Now()) {
		t.Error("a node without TLS is asked for it each time")
	}
	dial(false)
	acceptor.TLS = testTLS(cluster.Pair(t, "b"), cluster)
	dial(true)
}

// TestBuildWithoutTLSBetweenNodesIsDialled has a node answer as builds do that know no TLS: it hangs up on anything but a hello.
func TestBuildWithoutTLSBetweenNodesIsDialled(t *testing.T) {
	cluster := certtest.New(t, "cluster")
	acceptor := testConfig("b")
	acceptor.EnsureDefaults()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	defer func() { _ = l.Close(); <-done }()
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _, _ = acceptHandshake(&acceptor, conn, func(Purpose) bool { return true })
			_ = conn.Close()
		}
	}()
	for _, isOptional := range []bool{true, false} {
		dialler := testConfig("a")
		dialler.TLS = testTLS(cluster.Pair(t, "a"), cluster)
		dialler.TLS.Optional = isOptional
		conn, _, err := startBus(t, dialler).Dial(t.Context(), l.Addr().String(), "b", Stream)
		if isOptional != (err == nil) || !isOptional && !errors.Is(err, errNoTLS) {
			t.Errorf("optional is %t: %v", isOptional, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}

// TestSilentTLSHandshakeEnds has a process begin a record and send no more: its slot is taken by others, as that of any
// connection that says nothing, and the log is not filled.
func TestSilentTLSHandshakeEnds(t *testing.T) {
	cluster := certtest.New(t, "cluster")
	acceptor, dialler := testConfig("b"), testConfig("a")
	acceptor.MaxHandshakes, acceptor.HandshakeTimeout = 2, time.Hour
	acceptor.TLS, dialler.TLS = testTLS(cluster.Pair(t, "b"), cluster), testTLS(cluster.Pair(t, "a"), cluster)
	b := startBus(t, acceptor)
	for _, begin := range []string{"\x16", "\x16\x03\x01\x40\x00", "\x16\x03\x01"} {
		conn, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte(begin)); err != nil {
			t.Fatal(err)
		}
	}
	conn, _, err := startBus(t, dialler).Dial(context.Background(), b.Addr().String(), "b", Stream)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
