package resp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store"
)

// certificateOf makes a certificate of a common name.
func certificateOf(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key, Leaf: leaf}
}

func TestCertificateIsAUser(t *testing.T) {
	names := []string{"bob", "off", "nobody"}
	own, known := certificateOf(t, "server"), x509.NewCertPool()
	clients := map[string]tls.Certificate{}
	for _, name := range names {
		clients[name] = certificateOf(t, name)
		known.AddCert(clients[name].Leaf)
	}
	_, addr := serveTest(t, func(c *Config, _ *store.Config) {
		c.Settings.Password = "secret"
		c.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known}
		c.CertUsers = func(cert *x509.Certificate) []string { return []string{"unknown", cert.Subject.CommonName} }
	})
	dial := func(name string) *resptest.Conn {
		t.Helper()
		conn, err := tls.Dial("tcp", addr, &tls.Config{Certificates: []tls.Certificate{clients[name]}, InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return &resptest.Conn{T: t, C: conn, Reader: resptest.NewReader(conn)}
	}
	admin := dial("nobody")
	const noauth = "-NOAUTH Authentication required."
	admin.Want(noauth, "PING")
	admin.Want("+OK", "AUTH", "secret")
	admin.Want("+OK", "ACL", "SETUSER", "bob", "on", "~b*", "+@all")
	admin.Want("+OK", "ACL", "SETUSER", "off", "off", "+@all")
	dial("off").Want(noauth, "PING")
	bob := dial("bob")
	bob.Want("$bob", "ACL", "WHOAMI")
	bob.Want("+OK", "SET", "b1", "v")
	bob.Want("-NOPERM No permissions to access a key", "SET", "a", "v")
	bob.Want("+RESET", "RESET")
	bob.Want(noauth, "PING")
	admin.Want(":1", "ACL", "DELUSER", "bob")
	dial("bob").Want(noauth, "PING")
}
