package resp

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store"
)

// rawReply returns the bytes of the reply to a command of a connection.
func rawReply(t *testing.T, c net.Conn, words ...string) string {
	t.Helper()
	const end = "$7\r\nthe end\r\n"
	resptest.Write(c, words...)
	resptest.Write(c, "ECHO", "the end")
	var all []byte
	for b := make([]byte, 512); !bytes.HasSuffix(all, []byte(end)); {
		n, err := c.Read(b)
		if all = append(all, b[:n]...); err != nil {
			t.Fatal(err)
		}
	}
	return strings.TrimSuffix(string(all), end)
}

func TestDebugRepliesWithTypesOfTheProtocol(t *testing.T) {
	_, addr := serveTest(t, nil)
	redis := redistest.Start7(t, "--enable-debug-command", "yes")
	for _, proto := range []int{2, 3} {
		theirs, ours := resptest.Dial(t, redis, proto), resptest.Dial(t, addr, proto)
		for _, words := range [][]string{
			{"protocol", "string"}, {"PROTOCOL", "Integer"}, {"protocol", "double"}, {"protocol", "bignum"}, {"protocol", "null"},
			{"protocol", "array"}, {"protocol", "set"}, {"protocol", "map"}, {"protocol", "attrib"}, {"protocol", "push"},
			{"protocol", "verbatim"}, {"protocol", "true"}, {"protocol", "false"}, {"protocol", "other"}, {"protocol"},
			{"error", "ERR some\r\ntext"}, {"error", "CODE"}, {"error"},
		} {
			words = append([]string{"DEBUG"}, words...)
			if got, want := rawReply(t, ours.C, words...), rawReply(t, theirs.C, words...); got != want {
				t.Errorf("%q in RESP%d: %q, and Redis replies %q", words, proto, got, want)
			}
		}
	}
}

// A lockedBuffer may be written while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestDebugWritesMessagesToTheLog(t *testing.T) {
	var log lockedBuffer
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "DEBUG", "LOG", "before the test\nlevel=ERROR "+strings.Repeat("x", 5000))
	text := log.String()
	if !strings.Contains(text, `message="before the test\nlevel=ERROR xxx`) || len(text) > 2000 {
		t.Errorf("the log has %.3000q", text)
	}
}

func TestExpiredKeysStayWhileActiveExpiryIsOff(t *testing.T) {
	var conns []*resptest.Conn
	for range 2 {
		_, addr := serveTest(t, nil)
		conns = append(conns, resptest.Dial(t, addr, 2))
	}
	on, off := conns[0], conns[1]
	off.Want("+OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0")
	for range 3 { // both nodes look for expired keys equally often
		for _, o := range conns {
			o.Want("+OK", "SET", "k", "v", "PX", "1")
			o.Do("HSET", "h", "f", "v", "g", "w")
			o.Do("HPEXPIRE", "h", "1", "FIELDS", "1", "f")
		}
		resptest.WaitFor(t, "the key and the field to expire", func() bool {
			return on.Do("DBSIZE").String() == ":1" && on.Do("HLEN", "h").String() == ":1"
		})
	}
	off.Want(":2", "DBSIZE")
	off.Want("_$", "GET", "k")
	off.Want(":1", "DBSIZE")
	off.Want("+OK", "SET", "k", "v", "PX", "1")
	off.Want("+OK", "DEBUG", "SET-ACTIVE-EXPIRE", "1")
	resptest.WaitFor(t, "the key to expire", func() bool { return off.Do("DBSIZE").String() == ":1" })
}
