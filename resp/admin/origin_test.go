package admin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

func TestPagesOfOtherSitesReadNothing(t *testing.T) {
	s, err := New(Config{Health: &Health{}, Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Hosts: []string{"DB-1.example"}})
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, method, path, remote, host, header, value string
		want                                            int
	}{
		{"a client here", "GET", "/metrics", "127.0.0.1:9", "localhost:8379", "", "", 200},
		{"by address", "GET", "/metrics", "[::1]:9", "[::1]:8379", "", "", 200},
		{"by the machine's name", "GET", "/metrics", "127.0.0.1:9", own + ":8379", "", "", 200},
		{"by a name of the settings", "GET", "/metrics", "10.0.0.9:9", "db-1.example:8379", "", "", 200},
		{"by the same name, written otherwise", "GET", "/metrics", "127.0.0.1:9", "db-1.EXAMPLE.", "", "", 200},
		{"by a name without dots", "GET", "/metrics", "10.0.0.9:9", "ringside-0:8379", "", "", 200},
		{"by the name of a Kubernetes service", "GET", "/metrics", "10.0.0.9:9", "kv.prod.svc.cluster.local:8379", "", "", 200},
		{"by an address with a zone", "GET", "/metrics", "[fe80::2%eth0]:9", "[fe80::1%eth0]:8379", "", "", 200},
		{"a rebound name", "GET", "/metrics", "127.0.0.1:9", "evil.example:8379", "", "", 403},
		{"a rebound name from another machine", "GET", "/metrics", "10.0.0.9:9", "evil.example:8379", "", "", 403},
		{"a name that begins as a reserved one ends", "GET", "/metrics", "10.0.0.9:9", "internal.evil.example:8379", "", "", 403},
		{"a name that ends in an address", "GET", "/metrics", "10.0.0.9:9", "127.0.0.1.evil.example", "", "", 403},
		{"a rebound name, index", "GET", "/", "127.0.0.1:9", "evil.example", "", "", 403},
		{"a probe by any name", "GET", "/healthz", "127.0.0.1:9", "node.example:8379", "", "", 200},
		{"an image of another site", "GET", "/debug/pprof/cmdline", "127.0.0.1:9", "localhost:8379", "Sec-Fetch-Site", "cross-site", 403},
		{"a script of another site", "GET", "/metrics", "10.0.0.9:9", "10.0.0.5:8379", "Origin", "http://evil.example", 403},
		{"a page of this site", "GET", "/metrics", "127.0.0.1:9", "localhost:8379", "Origin", "http://localhost:8379", 200},
		{"typed in", "GET", "/metrics", "127.0.0.1:9", "localhost:8379", "Sec-Fetch-Site", "none", 200},
		{"a change", "POST", "/metrics", "127.0.0.1:9", "localhost:8379", "", "", 405},
	} {
		r := httptest.NewRequest(test.method, test.path, nil)
		r.RemoteAddr, r.Host = test.remote, test.host
		if test.header != "" {
			r.Header.Set(test.header, test.value)
		}
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s: %d, want %d", test.name, w.Code, test.want)
		}
	}
}

func TestAnyHostAcceptsEveryName(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  bool
	}{{nil, false}, {[]string{AnyHost}, true}} {
		if got := newHosts(test.names).accept("evil.example:8379"); got != test.want {
			t.Errorf("with names %q: %v, want %v", test.names, got, test.want)
		}
	}
}
