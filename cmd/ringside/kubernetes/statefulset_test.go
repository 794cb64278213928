package kubernetes

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRemovedFollowsTheNumberOfReplicas(t *testing.T) {
	answer, status := "", http.StatusOK
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/apps/v1/namespaces/shop/statefulsets/ringside" || r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	defer api.Close()
	account := t.TempDir()
	for name, text := range map[string]string{
		"token": "secret\n", "namespace": "shop",
		"ca.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})),
	} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		pod, answer string
		status      int
		removed     bool
		fault       string
	}{
		{"ringside-2", `{"spec":{"replicas":3}}`, 200, false, ""},
		{"ringside-3", `{"spec":{"replicas":3}}`, 200, true, ""},
		{"ringside-0", `{"spec":{"replicas":0}}`, 200, true, ""},
		{"ringside-5", `{"spec":{"replicas":3,"ordinals":{"start":3}}}`, 200, false, ""},
		{"ringside-2", `{"spec":{"replicas":3,"ordinals":{"start":3}}}`, 200, true, ""},
		{"ringside-2", `{"spec":{}}`, 200, false, "no number of replicas"},
		{"ringside-2", `{"spec":`, 200, false, "unexpected EOF"},
		{"ringside-2", `{}`, 404, false, "404"},
		{"other-2", `{}`, 200, false, "is not of StatefulSet"},
		{"ringside-x", `{}`, 200, false, "is not of StatefulSet"},
	} {
		answer, status = test.answer, test.status
		p := Pod{Name: test.pod, API: strings.TrimPrefix(api.URL, "https://"), Account: account}
		removed, err := p.Removed(t.Context(), "ringside")
		if removed != test.removed || (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%s of %s: removed is %t, %v", test.pod, test.answer, removed, err)
		}
	}
	if _, err := (Pod{Name: "ringside-0", API: "127.0.0.1:1", Account: account}).Removed(t.Context(), "ringside"); err == nil {
		t.Error("no error without an API")
	}
	if _, err := ThisPod(func(string) string { return "" }); err == nil {
		t.Error("no error outside of Kubernetes")
	}
}
