package resp

import (
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/settings"
)

func TestConfigTellsTheTruth(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, st *serveStore) {
		c.Settings = settings.Default()
		c.Fixed = map[string]string{"dir": "/data", "bind": "127.0.0.1", "loglevel": "notice", "hz": "5"}
		st.Fsync = "always"
	})
	o := resptest.Dial(t, addr, 3)
	for name, want := range map[string]string{
		"appendfsync": "always", "appendonly": "yes", "save": "", "databases": "16",
		"dir": "/data", "bind": "127.0.0.1", "loglevel": "notice", "hz": "5", "protected-mode": "yes",
		"maxclients": "10000", "max-clients": "10000", "max-key-size": "65536",
		"client-memory": "268435456", "maxmemory-clients": "268435456", "max-args": "1048576",
		"slowlog-log-slower-than":    "10000",
		"client-output-buffer-limit": "normal 67108864 0 0 slave 268435456 67108864 60 pubsub 67108864 0 0",
	} {
		v := o.Do("CONFIG", "GET", name)
		if got := v.Field(name); v.Kind != '%' || got == nil || got.Text != want {
			t.Errorf("%s: %v, want %q", name, v, want)
		}
	}
	if got := o.Do("CONFIG", "GET", "port").Field("port"); got == nil || mustInt(t, got.Text) != srv.port.Load() || got.Text == "0" {
		t.Errorf("port: %v", got)
	}
	// Each setting once, however many patterns name it.
	seen := map[string]bool{}
	for i, e := range o.Do("CONFIG", "GET", "*", "max*", "save").Elems {
		if i%2 == 0 {
			if seen[e.Text] {
				t.Errorf("%s comes twice", e.Text)
			}
			seen[e.Text] = true
		}
	}
}

func TestConfigSet(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings = settings.Default() })
	o := resptest.Dial(t, addr, 2)
	// What only a restart changes may be set to what it is.
	o.Want("+OK", "CONFIG", "SET", "appendfsync", "everysec", "port", strconv.FormatInt(srv.port.Load(), 10))
	o.Want("-ERR CONFIG SET failed (possibly related to argument 'appendfsync') - can't set immutable config", "CONFIG", "SET", "appendfsync", "always")
	o.Want("-ERR CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config", "CONFIG", "SET", "databases", "16")
	o.Want("-ERR CONFIG SET failed (possibly related to argument 'dir') - can't set protected config", "CONFIG", "SET", "dir", "/")
	o.Want("+OK", "CONFIG", "SET", "max-key-size", "1kb", "client-memory", "2mb", "max-args", "100")
	if srv.settings.MaxKey.Load() != 1024 || srv.settings.ClientMemory.Load() != 2<<20 || srv.settings.MaxArgs.Load() != 100 {
		t.Error("the limits are not set")
	}
	o.Want("-"+command.MsgKeyTooLong, "GET", string(make([]byte, 1025)))
	o.Want("+OK", "CONFIG", "SET", "timeout", "5")
	if got := srv.settings.IdleTimeout.Load(); got != 5e9 {
		t.Errorf("idle timeout: %d ns", got)
	}
	// The hard limits of normal clients and of subscribers act, within the bounds of output-buffer.
	for _, step := range []struct {
		value, shown string
		replies      int64
		pushes       int64
	}{
		{"normal 1mb 0 0", "normal 1048576 0 0 slave 268435456 67108864 60 pubsub 67108864 0 0", 1 << 20, 64 << 20},
		{"pubsub 2mb 1mb 60 replica 5 4 3", "normal 1048576 0 0 slave 5 4 3 pubsub 2097152 1048576 60", 1 << 20, 2 << 20},
		{"normal 0 0 0", "normal 0 0 0 slave 5 4 3 pubsub 2097152 1048576 60", 2 << 20, 2 << 20}, // client-memory is 2mb
		{"pubsub 1 0 0 normal 1 0 0", "normal 1 0 0 slave 5 4 3 pubsub 1 0 0", 64 << 10, 64 << 10},
	} {
		o.Want("+OK", "CONFIG", "SET", "client-output-buffer-limit", step.value)
		o.Want("*($client-output-buffer-limit $"+step.shown+")", "CONFIG", "GET", "client-output-buffer-limit")
		if replies, pushes := srv.settings.OutputBuffer.Load(), srv.settings.PushLimit(); replies != step.replies || pushes != step.pushes {
			t.Errorf("after %s: %d and %d bytes, want %d and %d", step.value, replies, pushes, step.replies, step.pushes)
		}
	}
	o.Want("+OK", "CONFIG", "SET", "output-buffer", "3mb")
	o.Want("*($client-output-buffer-limit $normal 3145728 0 0 slave 5 4 3 pubsub 1 0 0)", "CONFIG", "GET", "client-output-buffer-limit")
}

func TestPasswordChanges(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "CONFIG", "SET", "requirepass", "secret")
	o.Want("*($requirepass $secret)", "CONFIG", "GET", "requirepass") // who is in stays in
	other := resptest.DialRaw(t, addr)
	other.Want("-"+command.MsgNoAuth, "PING")
	o.Want("+OK", "CONFIG", "SET", "requirepass", "")
	other.Want("+PONG", "PING")
	other.Want("-"+msgNoPass, "AUTH", "x")
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1b": 1, "1k": 1000, "1kb": 1024, "2M": 2000000, "2MB": 2 << 20, "3g": 3e9, "3Gb": 3 << 30,
		"": -1, "b": -1, "-1": -1, "+1": -1, "1.5mb": -1, "1tb": -1, "9223372036854775807": 1<<63 - 1,
		"9223372036854775808": -1, "9007199254740992kb": -1, " 1": -1,
	} {
		got, ok := settings.ParseMemory(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestConfigSetReachesEachNode changes a quota by a node that does not own the keys. A client that is
// redirected, and a setting that is not about keys, change the client's node alone.
func TestConfigSetReachesEachNode(t *testing.T) {
	r, keys := halves(t)
	o, far := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
	value := func(c *resptest.Conn, name string) string {
		t.Helper()
		return c.Do("CONFIG", "GET", name).Field(name).Text
	}
	o.Want("+OK", "SET", keys[1], "v")
	o.Want("+OK", "CONFIG", "SET", "maxmemory", "1", "timeout", "77", "stream-node-max-entries", "5")
	o.Want("-OOM command not allowed when used memory > 'maxmemory'.", "SET", keys[1], "v")
	for name, want := range map[string]string{"maxmemory": "1", "timeout": "0", "stream-node-max-entries": "5"} {
		if got := value(far, name); got != want {
			t.Errorf("%s at the other node: %s, want %s", name, got, want)
		}
	}
	o.Want("-ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a memory value",
		"CONFIG", "SET", "stream-node-max-entries", "6", "maxmemory", "much")
	o.Want("+OK", "MULTI")
	o.Want("+QUEUED", "CONFIG", "SET", "min-replicas-to-write", "2")
	o.Want("*(+OK)", "EXEC")
	o.Want("+OK", "RING", "ROUTE", "REDIRECT")
	o.Want("+OK", "CONFIG", "SET", "maxmemory", "0")
	for name, want := range map[string]string{"maxmemory": "1", "stream-node-max-entries": "5", "min-replicas-to-write": "2"} {
		if got := value(far, name); got != want {
			t.Errorf("%s at the other node: %s, want %s", name, got, want)
		}
	}
}

// TestConfigSetTellsWhichNodesItMissed has a node that does not answer.
func TestConfigSetTellsWhichNodesItMissed(t *testing.T) {
	r := routedTest(t, 2)
	link := r.links["n1"]
	link.Link = deadLink{wait: ErrTimeout, asks: make(chan struct{}, 1000)}
	r.links["n1"] = link
	halvesOf(t, r)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("-ERR CONFIG SET is done at this node, but at 0 of 1 other nodes only: send it again", "CONFIG", "SET", "maxmemory", "0")
	o.Want("+OK", "CONFIG", "SET", "timeout", "0")
}
