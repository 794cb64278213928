package node

import (
	"crypto/tls"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
)

func TestReloadAppliesChangesAndNewCertificates(t *testing.T) {
	defer goneInTheEnd(t)
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.TLSCert, cfg.TLSKey = selfSigned(t)
	var written map[string]string // by CONFIG REWRITE
	cfg.Rewrite = func(values, _ map[string]string) error { written = values; return nil }
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	client := redistest.Client(&redis.Options{Addr: n.Addr().String(), TLSConfig: &tls.Config{InsecureSkipVerify: true}})
	defer client.Close()
	certificate := func() string {
		t.Helper()
		conn, err := tls.Dial("tcp", n.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return string(conn.ConnectionState().PeerCertificates[0].Raw)
	}
	is := func(name, want string) {
		t.Helper()
		if got := client.ConfigGet(t.Context(), name).Val()[name]; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	// What CONFIG REWRITE writes to the file can be read from it again without a restart.
	if err := client.ConfigRewrite(t.Context()).Err(); err != nil || len(written) == 0 {
		t.Fatalf("%v, %d settings are written", err, len(written))
	}
	for name := range written {
		if !Reloads(name) {
			t.Errorf("CONFIG SET changes %s, and Reload does not", name)
		}
	}
	if err := client.ConfigSet(t.Context(), "max-args", "5000").Err(); err != nil {
		t.Fatal(err)
	}
	first := certificate()

	// The same files hold another certificate now.
	cert, key := selfSigned(t)
	for from, to := range map[string]string{cert: cfg.TLSCert, key: cfg.TLSKey} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	next := cfg
	next.MaxClients, next.Cache = 77, 64*mib
	next.MinFreeDisk, next.ProtectedMode, next.TCPKeepAlive = mib, false, 7*time.Second
	if err := n.Reload(next); err != nil {
		t.Fatal(err)
	}
	is("max-clients", "77")
	is("max-args", "5000") // which CONFIG SET has changed, and the file has not
	is("min-free-disk", fmt.Sprint(mib))
	is("protected-mode", "no")
	is("tcp-keepalive", "7")
	if certificate() == first {
		t.Error("clients are met with the old certificate")
	}

	// A faulty file changes nothing.
	second := certificate()
	if err := os.WriteFile(cfg.TLSCert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	next.MaxClients = 78
	if err := n.Reload(next); err == nil {
		t.Error("a faulty certificate was taken")
	}
	is("max-clients", "77")
	if certificate() != second {
		t.Error("clients are met with another certificate")
	}
}
