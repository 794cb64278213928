package node

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// A webRequest is to the HTTP port of a node.
type webRequest struct{ method, path, kind, body, user, password, host string }

// webAsk sends a request, and returns the status, a space and the body.
func webAsk(t *testing.T, n *Node, ask webRequest) (string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), ask.method, "http://"+n.HTTPAddr().String()+ask.path, strings.NewReader(ask.body))
	if err != nil {
		t.Fatal(err)
	}
	if ask.host != "" {
		r.Host = ask.host
	}
	if ask.user != "" {
		r.SetBasicAuth(ask.user, ask.password)
	}
	if ask.kind != "" {
		r.Header.Set("Content-Type", ask.kind)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(reply.StatusCode, " ", string(body)), reply.Header
}

// The page sends orders as users with passwords, who have the rights that they have as clients.
func TestPageTakesOrdersOfUsers(t *testing.T) {
	n := openTest(t, func(c *Config) { c.HTTPAddr = "127.0.0.1:0" })
	resptest.WaitFor(t, "the node to be in its cluster", func() bool {
		reply, _ := webAsk(t, n, webRequest{method: "GET", path: "/api/v1/status"})
		return strings.HasPrefix(reply, "200 ")
	})
	for _, user := range [][]string{
		{"ada", ">secret", "+@all"}, {"eve", ">word", "+ping", "+ring|pause"}, {"bob", "nopass", "+@all"}, {"off", ">x", "+@all"},
	} {
		rules := append([]string{"ACL", "SETUSER", user[0]}, user[1:]...)
		if user[0] != "off" {
			rules = append(rules, "on")
		}
		if _, err := n.Do(t.Context(), rules...).Text(); err != nil {
			t.Fatal(err)
		}
	}
	const json = "application/json"
	order := func(user, password, words string) webRequest {
		return webRequest{"POST", "/api/v1/orders", json, `{"command": ` + words + `}`, user, password, ""}
	}
	for _, tt := range []struct {
		ask    webRequest
		want   string
		paused bool
	}{
		{order("ada", "secret", `[]`), `200 {"reply":"PONG"}`, false},
		{order("ada", "secret", `["pause"]`), `200 {"reply":"OK"}`, true},
		{order("eve", "word", `["RESUME"]`), "403 NOPERM", true},
		{order("ada", "wrong", `["RESUME"]`), "401 WRONGPASS", true},
		{order("nobody", "secret", `["RESUME"]`), "401 WRONGPASS", true},
		{order("off", "x", `["RESUME"]`), "401 WRONGPASS", true},
		{order("bob", "secret", `["RESUME"]`), `403 "bob" needs no password`, true},
		{order("default", "", `["RESUME"]`), `403 "default" needs no password`, true},
		{order("", "", `["RESUME"]`), "401 log in", true},
		{order("ada", "secret", `["STATUS"]`), `400 "STATUS" is not an order`, true},
		{order("ada", "secret", `["RECREATE"]`), `400 "RECREATE" is not an order`, true},
		{order("ada", "secret", `["THROTTLE", "fast"]`), "409 ERR", true},
		{order("ada", "secret", `["FORGET", "nobody"]`), "409 ERR", true},
		{order("ada", "secret", `["PAUSE`), "400 malformed order", true},
		{order("ada", "secret", `["`+strings.Repeat("x", 5000)+`"]`), "400 malformed order", true},
		{webRequest{"POST", "/api/v1/orders", "text/plain", `{"command": ["RESUME"]}`, "ada", "secret", ""}, "415 ", true},
		{webRequest{"GET", "/api/v1/orders", "", "", "ada", "secret", ""}, "405 ", true},
		{order("ada", "secret", `["RESUME"]`), `200 {"reply":"OK"}`, false},
		{order("eve", "word", `["PAUSE"]`), `200 {"reply":"OK"}`, true},
	} {
		reply, header := webAsk(t, n, tt.ask)
		if !strings.HasPrefix(reply, tt.want) || strings.HasPrefix(header.Get("WWW-Authenticate"), "Basic") {
			t.Errorf("%+v: %s, want %s; %v", tt.ask, reply, tt.want, header)
		}
		if st := n.cluster.table.State().Cluster(); st.Paused != tt.paused {
			t.Errorf("%+v: paused is %v", tt.ask, st.Paused)
		}
	}
	// What was refused is in the log of the rules, with the address of the browser.
	log, err := n.Do(t.Context(), "ACL", "LOG", "1").List()
	if err != nil || len(log) != 1 {
		t.Fatal(log, err)
	}
	entry, err := log[0].List()
	if err != nil {
		t.Fatal(err)
	}
	client := ""
	for i := 1; i < len(entry); i += 2 {
		if name, _ := entry[i-1].Text(); name == "client-info" {
			client, _ = entry[i].Text()
		}
	}
	if !strings.Contains(client, "addr=127.0.0.1:") {
		t.Errorf("%q", client)
	}
}

// With http-auth everything but health checks demands a user who may run INFO.
func TestHTTPDemandsAUser(t *testing.T) {
	n := openTest(t, func(c *Config) { c.HTTPAddr, c.HTTPAuth = "127.0.0.1:0", true })
	for _, rules := range []string{"ACL SETUSER ada on >secret +info", "ACL SETUSER eve on >word +ping"} {
		resptest.WaitFor(t, rules, func() bool { // the node may not be in its cluster yet
			_, err := n.Do(t.Context(), strings.Fields(rules)...).Text()
			return err == nil
		})
	}
	for _, path := range []string{"/", "/metrics", "/page/page.js", "/api/v1/history", "/pages", "/debug/pprof/cmdline"} {
		for _, tt := range []struct{ user, password, want string }{
			{"ada", "secret", "200 "}, {"ada", "wrong", "401 WRONGPASS"}, {"eve", "word", "403 NOPERM"}, {"", "", "401 log in"}, {"default", "", "403 "},
		} {
			reply, header := webAsk(t, n, webRequest{method: "GET", path: path, user: tt.user, password: tt.password})
			if !strings.HasPrefix(reply, tt.want) || strings.HasPrefix(tt.want, "401") != strings.HasPrefix(header.Get("WWW-Authenticate"), "Basic ") {
				t.Errorf("%s as %q: %.80q, want %q; %v", path, tt.user, reply, tt.want, header)
			}
		}
	}
	for _, path := range []string{"/livez", "/healthz", "/readyz"} {
		if reply, _ := webAsk(t, n, webRequest{method: "GET", path: path}); strings.HasPrefix(reply, "401") {
			t.Errorf("%s: %s", path, reply)
		}
	}
}

// A browser with a page of another site, whose name has been made to lead to the node, gets nothing of it.
func TestHTTPRefusesUnknownHostNames(t *testing.T) {
	n := openTest(t, func(c *Config) {
		c.HTTPAddr, c.HTTPHosts, c.Advertise = "127.0.0.1:0", []string{"metrics.example"}, "127.0.0.1"
	})
	for _, path := range []string{"/", "/metrics", "/page/page.js", "/api/v1/status", "/api/v1/events", "/pages", "/debug/pprof/cmdline"} {
		reply, _ := webAsk(t, n, webRequest{method: "GET", path: path, host: "evil.example:8379"})
		if !strings.HasPrefix(reply, "403 ") || !strings.Contains(reply, "http-hosts") {
			t.Errorf("%s by an unknown name: %.80q", path, reply)
		}
	}
	for _, host := range []string{"metrics.example", "metrics.example:8379", "localhost:8379"} {
		if reply, _ := webAsk(t, n, webRequest{method: "GET", path: "/metrics", host: host}); !strings.HasPrefix(reply, "200 ") {
			t.Errorf("by %s: %.80q", host, reply)
		}
	}
}

// Anybody may plan on the page, so a plan there takes little memory: a few hundred nodes of a large weight would have
// millions of points. RING PLAN has the bound of the strategies.
func TestPlansOfThePageAreBounded(t *testing.T) {
	n := openTest(t, func(c *Config) { c.HTTPAddr = "127.0.0.1:0" })
	plan := func(nodes int, weight string) string {
		var change strings.Builder
		for i := range nodes {
			fmt.Fprintf(&change, "join n%d:%s ", i, weight)
		}
		change.WriteString("strategy vnode vnodes 13")
		reply, _ := webAsk(t, n, webRequest{method: "GET", path: "/api/v1/plan?change=" + url.QueryEscape(change.String())})
		return reply
	}
	resptest.WaitFor(t, "the node plans", func() bool { return strings.HasPrefix(plan(3, "1"), "200 ") })
	if got := plan(200, "1000"); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "131072 are allowed") {
		t.Errorf("%.200q", got)
	}
}
