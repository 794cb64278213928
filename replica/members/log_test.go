package members

import (
	"log/slog"
	"os"
	"strings"
	"testing"
)

// testLogger shows what nodes say under -v. It does not write to the test's output: a probe
// of memberlist may end, and log, after the test.
func testLogger() *slog.Logger {
	if !testing.Verbose() {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestGossipLinesBecomeRecords(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"[ERR] memberlist: Push/Pull with x failed: EOF\n", `level=INFO msg="Push/Pull with x failed: EOF" source=memberlist`},
		{"[WARN] serf: something\n", "level=DEBUG msg=something source=serf"},
		{"[INFO] serf: EventMemberJoin: x\n", `level=DEBUG msg="EventMemberJoin: x" source=serf`},
		{"no prefix\n", `level=INFO msg="no prefix" source=serf`},
		{"\n", `level=INFO msg="" source=serf`},
		{"[ERR] memberlist: " + strings.Repeat("x", 2*maxLogLine), "level=INFO msg=" + strings.Repeat("x", maxLogLine-len("[ERR] memberlist: ")) + " source=memberlist"},
	} {
		var out strings.Builder
		newGossipLogger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
			Level: slog.LevelDebug,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			},
		})), nil).Print(test.line)
		if got := strings.TrimSpace(out.String()); got != test.want {
			t.Errorf("%.60q is logged as %.100s, want %.100s", test.line, got, test.want)
		}
	}
}

func TestFloodOfLogLinesIsCut(t *testing.T) {
	var l limiter
	through := 0
	for range 10 * maxLogLines {
		if ok, dropped := l.allow(7); ok {
			through++
		} else if dropped != 0 {
			t.Errorf("%d are told as dropped within the second", dropped)
		}
	}
	if through != maxLogLines {
		t.Errorf("%d lines went through", through)
	}
	if ok, dropped := l.allow(8); !ok || dropped != 9*maxLogLines {
		t.Errorf("the next second begins with %v, %d", ok, dropped)
	}
	if ok, dropped := l.allow(8); !ok || dropped != 0 {
		t.Errorf("and goes on with %v, %d", ok, dropped)
	}
}
