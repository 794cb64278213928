package client

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// Encrypted, all is the same; who is not trusted is not spoken to.
func TestEncryptedConnections(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	trust := s.Client().Transport.(*http.Transport).TLSClientConfig
	f := newFake(t, &fake{tls: s.TLS, cut: func(conn int) int { return 200 + conn }})
	_, port, _ := net.SplitHostPort(f.addr)
	for _, rate := range []string{"", "5000"} {
		f.mu.Lock()
		clear(f.values)
		f.mu.Unlock()
		w := workloadOf(t, "1 get; 1 set")
		w.Rate, _ = workload.ParseRate(rate)
		cfg := Config{Workload: w, Targets: only("127.0.0.1:" + port), TLS: trust, Pipeline: 3}
		verified(t, &cfg)
		l := open(t, cfg)
		if err := l.Fill(within(t), 100); err != nil {
			t.Fatal(err)
		}
		l.Start()
		untilDone(t, l, 500)
		r, err := l.Stop(within(t))
		if c := cfg.Check.Checked(); err != nil || c.Lost+c.Stale+c.Corrupt > 0 || r.Broken == 0 {
			t.Errorf("%v, %+v, %d broken", err, c, r.Broken)
		}
	}
	if _, err := Open(within(t), Config{Workload: workloadOf(t, "1 get"), Targets: only(f.addr), TLS: &tls.Config{RootCAs: x509.NewCertPool()}}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Error(err)
	}
}
