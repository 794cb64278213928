package client

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestFillRetriesUntilAllIsWritten(t *testing.T) {
	var n atomic.Int64
	f := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) {
		switch i := n.Add(1); {
		case i%7 == 0:
			return "-LOADING wait\r\n", true, true
		case i%97 == 0:
			return "", true, false
		}
		return "", false, true
	}})
	cfg := Config{Workload: workloadOf(t, "1 get; 1 set"), Targets: only(f.addr)}
	verified(t, &cfg)
	l := open(t, cfg)
	if err := l.Fill(within(t), 1000); err != nil || len(f.values) != 1000 {
		t.Fatalf("%v, %d keys", err, len(f.values))
	}
	if n := l.Filled(); n != 1000 {
		t.Errorf("%d keys are said to be written", n)
	}
	if err := l.Fill(within(t), 1000); err != nil {
		t.Fatal(err)
	}
	delete(f.values, "k:000000000500")
	if err := l.Recheck(within(t)); err != nil {
		t.Fatal(err)
	}
	if c := cfg.Check.Checked(); c.Lost != 1 || c.Stale+c.Corrupt+c.FinalUnread > 0 || c.FinalKeys != 1000 {
		t.Errorf("%+v", c)
	}
}

func TestFillEndsAtAPermanentError(t *testing.T) {
	var loading atomic.Bool
	f := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) {
		if loading.Load() {
			return "-LOADING wait\r\n", true, true
		}
		return "-NOPERM not you\r\n", true, true
	}})
	l := open(t, Config{Workload: workloadOf(t, "1 get"), Targets: only(f.addr)})
	if err := l.Fill(within(t), 10); err == nil || !strings.Contains(err.Error(), "10 of 10 keys are not written: fill key k:") || !strings.Contains(err.Error(), "NOPERM not you") {
		t.Error(err)
	}
	loading.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := l.Fill(ctx, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestSweepsEndWhenNothingSucceeds has a server refuse everything, or go away.
func TestSweepsEndWhenNothingSucceeds(t *testing.T) {
	const full, gone = "ERR max number of clients reached", "" // the text of the system
	var refuses atomic.Pointer[string]
	f := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) {
		why := refuses.Load()
		return "-" + full + "\r\n", why != nil, why == nil || *why == full
	}})
	cfg := Config{Workload: workloadOf(t, "1 get"), Targets: only(f.addr)}
	verified(t, &cfg)
	l := open(t, cfg)
	if err := l.Fill(within(t), 100); err != nil {
		t.Fatal(err)
	}
	l.patience = 200 * time.Millisecond
	for _, why := range []string{full, gone} {
		refuses.Store(&why)
		for want, sweep := range map[string]func() error{
			"100 of 100 keys are not written":       func() error { return l.Fill(within(t), 100) },
			"100 of 100 keys are not read":          func() error { return l.Recheck(within(t)) },
			"up to 100 of 100 keys are not removed": func() error { return l.Clear(within(t), 100) },
		} {
			if err := sweep(); !errors.Is(err, errStuck) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "succeeded for 200ms: "+why) {
				t.Errorf("%v, want %s: %s", err, want, why)
			}
		}
	}
	refuses.Store(nil)
	l.patience = time.Minute
	if err := l.Fill(within(t), 100); err != nil {
		t.Errorf("the server is back: %v", err)
	}
}
