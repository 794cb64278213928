package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// write writes a new certificate of a name, and its key, over the files.
func write(t *testing.T, files Files, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), Subject: pkix.Name{CommonName: name}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		files.Cert: {Type: "CERTIFICATE", Bytes: cert}, files.CA: {Type: "CERTIFICATE", Bytes: cert}, files.Key: {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCertificatesFollowTheirFiles(t *testing.T) {
	dir := t.TempDir()
	files := Files{Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), CA: filepath.Join(dir, "ca")}
	write(t, files, "first")
	var c Current
	if c.Config() != nil || c.Server() != nil {
		t.Error("a configuration without certificates")
	}
	c.Set(Load(files, func(setting, format string, args ...any) { t.Errorf("%s: "+format, append([]any{setting}, args...)...) }), slog.New(slog.DiscardHandler))
	name := func() string {
		t.Helper()
		config, err := c.Server().GetConfigForClient(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: config.ClientCAs}); err != nil {
			t.Errorf("the authority is not that of the certificate: %v", err)
		}
		return leaf.Subject.CommonName
	}
	look := func() string {
		t.Helper()
		c.looked = time.Time{}
		return name()
	}
	if got := look(); got != "first" {
		t.Errorf("clients are met with %q", got)
	}
	before := c.now.Load()
	write(t, files, "second")
	if got := name(); got != "first" { // the files were looked at a moment ago
		t.Errorf("clients are met with %q", got)
	}
	if got := look(); got != "second" {
		t.Errorf("clients are met with %q after the files have changed", got)
	}
	if c.now.Load() == before {
		t.Error("nothing was read")
	}
	for i, path := range []string{files.Cert, files.Key, files.CA} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, damage := range []func() error{
			func() error { return os.WriteFile(path, []byte("nothing"), 0o600) },
			func() error { return os.Remove(path) },
		} {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			if got := look(); got != "second" {
				t.Errorf("clients are met with %q, though file %d cannot be used", got, i)
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(t, files, "third")
	if got := look(); got != "third" {
		t.Errorf("clients are met with %q after the files were repaired", got)
	}
	still := c.now.Load()
	look()
	if c.now.Load() != still {
		t.Error("files that have not changed were read again")
	}
}

func TestLoadReportsEachFault(t *testing.T) {
	var settings []string
	fault := func(setting, _ string, _ ...any) { settings = append(settings, setting) }
	dir := t.TempDir()
	for _, peers := range []bool{false, true} {
		files := Files{Cert: filepath.Join(dir, "a"), Key: filepath.Join(dir, "b"), CA: filepath.Join(dir, "c"), Peers: peers}
		settings = nil
		Load(files, fault)
		if want := []string{files.Setting("cert"), files.Setting("key"), files.Setting("ca")}; !slices.Equal(settings, want) {
			t.Errorf("faults of %v, want %v", settings, want)
		}
	}
	if Load(Files{}, fault) != nil {
		t.Error("certificates without a file")
	}
}

func TestUsersOfACertificate(t *testing.T) {
	spiffe, err := url.Parse("spiffe://example.org/ns/shop/sa/cart")
	if err != nil {
		t.Fatal(err)
	}
	other := &url.URL{Scheme: "urn", Opaque: "cart"}
	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "cart"}, URIs: []*url.URL{other, spiffe}}
	for by, want := range map[string][]string{NoUser: nil, "": nil, ByName: {"cart"}, ByURI: {"urn:cart", "spiffe://example.org/ns/shop/sa/cart"}} {
		if got := Users(by, cert); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", by, got, want)
		}
		if got := Users(by, &x509.Certificate{}); len(got) > 0 {
			t.Errorf("%q: an empty certificate is %s", by, fmt.Sprint(got))
		}
	}
}
