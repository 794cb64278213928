package node

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// warnings collects lines at WARN and above.
type warnings struct {
	slog.Handler
	mu    *sync.Mutex
	lines *[]string
}

func (w warnings) Enabled(context.Context, slog.Level) bool { return true }

func (w warnings) Handle(_ context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return nil
	}
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.lines = append(*w.lines, line)
	return nil
}

func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }
func (w warnings) WithGroup(string) slog.Handler      { return w }

// Starts, joins, restarts, a leave and stops of nodes that work log no warning, with clients, a witness and a proxy.
func TestHealthyClusterLogsNoWarning(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		log := warnings{mu: new(sync.Mutex), lines: new([]string)}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			cfg.Logger = slog.New(log)
			switch cfg.ID {
			case "p":
				cfg.Role, cfg.env.Store = RoleProxy, nil
			case "w":
				cfg.Role, cfg.env.Store = RoleWitness, nil
			}
		})
		c.backed()
		c.start("w", "a")
		c.start("p", "a")
		c.ready("w")
		c.ready("p")
		stop := c.rounds("p")
		for _, id := range []string{"a", "b", "c", "w"} {
			c.stop(id)
			time.Sleep(5 * time.Second)
			c.start(id)
			c.ready(id)
			c.inSync(1)
		}
		c.start("d", "b")
		c.ready("d")
		c.inSync(1)
		for _, id := range []string{"d", "w"} {
			if _, err := c.do(id, "RING", "LEAVE"); err != nil {
				t.Error(err)
			}
			<-c.nodes[id].Done()
			c.stop(id)
		}
		stop()
		c.inSync(1)
		c.stop("p")
		time.Sleep(5 * time.Second)
		c.stop("a")
		before := len(*log.lines)
		c.stop("c")
		c.stop("b")
		for i, line := range *log.lines {
			// The last one is without a majority. If it does not stop within its lease, it says so.
			alone := slices.ContainsFunc([]string{"the lease of this node has expired", "some ranges of this node did not get another primary", "changing the Raft servers failed"},
				func(text string) bool { return strings.Contains(line, text) })
			if i < before || !alone {
				t.Error(line)
			}
		}
		c.close()
	})
}

// A node without a majority warns that it has no lease, at the start as well, and says when it
// has it again.
func TestMissingLeaseIsLogged(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		log := warnings{mu: new(sync.Mutex), lines: new([]string)}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Logger = slog.New(log) })
		c.three()
		expect := func(event, line string) {
			t.Helper()
			log.mu.Lock()
			defer log.mu.Unlock()
			if !slices.ContainsFunc(*log.lines, func(l string) bool { return strings.Contains(l, line) }) {
				t.Errorf("%s: no warning %q in %q", event, line, *log.lines)
			}
			*log.lines = nil
		}
		c.crash("b")
		c.crash("c")
		time.Sleep(5 * time.Second)
		expect("two of three have crashed", "the lease of this node has expired")
		c.crash("a")
		c.start("a")
		time.Sleep(10 * time.Second)
		expect("one of three starts", "this node has had no lease since its start")
		c.start("b", "a")
		c.start("c", "a")
		c.write("a", someKeys(3), 1)
		c.close()
	})
}
