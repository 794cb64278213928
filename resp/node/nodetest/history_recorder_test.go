package nodetest

import (
	"testing"
	"time"
)

// A key that is asked for no more is not unavailable because somebody's answer is still out.
func TestUnavailabilityIsOfKeysThatAreAskedFor(t *testing.T) {
	r := NewRecorder("k")
	at := func(d time.Duration) { r.began = time.Now().Add(-d) }
	write := func(key string) *Op { return &Op{Command: "SET", Key: key} }
	key := r.current[0]
	at(0)
	stuck := write(key)
	r.ask(stuck)
	at(2 * time.Second)
	other := write(key)
	r.ask(other)
	at(3 * time.Second)
	r.answer(other, done)
	if got := r.Counts().LongestWrite.Round(time.Second); got != 3*time.Second {
		t.Errorf("nobody was answered for 3 s, not for %v", got)
	}
	for range mostUnknown {
		o := write(key)
		r.ask(o)
		r.answer(o, outcomeUnknown)
	}
	if r.current[0] == key {
		t.Fatal("the key is still asked for")
	}
	at(30 * time.Second)
	r.answer(stuck, done)
	if got := r.Counts().LongestWrite.Round(time.Second); got != 3*time.Second {
		t.Errorf("the key was not asked for any more, and counts for %v", got)
	}
}

// What began before the last fault was over counts from then on.
func TestUnavailabilityAfterTheLastFault(t *testing.T) {
	r := NewRecorder("k")
	at := func(d time.Duration) { r.began = time.Now().Add(-d) }
	o := &Op{Command: "GET", Key: r.current[0]}
	at(0)
	r.ask(o)
	at(10 * time.Second)
	r.Calm()
	at(12 * time.Second)
	r.answer(o, done)
	c := r.Counts()
	if c.LongestRead.Round(time.Second) != 12*time.Second || c.LongestCalm.Round(time.Second) != 2*time.Second || c.Calm != "read "+o.Key {
		t.Errorf("%+v", c)
	}
}
