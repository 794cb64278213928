package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthyAsksTheNode(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			http.Error(w, "not in a cluster yet", http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	at := strings.TrimPrefix(s.URL, "http://")
	_, port, _ := strings.Cut(at, ":")
	for _, test := range []struct {
		args    string
		environ []string
		code    int
		stderr  string
	}{
		{"healthy --http-addr " + at, nil, 0, ""},
		{"healthy", []string{"RINGSIDE_HTTP_ADDR=0.0.0.0:" + port, "RINGSIDE_REQUIREPASS=x"}, 0, ""},
		{"healthy --ready --http-addr " + at, nil, 1, "503 Service Unavailable: not in a cluster yet"},
		{"healthy --http-addr off", nil, 1, "serves no HTTP"},
		{"healthy --http-addr 127.0.0.1:1 --timeout 5s", nil, 1, "does not answer"},
		{"healthy --no-such-flag", nil, 2, "no-such-flag"},
	} {
		code, _, stderr := ringside(test.environ, strings.Fields(test.args)...)
		if code != test.code || !strings.Contains(stderr, test.stderr) {
			t.Errorf("%s: exit code %d, %q", test.args, code, stderr)
		}
	}
}
