package resp

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/store"
)

// Neither MONITOR, SLOWLOG, the log nor the audit log shows a password, whether or not its command succeeds. The slow
// log has the words that Redis 7.4 has there.
func TestPasswordsAreShownNowhere(t *testing.T) {
	const secret = "topsecret"
	var log lockedText
	audit := filepath.Join(t.TempDir(), "audit.log")
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) {
		c.Logger, c.AuditLog = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), audit
		c.Settings = settings.Default()
		c.Settings.SlowlogSlowerThan, c.Settings.SlowlogMaxLen = 0, 1000
	})
	watch, o := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	watch.Want("+OK", "MONITOR")
	for _, test := range []struct{ line, want string }{
		{"AUTH topsecret", "AUTH (redacted)"},
		{"AUTH bob topsecret", "AUTH (redacted) (redacted)"},
		{"HELLO 2 AUTH bob topsecret SETNAME me", "HELLO 2 AUTH (redacted) (redacted) SETNAME me"},
		{"HELLO AUTH bob topsecret", "HELLO AUTH (redacted) (redacted)"},
		{"ACL SETUSER bob on >topsecret", "ACL SETUSER (redacted) (redacted) (redacted)"},
		{"ACL SETUSER bob wrong-topsecret", "ACL SETUSER (redacted) (redacted)"},
		{"ACL GETUSER bob", "ACL GETUSER (redacted)"},
		{"ACL DELUSER bob", "ACL DELUSER (redacted)"},
		{"CONFIG SET masterauth topsecret masteruser topsecret", "CONFIG SET masterauth (redacted) masteruser (redacted)"},
		{"CONFIG SET tls-key-file-pass topsecret", "CONFIG SET tls-key-file-pass (redacted)"},
		{"CONFIG SET no-such x TLS-client-key-file-pass topsecret", "CONFIG SET no-such x TLS-client-key-file-pass (redacted)"},
		{"CONFIG SET maxmemory 0 requirepass topsecret x", "CONFIG SET maxmemory 0 requirepass (redacted) x"},
		{"CONFIG SET requirepass topsecret", "CONFIG SET requirepass (redacted)"},
		{"CONFIG SET tls-client-key-file-pass topsecret", "CONFIG SET tls-client-key-file-pass (redacted)"},
		{"MIGRATE 127.0.0.1 1 k 0 10 COPY AUTH topsecret", "MIGRATE 127.0.0.1 1 k 0 10 COPY AUTH (redacted)"},
		{"MIGRATE 127.0.0.1 1 k 0 10 auth2 bob topsecret KEYS auth k", "MIGRATE 127.0.0.1 1 k 0 10 auth2 (redacted) (redacted) KEYS auth k"},
	} {
		for _, inMulti := range []bool{false, true} {
			o.Want("+OK", "SLOWLOG", "RESET")
			if inMulti {
				o.Want("+OK", "MULTI")
			}
			o.Do(strings.Fields(test.line)...)
			if inMulti {
				o.Do("EXEC")
			}
			var shown []string
			for _, e := range o.Do("SLOWLOG", "GET", "-1").Elems {
				var words []string
				for _, word := range e.Elems[3].Elems {
					words = append(words, word.Text)
				}
				shown = append(shown, strings.Join(words, " "))
			}
			if all := strings.Join(shown, "\n"); strings.Contains(all, secret) {
				t.Errorf("in the slow log after %s: %s", test.line, all)
			} else if !inMulti && !slices.Contains(shown, test.want) {
				t.Errorf("the slow log has %q, not %q", shown, test.want)
			}
		}
	}
	o.Want("$end", "ECHO", "end")
	for line := ""; !strings.Contains(line, `"ECHO" "end"`); {
		if line = watch.Next().String(); strings.Contains(line, secret) {
			t.Errorf("MONITOR shows %s", line)
		}
	}
	if !strings.Contains(log.String(), "setting changed") || strings.Contains(log.String(), secret) {
		t.Errorf("the log has\n%s", log.String())
	}
	if err := srv.audit.Close(); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lines), secret) {
		t.Errorf("the audit log has\n%s", lines)
	}
}
