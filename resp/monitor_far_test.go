package resp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// monitorLine is a line of MONITOR: database, address, words.
var monitorLine = regexp.MustCompile(`^\+\d+\.\d{6} \[(\d+) ([^\]]+)\] (.*)$`)

// monitored returns so many lines of a client of MONITOR: those of scripts, and the others, without the time.
func monitored(t *testing.T, o *resptest.Conn, n int) (scripts, others []string) {
	t.Helper()
	for range n {
		line := o.Next().String()
		m := monitorLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no line", line)
		}
		if words := m[1] + " " + m[2] + " " + m[3]; m[2] == "lua" {
			scripts = append(scripts, words)
		} else {
			others = append(others, words)
		}
	}
	return scripts, others
}

func monitors(t *testing.T, r *routed, setup ...string) []*resptest.Conn {
	t.Helper()
	var all []*resptest.Conn
	for _, addr := range r.addrs {
		o := resptest.DialRaw(t, addr)
		if len(setup) > 0 {
			o.Want("+OK", setup...)
		}
		all = append(all, o)
	}
	for _, o := range all {
		o.Want("+OK", "MONITOR")
	}
	return all
}

// A client of MONITOR at any node sees what a client at any node sends, once, in its order, with its address. The third
// node has no keys.
func TestMonitorShowsCommandsOfAllNodes(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 3))
	watching := monitors(t, r)
	for i, addr := range r.addrs {
		o := resptest.DialRaw(t, addr)
		var lines, scripts []string
		send := func(words ...string) {
			o.Do(words...)
			lines = append(lines, `0 `+o.C.LocalAddr().String()+` "`+strings.Join(words, `" "`)+`"`)
		}
		shown := func(words ...string) {
			lines = append(lines, `0 `+o.C.LocalAddr().String()+` "`+strings.Join(words, `" "`)+`"`)
		}
		for _, key := range keys {
			send("SET", key, "1")
			send("GET", key)
			send("EVAL", "redis.call('incr',KEYS[1])return(redis.pcall('get',KEYS[1]))", "1", key)
			scripts = append(scripts, `0 lua "incr" "`+key+`"`, `0 lua "get" "`+key+`"`)

			send("MULTI")
			o.Want("+QUEUED", "SET", key, "2")
			o.Want("+QUEUED", "ping")
			shown("SET", key, "2")
			shown("ping")
			send("exec")

			send("WATCH", key)
			send("MULTI")
			o.Want("+QUEUED", "GET", key)
			shown("GET", key)
			send("EXEC")

			send("WATCH", key)
			send("SET", key, "3")
			send("MULTI")
			o.Want("+QUEUED", "GET", key)
			send("EXEC") // which runs nothing

			send("MULTI") // which does not run as one unit
			o.Want("+QUEUED", "INCR", key)
			o.Want("+QUEUED", "CLIENT", "GETNAME")
			o.Want("+QUEUED", "GET", key)
			shown("INCR", key)
			shown("GET", key)
			shown("CLIENT", "GETNAME")
			send("EXEC")

			send("LPUSH", "{"+key+"}list", "a")
			send("BLPOP", "{"+key+"}list", "0")
			send("BLPOP", "{"+key+"}list", "0.01")
		}
		send("MGET", keys[0], keys[1])
		send("MSET", keys[0], "1", keys[1], "2")
		send("PUBLISH", "channel", "message")
		send("DBSIZE")
		send("nosuch")
		lines = lines[:len(lines)-1]
		o.Do("CONFIG", "GET", "maxmemory")
		pipeline := [][]string{{"GET", keys[0]}, {"GET", keys[1]}, {"PING"}, {"SET", keys[0], "4"}, {"GET", keys[1]}, {"ECHO", "end"}}
		for _, words := range pipeline {
			shown(words...)
		}
		o.DoAll(pipeline)
		for at, w := range watching {
			gotScripts, got := monitored(t, w, len(lines)+len(scripts))
			if !slices.Equal(got, lines) {
				t.Errorf("client at %d, MONITOR at %d: got\n%s\nwant\n%s", i, at, strings.Join(got, "\n"), strings.Join(lines, "\n"))
			}
			if slices.Sort(gotScripts); !slices.Equal(gotScripts, slices.Sorted(slices.Values(scripts))) {
				t.Errorf("client at %d, MONITOR at %d: scripts\n%s", i, at, strings.Join(gotScripts, "\n"))
			}
		}
	}
	for _, w := range watching {
		w.Silent(20 * time.Millisecond)
	}
}

// On a redirect connection MONITOR is that of one node, as in Redis Cluster.
func TestMonitorOfOneNodeOnRedirectConnection(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	watching := monitors(t, r, "RING", "ROUTE", "redirect")
	o := resptest.DialRaw(t, r.addrs[0])
	for _, key := range keys {
		o.Want("+OK", "SET", key, "1")
	}
	o.Do("PUBLISH", "channel", "message")
	for _, words := range [][]string{{"MULTI"}, {"GET", keys[0]}, {"CLIENT", "GETNAME"}, {"EXEC"}} {
		o.Do(words...)
	}
	o.Do("EVAL", "return redis.call('get',KEYS[1])", "1", keys[1])
	self := o.C.LocalAddr().String()
	for i, want := range [][]string{
		{`0 ` + self + ` "SET" "` + keys[0] + `" "1"`, `0 ` + self + ` "PUBLISH" "channel" "message"`, `0 ` + self + ` "MULTI"`,
			`0 ` + self + ` "GET" "` + keys[0] + `"`, `0 ` + self + ` "CLIENT" "GETNAME"`, `0 ` + self + ` "EXEC"`},
		{`0 forwarded "SET" "` + keys[1] + `" "1"`, `0 forwarded "EVAL" "return redis.call('get',KEYS[1])" "1" "` + keys[1] + `"`, `0 lua "get" "` + keys[1] + `"`},
	} {
		scripts, others := monitored(t, watching[i], len(want))
		if got := append(others, scripts...); !slices.Equal(got, want) {
			t.Errorf("node %d: got\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		watching[i].Silent(20 * time.Millisecond)
		if m := r.servers[1-i].monitors; !m.Any() {
			t.Errorf("node %d has no client of MONITOR", 1-i)
		}
	}
	// The client of the first node chooses to see all.
	for watching[0].Send("RING", "ROUTE", "forward"); watching[0].Next().Text != "OK"; {
	}
	far := resptest.DialRaw(t, r.addrs[1])
	far.Want("+PONG", "PING")
	if _, others := monitored(t, watching[0], 1); others[0] != `0 `+far.C.LocalAddr().String()+` "PING"` {
		t.Error(others)
	}
}

// Nothing is left of a client of MONITOR once it has gone, at any node.
func TestMonitorThatGoesLeavesNothing(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 3))
	idle := func(what string) {
		t.Helper()
		for i, srv := range r.servers {
			resptest.WaitFor(t, fmt.Sprint(what, ": node ", i, " shows no lines"), func() bool { return !srv.monitors.Any() })
		}
	}
	for what, end := range map[string]func(*resptest.Conn){
		"closed": func(o *resptest.Conn) { _ = o.C.Close() },
		"RESET": func(o *resptest.Conn) {
			for o.Send("RESET"); o.Next().Text != "RESET"; {
			}
		},
	} {
		for _, o := range monitors(t, r) {
			end(o)
		}
		idle(what)
	}
	// A node that leaves is not asked any more, and one that joins is.
	p := r.servers[0].routes.Load().Placement
	third := r.links["n2"]
	delete(r.links, "n2")
	r.placeAll(p)
	watch := resptest.DialRaw(t, r.addrs[0])
	watch.Want("+OK", "MONITOR")
	if r.servers[2].monitors.Any() {
		t.Error("a node that is not there was asked")
	}
	r.links["n2"] = third
	r.placeAll(p)
	resptest.WaitFor(t, "a node that joins is asked", r.servers[2].monitors.Any)
	resptest.DialRaw(t, r.addrs[2]).Want("+OK", "SET", keys[1], "x")
	if _, others := monitored(t, watch, 1); !strings.HasSuffix(others[0], `"SET" "`+keys[1]+`" "x"`) {
		t.Error(others)
	}
	delete(r.links, "n2")
	r.placeAll(p)
	if _, others := monitored(t, watch, 1); others[0] != `0 n2 "commands of this node may be missing"` {
		t.Error(others)
	}
	_ = watch.C.Close()
	idle("after a change of the nodes")
}
