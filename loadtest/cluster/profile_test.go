package cluster

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
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
	zip := func(b []byte) []byte {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(b)
		_ = w.Close()
		return z.Bytes()
	}
	for _, b := range [][]byte{nil, []byte("text"), zip([]byte{0xff}), zip([]byte{2<<3 | 2, 9, 1}), zip([]byte{2<<3 | 5})} {
		if of, err := worked(b, Label); !errors.Is(err, errProfile) {
			t.Errorf("%x: %v, %v", b, of, err)
		}
	}
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte{2<<3 | 2, 6, 2<<3 | 2, 2, 1, 5, 3<<3 | 2, 0})
	f.Add([]byte{6<<3 | 2, 1, 'a', 2 << 3, 7})
	f.Fuzz(func(t *testing.T, b []byte) {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = io.Copy(w, bytes.NewReader(b))
		_ = w.Close()
		_, _ = worked(z.Bytes(), Label)
	})
}
