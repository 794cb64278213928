package fakenet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The slowest bubbles take seconds, with the race detector on a busy machine a minute. One that has
// not ended after stuckAfter in real time is stuck, unless virtual time still moves: then it has
// until endAfter, since a test that waits for what never happens moves, too.
const (
	stuckAfter = 7 * time.Minute
	endAfter   = 20 * time.Minute
)

// Bubble runs a test in virtual time, as synctest.Test does, and sees to it that it ends:
// a bubble that stands still on something that virtual time does not move, or whose
// goroutines go round and round, ends the process, and says which goroutines those are,
// and how far it came: a test that waits for what never happens comes far.
// A time-out of the whole test binary would bury them among all the others.
//
// Under the race detector a bubble has one processor. All timers of a bubble share one
// context of the detector, which must not be used by two threads at once; but a timer that
// is due when it is set or looked at runs on the thread that does so. Two such timers
// corrupt the detector's memory, which ends the process far from the cause
// (https://go.dev/issue/78156). What the detector finds does not depend on threads.
func Bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if raced {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	var passed atomic.Int64 // virtual time, in nanoseconds
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		began, before := time.Now(), int64(-1)
		for wait := stuckAfter; ; wait = time.Minute {
			select {
			case <-ended:
				return
			case <-time.After(wait):
			}
			now := passed.Load()
			if now == before || time.Since(began) > endAfter {
				endStuck(t.Name(), time.Since(began), time.Duration(now))
			}
			before = now
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		defer count(&passed)()
		test(t)
	})
}

// endStuck ends the process, after it has written what each goroutine does.
func endStuck(test string, took, passed time.Duration) {
	fmt.Fprintf(os.Stderr, "%s is stuck: in %v of real time it came to %v\n", test, took.Round(time.Second), passed)
	all := stacks()
	writeHolders(os.Stderr, all)
	if f, err := os.CreateTemp("", "stuck-*.txt"); err == nil {
		f.Write(all)
		fmt.Fprintln(os.Stderr, "all goroutines are in", f.Name())
	}
	os.Exit(1)
}

// count keeps a sum of the time that passes in a bubble, until stop is called.
func count(passed *atomic.Int64) (stop func()) {
	began, tick, done := time.Now(), time.NewTicker(100*time.Millisecond), make(chan struct{})
	go func() {
		for {
			select {
			case now := <-tick.C:
				passed.Store(int64(now.Sub(began)))
			case <-done:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
	}
}

// stacks returns what every goroutine is doing.
func stacks() []byte {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return buf[:n]
		}
	}
}

// asleep is the head of a goroutine that only virtual time, or another goroutine of its
// bubble, wakes.
var asleep = regexp.MustCompile(`^goroutine \d+ .*\(durable\).*:\n`)

// writeHolders writes, of goroutines as runtime.Stack tells them, those that keep a bubble
// from going on, which run or wait for something outside it, and those that keep it from
// ending: the tests'.
func writeHolders(w io.Writer, stacks []byte) {
	for one := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		head, rest, _ := bytes.Cut(one, []byte("\n"))
		if bytes.Contains(head, []byte("synctest bubble")) && (!asleep.Match(one) || bytes.Contains(rest, []byte("_test.go:"))) {
			fmt.Fprintf(w, "%s\n\n", one)
		}
	}
}
