package node

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// A node serves the live page, and the JSON that it shows, until it is closed: a page that is open does not keep it.
func TestNodeServesTheLivePage(t *testing.T) {
	n := openTest(t, func(c *Config) { c.HTTPAddr = "127.0.0.1:0" })
	get := func(path string) (int, string) {
		r, err := http.Get("http://" + n.HTTPAddr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(body)
	}
	resptest.WaitFor(t, "the node to be in its cluster", func() bool { code, _ := get("/api/v1/status"); return code == 200 })
	var report struct {
		Nodes []struct{ ID string }
	}
	if _, body := get("/api/v1/status"); json.Unmarshal([]byte(body), &report) != nil || len(report.Nodes) != 1 || report.Nodes[0].ID != n.ID() {
		t.Errorf("%s", body)
	}
	if _, body := get("/api/v1/ranges"); !strings.Contains(body, `{"nodes":["`+n.ID()+`"],"starts":[0,`) {
		t.Errorf("%.200s", body)
	}
	for path, want := range map[string]string{"/": "/page/page.js", "/page/page.js": "EventSource", "/pages": "/api/v1/", "/api/v1/history": "[", "/api/v1/history?node=" + n.ID(): "[", "/api/v1/history?node=*": "["} {
		if code, body := get(path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s", path, code, body)
		}
	}
	if code, body := get("/api/v1/history?node=nobody"); code != 404 {
		t.Errorf("the history of nobody: %d %.200s", code, body)
	}
	for change, want := range map[string]string{
		"join+n9:2": `200 {"text":"join n9 of weight 2`, "leave+" + n.ID(): "400 LEAVE: no node would be left", "sideways": "400 wrong number of arguments",
		"leave+nobody": "400 LEAVE: ", "strategy+none": "400 ", "": "400 syntax error",
	} {
		if code, body := get("/api/v1/plan?change=" + change); !strings.HasPrefix(fmt.Sprint(code, " ", body), want) || strings.Contains(want, "n9") && !strings.Contains(body, `"n9"`) {
			t.Errorf("%q: %d %.300s", change, code, body)
		}
	}
	r, err := http.Get("http://" + n.HTTPAddr().String() + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Error(err)
	}
}
