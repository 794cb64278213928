package cluster

import (
	"bytes"
	"context"
	"errors"
	"runtime/pprof"
	"testing"
	"time"
)

// Of two that work at the same time each is told what it took, also of what it has started.
func TestProfileSeparatesConcurrentWork(t *testing.T) {
	var written bytes.Buffer
	if err := pprof.StartCPUProfile(&written); err != nil {
		t.Skip(err) // somebody profiles the test
	}
	// Not Label: goroutines of memberlist that other tests have started still end, and have that one.
	const label = "node of this test"
	work := func(ctx context.Context) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for x, until := 0, time.Now().Add(600*time.Millisecond); time.Now().Before(until); x++ {
			}
		}()
		<-done
	}
	pprof.Do(context.Background(), pprof.Labels(label, "n1"), work)
	pprof.Do(context.Background(), pprof.Labels("other", "n2"), work)
	pprof.StopCPUProfile()
	of, err := worked(written.Bytes(), label)
	if err != nil {
		t.Fatal(err)
	}
	// However busy the machine is, who works for 600 ms is seen.
	if of["n1"] <= 0 || of[""] <= 0 || len(of) != 2 {
		t.Errorf("%v", of)
	}
}

func TestProfileThatCannotBeRead(t *testing.T) {
	for _, b := range []string{"", "text", "\x1f\x8b\x08"} {
		if of, err := worked([]byte(b), Label); !errors.Is(err, errProfile) {
			t.Errorf("%x: %v, %v", b, of, err)
		}
	}
}
