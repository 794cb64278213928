package resp

import (
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
		"client-output-buffer-limit": "normal 67108864 0 0 slave 0 0 0 pubsub 67108864 0 0",
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
	// What cannot change may be set to what it is.
	o.Want("+OK", "CONFIG", "SET", "save", "", "appendonly", "yes", "maxmemory", "0")
	o.Want("-ERR CONFIG SET failed (possibly related to argument 'save') - can't set immutable config", "CONFIG", "SET", "save", "60 1")
	o.Want("+OK", "CONFIG", "SET", "max-key-size", "1kb", "client-memory", "2mb", "max-args", "100")
	if srv.settings.MaxKey.Load() != 1024 || srv.settings.ClientMemory.Load() != 2<<20 || srv.settings.MaxArgs.Load() != 100 {
		t.Error("the limits are not set")
	}
	o.Want("-"+command.MsgKeyTooLong, "GET", string(make([]byte, 1025)))
	o.Want("+OK", "CONFIG", "SET", "timeout", "5")
	if got := srv.settings.IdleTimeout.Load(); got != 5e9 {
		t.Errorf("idle timeout: %d ns", got)
	}
	for value, want := range map[string]string{
		"normal 1mb 0 0": "+OK",
		"normal 1048576 0 0 slave 0 0 0 pubsub 1048576 0 0": "+OK",
		"replica 0 0 0":  "+OK",
		"replica 1 0 0":  "-ERR CONFIG SET failed (possibly related to argument 'client-output-buffer-limit') - there are no replicas among the clients: their limits must be 0 0 0",
		"normal 1mb 1 0": "-ERR CONFIG SET failed (possibly related to argument 'client-output-buffer-limit') - soft limits are not supported: they must be 0 0",
		"normal 0 0 0":   "-ERR CONFIG SET failed (possibly related to argument 'client-output-buffer-limit') - argument must be between 65536 and 1125899906842624 inclusive",
		"pubsub 1 0 0":   "-ERR CONFIG SET failed (possibly related to argument 'client-output-buffer-limit') - pubsub clients have the limit of normal ones",
	} {
		o.Want(want, "CONFIG", "SET", "client-output-buffer-limit", value)
	}
	if got := srv.settings.OutputBuffer.Load(); got != 1<<20 {
		t.Errorf("output buffer: %d", got)
	}
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
