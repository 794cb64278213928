package resp

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/wire/wiretest"
	"github.com/ringside-kv/ringside/store"
)

// What a browser or another server can be made to send. Each ends the connection without
// a reply, and FLUSHALL behind it is not run.
var foreignLines = []string{
	"POST / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\nContent-Length: 10\r\n\r\n",
	"post\r\n",
	"Host: 127.0.0.1\r\n",
	"HOST: x\r\n",
}

var foreignBeyondRedis = []string{
	"PUT /x HTTP/1.0\r\n\r\n",
	"GET / HTTP/1.1\r\n\r\n",
	"delete * HTTP/2\r\n",
	"OPTIONS / HTTP/1.1\r\n",
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"\x16\x03\x01\x02\r\n",
}

func TestOtherProtocolsEndTheConnection(t *testing.T) {
	var log lockedText
	srv, addr := serveTest(t, func(cfg *Config, _ *store.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	exchange(t, addr, "SET key value\r\n"+wiretest.Quit)
	for _, sent := range append(foreignLines, foreignBeyondRedis...) {
		before := srv.stats.ProtocolErrors.Load()
		if got := exchange(t, addr, sent+"FLUSHALL\r\n*1\r\n$8\r\nFLUSHALL\r\n"+wiretest.Quit); got != "" {
			t.Errorf("%q is answered %q", sent, got)
		}
		if n := srv.stats.ProtocolErrors.Load() - before; n != 1 {
			t.Errorf("%q: %d protocol errors", sent, n)
		}
	}
	if got := exchange(t, addr, "PING\r\nPOST /\r\nPING\r\n"); got != "+PONG\r\n" {
		t.Errorf("commands before are answered %q", got)
	}
	if got := exchange(t, addr, "GET key\r\n"+wiretest.Quit); !strings.HasPrefix(got, "$5\r\nvalue\r\n") {
		t.Errorf("the key is %q", got)
	}
	if n := strings.Count(log.String(), "another protocol"); n != 1 {
		t.Errorf("logged %d times in one minute:\n%s", n, log.String())
	}
}

func TestHTTPLinesEndTheConnectionAsInRedis(t *testing.T) {
	addr := redistest.Start7(t)
	for _, sent := range foreignLines {
		if got := exchange(t, addr, sent+"PING\r\n"+wiretest.Quit); got != "" {
			t.Errorf("%q: Redis answers %q", sent, got)
		}
	}
}

func TestCommandsThatLookLikeHTTPAreRun(t *testing.T) {
	_, addr := serveTest(t, nil)
	for _, sent := range []string{
		"SET /path HTTP/1.1\r\n",
		"ECHO POST\r\n",
		"SET host: x\r\n",
		"*3\r\n$3\r\nSET\r\n$4\r\npost\r\n$8\r\nHTTP/1.1\r\n",
	} {
		if got := exchange(t, addr, sent+wiretest.Quit); !strings.HasSuffix(got, "+OK\r\n") || strings.HasPrefix(got, "-") {
			t.Errorf("%q is answered %q", sent, got)
		}
	}
}

// lockedText collects a log that several goroutines write.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
