package client

import (
	"errors"
	"testing"
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
