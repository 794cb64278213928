//go:build linux

package resp

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/internal/rounds"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/store"
)

func inRounds(c *Config, _ *store.Config) { c.Rounds = new(rounds.Lazy) }

// A connection that waits for its client's next request has no goroutine, and is served all the same.
func TestIdleConnectionsHaveNoGoroutine(t *testing.T) {
	_, addr := serveTest(t, inRounds)
	const clients = 200
	before := runtime.NumGoroutine()
	var all []*resptest.Conn
	for i := range clients {
		c := resptest.Dial(t, addr, 2)
		c.Want("+OK", "SET", fmt.Sprint("k", i), "v")
		all = append(all, c)
	}
	resptest.WaitFor(t, "the goroutines end", func() bool { return runtime.NumGoroutine() < before+clients/4 })
	for i, c := range all {
		c.Want("$v", "GET", fmt.Sprint("k", i))
	}
}

// While commands run long, and clients do not read, other connections are served.
func TestTurnsAreLeftByLongCommandsAndSlowClients(t *testing.T) {
	srv, addr := serveTest(t, inRounds)
	others := make([]*resptest.Conn, 20)
	for i := range others {
		others[i] = resptest.Dial(t, addr, 2)
		others[i].Want("+PONG", "PING")
	}
	askAll := func(rounds int) {
		t.Helper()
		for range rounds {
			for i, c := range others {
				c.Want("+OK", "SET", fmt.Sprint("k", i), "v")
				c.Want("$v", "GET", fmt.Sprint("k", i))
			}
		}
	}
	slow := resptest.DialRaw(t, addr)
	slow.Want("+OK", "SET", "large", strings.Repeat("v", 1<<20))
	for range 20 {
		slow.Send("GET", "large")
	}
	askAll(20)
	script := resptest.DialRaw(t, addr)
	script.Send("EVAL", "while true do end", "0")
	resptest.WaitFor(t, "the script runs", func() bool {
		return srv.scripts.Any(func(*scripts.Run) bool { return true })
	})
	askAll(1) // with one processor, each command waits until the scheduler interrupts the script
	others[0].Want("+OK", "SCRIPT", "KILL")
	if got := script.Next().String(); !strings.Contains(got, "killed") {
		t.Errorf("the script ended with %s", got)
	}
	for range 20 {
		if got := slow.Next(); len(got.Text) != 1<<20 {
			t.Fatalf("%d bytes", len(got.Text))
		}
	}
}

// While the disk does not answer a read, other connections are served.
func TestDiskThatHangsKeepsOthersServed(t *testing.T) {
	const keys = 600
	dir, value := t.TempDir(), strings.Repeat("v", 10_000)
	var hangs atomic.Bool
	hanging, release := make(chan struct{}, 1), make(chan struct{})
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst") && hangs.Load() {
			select {
			case hanging <- struct{}{}:
			default:
			}
			<-release
		}
		return nil
	}))
	onDisk := func(c *Config, s *store.Config) {
		inRounds(c, s)
		s.Dir, s.FS, s.Cache = dir, fs, 1<<20
	}
	t.Run("written", func(t *testing.T) {
		_, addr := serveTest(t, onDisk)
		c := resptest.Dial(t, addr, 2)
		for i := range keys {
			c.Want("+OK", "SET", fmt.Sprint("on disk ", i), value)
		}
	})
	t.Run("read", func(t *testing.T) {
		_, addr := serveTest(t, onDisk)
		others := make([]*resptest.Conn, 20)
		for i := range others {
			others[i] = resptest.Dial(t, addr, 2)
			others[i].Want("+OK", "SET", fmt.Sprint("k", i), "v")
		}
		reader := resptest.Dial(t, addr, 2)
		reader.Want("$"+value, "GET", "on disk 0")
		hangs.Store(true)
		read := make(chan struct{})
		go func() {
			defer close(read)
			for i := range keys { // some lie in blocks that have not been read
				reader.Want("$"+value, "GET", fmt.Sprint("on disk ", i))
			}
		}()
		<-hanging
		for i, c := range others {
			c.Want("$v", "GET", fmt.Sprint("k", i))
		}
		close(release)
		<-read
	})
}
