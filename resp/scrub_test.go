package resp

import (
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/store"
)

func TestScrubIntervalIsASetting(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.ScrubInterval = 24 * time.Hour })
	o := resptest.Dial(t, addr, 2)
	o.Want("*($scrub-interval $86400)", "CONFIG", "GET", "scrub-interval")
	for value, want := range map[string]time.Duration{"0": 0, "60": time.Minute, "12h": 12 * time.Hour, "0s": 0, "90m": 90 * time.Minute} {
		o.Want("+OK", "CONFIG", "SET", "scrub-interval", value)
		if got := srv.ScrubInterval(); got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
	before := srv.ScrubInterval()
	for _, value := range []string{"", "-1", "59", "1s", "day", "366d", "8784h0m1s", "99999999999"} {
		if got := o.Do("CONFIG", "SET", "scrub-interval", value); got.Kind != '-' || !strings.Contains(got.String(), "365 days") {
			t.Errorf("%q: %v", value, got)
		}
	}
	if srv.ScrubInterval() != before {
		t.Error("what was refused holds")
	}
	s := settings.Default()
	s.ScrubInterval = time.Second
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "scrub interval") {
		t.Error(err)
	}
}
