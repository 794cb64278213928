package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// selfSigned writes a certificate and its key.
func selfSigned(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", keyDER)
}

func TestTLSConfig(t *testing.T) {
	c := DefaultConfig()
	if config, nodes, err := c.loadTLS(); config != nil || nodes != nil || err != nil {
		t.Errorf("without tls-cert: %v, %v", config, err)
	}

	c.TLSCert, c.TLSKey = selfSigned(t)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	config, _, err := c.loadTLS()
	if err != nil {
		t.Fatal(err)
	}
	if len(config.TLS.Certificates) != 1 || config.TLS.ClientAuth != tls.NoClientCert {
		t.Errorf("%d certificates, client certificates %v", len(config.TLS.Certificates), config.TLS.ClientAuth)
	}

	c.TLSCA = c.TLSCert
	if config, _, err = c.loadTLS(); err != nil || config.TLS.ClientAuth != tls.RequireAndVerifyClientCert {
		t.Errorf("with tls-ca: %v", err)
	}

	c.TLSCA = c.TLSKey // PEM, but no certificate
	if _, _, err = c.loadTLS(); err == nil {
		t.Error("a key was taken for a CA")
	}

	_, c.TLSKey = selfSigned(t)
	c.TLSCA = ""
	if _, _, err = c.loadTLS(); err == nil {
		t.Error("another certificate's key was accepted")
	}
}
