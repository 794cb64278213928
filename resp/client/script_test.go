package client

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"
)

// An error reply to a script that may write can be the script's own text.
func TestScriptIsNotRepeatedAfterItsErrorReply(t *testing.T) {
	for _, text := range []string{"TRYAGAIN later", "CLUSTERDOWN x", "LOADING x", "MASTERDOWN x", "MOVED 1 host2:1", "CROSSSLOT x"} {
		for _, name := range []string{"EVAL", "evalsha", "FCALL"} {
			bubble(t, 3, func(t *testing.T, f *fake) {
				r := f.open(nil)
				key := r.keyIn(false)
				f.at(0).answer = func([]string) string { return "-" + text + "\r\n" }
				var e *ServerError
				if err := r.Do(t.Context(), name, "body", "1", key).Err(); !errors.As(err, &e) || e.Text != text {
					t.Errorf("%s: %v, want the reply %q", name, err, text)
				}
				replies, err := r.Pipeline().one(name, "body", "1", key).one("SET", r.keyIn(true), "v").Exec(t.Context())
				if !errors.As(err, &e) || e.Text != text {
					t.Errorf("%s in a pipeline: %v, %v", name, replies, err)
				}
				if n := len(f.at(0).commands()); n != 2 {
					t.Errorf("%s, %s: sent %d times in place of twice", name, text, n)
				}
				if n := len(f.at(2).commands()); n != 0 {
					t.Errorf("%s, %s: %d commands went where the reply led", name, text, n)
				}
			})
		}
	}
}

// A script that cannot write may be repeated as any read.
func TestReadOnlyScriptIsRepeated(t *testing.T) {
	bubble(t, 1, func(t *testing.T, f *fake) {
		r := f.open(nil)
		n := 0
		f.at(0).answer = func([]string) string {
			if n++; n == 1 {
				return "-TRYAGAIN later\r\n"
			}
			return "+done\r\n"
		}
		wantText(t, r.Do(t.Context(), "EVAL_RO", "body", "1", "k"), "done")
	})
}

// The error reply of a script can have the text of a redirect, even of another host.
func TestMovedOfScriptIsNoRedirect(t *testing.T) {
	for _, c := range []struct {
		text, route string
		followed    int // how often the script is sent to the node that the text names
	}{
		{"MOVED 1 stranger:1", "", 0}, {"MOVED 1 stranger:1", Redirect, 0}, {"MOVED 1 stranger:1", Forward, 0},
		{"MOVED 1 host2:1", "", 1}, {"MOVED 1 host2:1", Forward, 0},
	} {
		for _, name := range []string{"EVAL_RO", "evalsha_ro", "FCALL_RO"} {
			bubble(t, 3, func(t *testing.T, f *fake) {
				f.password = "secret"
				var dialled []string
				r := f.open(func(cfg *Config) {
					cfg.Password, cfg.Route = f.password, c.route
					cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
						f.set(func() { dialled = append(dialled, addr) })
						return f.dial(ctx, addr)
					}
				})
				key := r.keyIn(false)
				for i := range 3 {
					f.at(i).answer = func(args []string) string {
						if args[0] == name {
							return "-" + c.text + "\r\n"
						}
						return "+OK\r\n"
					}
				}
				began := time.Now()
				var e *ServerError
				if err := r.Do(t.Context(), name, "body", "1", key).Err(); !errors.As(err, &e) || e.Text != c.text {
					t.Errorf("%s: %v, want the reply %q", name, err, c.text)
				}
				if d := time.Since(began); d > r.cfg.MaxBackoff {
					t.Errorf("%s, %s: the reply came after %s", name, c.text, d)
				}
				if n := len(f.at(2).commands()); n != c.followed {
					t.Errorf("%s, %s, route %q: %d commands went where the reply led, want %d", name, c.text, c.route, n, c.followed)
				}
				wantText(t, r.Do(t.Context(), "SET", key, "v"), "OK")
				if got := f.at(0).commands(); got[len(got)-1] != "SET "+key+" v" {
					t.Errorf("%s, %s: the primary of the key got %q", name, c.text, got)
				}
				f.set(func() {
					if slices.Contains(dialled, "stranger:1") {
						t.Errorf("%s: connected to %q", name, dialled)
					}
				})
			})
		}
	}
}
