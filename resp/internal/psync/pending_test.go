package psync

import (
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

func names(keys []*waiting) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.key)
	}
	return strings.Join(all, " ")
}

func TestPendingKeyIsReadByOneAtATime(t *testing.T) {
	p := newPending()
	p.setOpen(true)
	a, b := place{0, "a"}, place{0, "b"}
	p.touch(a)
	p.touch(b)
	p.touch(a)
	first := p.take(10, nil)
	if got := names(first); got != "a b" {
		t.Fatalf("taken: %s", got)
	}
	p.touch(a)
	p.touch(place{1, "a"})
	second := p.take(10, nil)
	if got := names(second); got != "a" || second[0].database != 1 {
		t.Fatalf("taken beside a read of a: %s", got)
	}
	p.sent(first[1], 1)
	p.sent(second[0], 1)
	if n := p.count(); n != 1 {
		t.Errorf("%d keys wait after two were sent", n)
	}
	p.sent(first[0], 1)
	if got := names(p.take(10, nil)); got != "a" {
		t.Errorf("taken after the read: %s", got)
	}
}

func TestPendingDiscardsWhatWasReadBefore(t *testing.T) {
	p := newPending()
	p.setOpen(true)
	p.touch(place{0, "a"})
	taken := p.take(1, nil)
	if !p.current(taken[0]) {
		t.Error("nothing was discarded")
	}
	p.discard()
	if p.current(taken[0]) {
		t.Error("what was read before may be sent")
	}
	p.again(taken, 0)
	if taken = p.take(1, nil); !p.current(taken[0]) {
		t.Error("what was read afterwards may not be sent")
	}
}

func TestPendingKeyWithLargeValueRests(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		p := newPending()
		p.setOpen(true)
		began := time.Now()
		for range 3 { // each change comes while the key rests
			p.touch(place{0, "large"})
			taken := p.take(10, nil)
			if got := names(taken); got != "large" {
				t.Fatalf("taken: %q", got)
			}
			p.sent(taken[0], keyRate/2)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("three values were sent in %v", took)
		}
		p.touch(place{0, "large"})
		p.touch(place{0, "small"})
		if got := names(p.take(10, nil)); got != "small" {
			t.Errorf("taken beside one that rests: %q", got)
		}
		p.again(p.take(1, nil), time.Second) // the large one
		if got := time.Since(began); got != 3*time.Second/2 {
			t.Errorf("taken after %v", got)
		}
		if taken := p.take(10, nil); names(taken) != "large" || time.Since(began) != 5*time.Second/2 {
			t.Errorf("%q was taken again after %v", names(taken), time.Since(began))
		} else {
			p.sent(taken[0], restFrom)
		}
		time.Sleep(time.Second)
		if n := p.count(); n != 1 { // small, which is being read
			t.Errorf("%d keys are left", n)
		}
	})
}

func TestPendingKeysAreBounded(t *testing.T) {
	p := newPending()
	long := strings.Repeat("x", 1<<20)
	n := 0
	for p.touch(place{n, long}) {
		n++
	}
	if n < 200 || n > 256 {
		t.Errorf("%d keys of 1 MiB", n)
	}
}

func TestPendingTakesNothingUnlessOpen(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		p := newPending()
		p.touch(place{0, "a"})
		taken := make(chan string)
		go func() {
			for {
				keys := p.take(1, nil)
				taken <- names(keys)
				if len(keys) == 0 {
					return
				}
				p.sent(keys[0], 1)
			}
		}()
		time.Sleep(time.Second)
		select {
		case got := <-taken:
			t.Errorf("%q was taken", got)
		default:
		}
		p.setOpen(true)
		if got := <-taken; got != "a" {
			t.Errorf("%q was taken", got)
		}
		time.Sleep(time.Second)
		p.setOpen(false)
		p.touch(place{0, "b"})
		time.Sleep(time.Second)
		p.end()
		if got := <-taken; got != "" {
			t.Errorf("%q was taken", got)
		}
	})
}
