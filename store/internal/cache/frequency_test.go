package cache

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

func TestFrequencyFollowsUses(t *testing.T) {
	c, err := New(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	key := func(i int) (layout.Place, []byte) { return layout.Place(i) << 40, []byte(strconv.Itoa(i)) }
	usage := func(i int) Usage {
		t.Helper()
		u, ok := c.UsageOf(key(i))
		if !ok {
			t.Fatalf("key %d has no line", i)
		}
		return u
	}
	get := func(i, times int) {
		p, k := key(i)
		for range times {
			c.Get(p, k, nil)
		}
	}
	for i := range 3 {
		p, k := key(i)
		c.Put(p, k, []byte("line"))
	}
	get(0, 1000)
	if u := usage(0); u.Frequency != FirstFrequency {
		t.Errorf("counter %d though uses are not counted", u.Frequency)
	}
	c.CountUses(&Frequency{Factor: 0, Decay: 60})
	get(0, 10)
	if u := usage(0); u.Frequency != FirstFrequency+10 {
		t.Errorf("counter %d after 10 uses with factor 0", u.Frequency)
	}
	get(0, 1000)
	if u := usage(0); u.Frequency != 255 {
		t.Errorf("counter %d after 1,010 uses with factor 0", u.Frequency)
	}
	c.CountUses(&Frequency{Factor: 10, Decay: 60})
	get(1, 1000)
	if u := usage(1); u.Frequency < 10 || u.Frequency > 40 { // Redis' documentation says 18
		t.Errorf("counter %d after 1,000 uses with factor 10", u.Frequency)
	}
	before := usage(1).Frequency
	c.SetClock(c.Now() + 3*60)
	if u := usage(1); u.Idle != 180 || u.Frequency != before-3 {
		t.Errorf("%+v after 3 minutes, the counter was %d", u, before)
	}
	c.SetClock(c.Now() + 3600)
	if u := usage(1); u.Frequency != 0 {
		t.Errorf("counter %d after an hour", u.Frequency)
	}
	if _, ok := c.UsageOf(key(7)); ok {
		t.Error("a key without a line has a usage")
	}
	p, k := key(0)
	for _, line := range []string{"LINE", strings.Repeat("longer", 20)} {
		c.PutUntouched(p, k, []byte(line))
		if got, answer := c.Peek(p, k, nil); answer != Hit || string(got) != line {
			t.Errorf("%q, %v after PutUntouched of %q", got, answer, line)
		}
	}
	c.PutUntouched(layout.Place(9)<<40, []byte("9"), []byte("line"))
	if u := usage(9); u.Idle != 0 || u.Frequency != FirstFrequency {
		t.Errorf("a key that is new is idle for %d s, with counter %d", u.Idle, u.Frequency)
	}
	// What is looked at is not used.
	if u := usage(0); u.Idle != 180+3600 {
		t.Errorf("idle for %d s", u.Idle)
	}
}

// TestFrequencyStaysWithLine overwrites lines, in place and with longer ones, drops the line of a long
// string to its stub, and fills that again.
func TestFrequencyStaysWithLine(t *testing.T) {
	c, err := New(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.CountUses(&Frequency{})
	p, k := layout.Place(1)<<40, []byte("key")
	line := func(n int) []byte { return bytes.Repeat([]byte{'x'}, n) }
	for i, n := range []int{10, 5, 500, 20, 4000} {
		c.Put(p, k, line(n))
		if got, answer := c.Get(p, k, nil); answer != Hit || len(got) != n {
			t.Fatalf("%d bytes, %v", len(got), answer)
		}
		want := uint8(FirstFrequency + 1 + 2*i)
		if u, ok := c.UsageOf(p, k); !ok || u.Frequency != want {
			t.Errorf("%+v after %d uses, want %d", u, i, want)
		}
	}
}
