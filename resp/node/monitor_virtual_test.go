package node

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A monitor is a client of MONITOR.
type monitor struct {
	conn    net.Conn
	reading sync.WaitGroup
	mu      sync.Mutex
	lines   []string
}

// monitor connects to a node, and returns once the client sees lines.
func (c *virtualCluster) monitor(id string) *monitor {
	c.t.Helper()
	conn, err := c.net.Host("10.0.1.2").Dial(c.t.Context(), c.nodes[id].ip+":6379")
	if err != nil {
		c.t.Fatal(err)
	}
	_, _ = conn.Write(resptest.EncodeCommands([][]string{{"MONITOR"}}))
	r := resptest.NewReader(conn)
	if v, err := r.Read(); err != nil || v.Text != "OK" {
		c.t.Fatal(v, err)
	}
	m := &monitor{conn: conn}
	m.reading.Go(func() {
		for {
			v, err := r.Read()
			if err != nil {
				return
			}
			m.mu.Lock()
			m.lines = append(m.lines, v.Text)
			m.mu.Unlock()
		}
	})
	return m
}

// shows returns how many lines have a text.
func (m *monitor) shows(text string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (m *monitor) close() {
	_ = m.conn.Close()
	m.reading.Wait()
}

// MONITOR at a store or a proxy shows what any node runs for clients, while nodes crash, stop and come back.
func TestMonitorShowsAllNodesThatAreThere(t *testing.T) {
	randomtest.Draw(t, 4)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID == "p" {
				cfg.Role = RoleProxy
			}
		})
		c.three()
		c.start("p", "a")
		c.within(time.Minute, "the proxy has entered", func() bool { return c.nodes["p"].cluster.entry.entered.Load() })
		time.Sleep(time.Second)
		watching := map[string]*monitor{"a": c.monitor("a"), "p": c.monitor("p")}
		number, script := 0, "return redis.call('set',KEYS[1],ARGV[1])"
		// eachShownOnce has clients of some nodes run scripts on keys of several.
		eachShownOnce := func(ids ...string) {
			t.Helper()
			for _, at := range ids {
				for i := range 8 {
					number++
					value, key := fmt.Sprint("value", number), fmt.Sprint("key", i)
					if _, err := c.do(at, "EVAL", script, 1, key, value); err != nil {
						t.Errorf("%s writes %s: %v", at, key, err)
					}
					time.Sleep(100 * time.Millisecond)
					for id, m := range watching {
						eval, set := m.shows(script+`" "1" "`+key+`" "`+value+`"`), m.shows(` lua] "set" "`+key+`" "`+value+`"`)
						if eval != 1 || set != 1 {
							t.Errorf("MONITOR at %s shows the script of %s that %s sends %d times, its command %d times", id, key, at, eval, set)
						}
					}
				}
			}
		}
		missing := func(node string, want int) {
			t.Helper()
			for id, m := range watching {
				if n := m.shows("[0 " + node + `] "commands of this node may be missing"`); n != want {
					t.Errorf("MONITOR at %s tells %d times that commands of %s may be missing, not %d times", id, n, node, want)
				}
			}
		}
		eachShownOnce("a", "b", "c", "p")
		c.crash("c")
		time.Sleep(time.Minute)
		missing("c", 1)
		eachShownOnce("a", "b", "p")
		c.start("c")
		c.ready("c")
		time.Sleep(time.Minute)
		eachShownOnce("a", "b", "c", "p")
		missing("c", 1)
		missing("b", 0)
		for _, m := range watching {
			m.close()
		}
		time.Sleep(time.Second)
		c.close()
	})
}
