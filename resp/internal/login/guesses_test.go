package login

import (
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

func at(host string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(host), Port: 4711} }

func TestWrongPasswordsTakeLonger(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var l Guesses
		try := func(from string, right bool) time.Duration {
			start := time.Now()
			var waiting atomic.Bool
			if l.Check(at(from), &waiting, nil, nil, func() bool { return right }) != right {
				t.Error("the answer is wrong")
			}
			return time.Since(start)
		}
		const a, b = "10.0.0.1", "10.0.0.2"
		for i, want := range []time.Duration{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000} {
			if got := try(a, false); got != want*time.Millisecond {
				t.Errorf("attempt %d took %v, want %d ms", i, got, want)
			}
		}
		if got := try(b, false); got != 10*time.Millisecond {
			t.Errorf("another address: %v", got)
		}
		if got := try(a, true); got != 0 {
			t.Errorf("the right password: %v", got)
		}
		if got := try(a, false); got != 10*time.Millisecond {
			t.Errorf("after the right password: %v", got)
		}
		for range 5 {
			try(a, false)
		}
		time.Sleep(memory + time.Second)
		if got := try(a, false); got != 10*time.Millisecond {
			t.Errorf("long after: %v", got)
		}
	})
}

// TestHangingUpDoesNotHelp: guesses whose connections are gone still take their time,
// and only so many of an address are looked at meanwhile.
func TestHangingUpDoesNotHelp(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var l Guesses
		var waiting atomic.Bool
		for range 9 { // 5 s from now on
			l.Check(at("10.0.0.1"), &waiting, nil, nil, func() bool { return false })
		}
		looked := 0
		const guesses = 100
		done := make(chan struct{}, guesses)
		for range guesses {
			gone := make(chan struct{})
			go func() {
				l.Check(at("10.0.0.1"), &waiting, gone, nil, func() bool { looked++; return false })
				done <- struct{}{}
			}()
			synctest.Wait()
			close(gone)
			synctest.Wait()
		}
		time.Sleep(time.Second)
		if looked != slotCount {
			t.Errorf("%d passwords were looked at in a second, want %d", looked, slotCount)
		}
		for range guesses {
			<-done
		}
		if looked != slotCount {
			t.Errorf("%d passwords were looked at", looked)
		}
	})
}

func TestLoginsForgetAddresses(t *testing.T) {
	var l Guesses
	for i := range maxAddrs + 100 {
		l.of(net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)).String(), true)
	}
	if len(l.fails) > maxAddrs {
		t.Errorf("%d addresses are remembered", len(l.fails))
	}
}
