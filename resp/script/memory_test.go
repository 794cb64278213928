package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// meterHost grants memory up to most bytes in all, and spare of them to scripts that only run
// faster with them.
type meterHost struct {
	tableHost
	spare, most int
	taken       int
	asked       int
}

func (h *meterHost) Room() int { return 64 << 20 }

func (h *meterHost) Grow(more int, needed bool) bool {
	h.asked++
	most := h.spare
	if needed {
		most = h.most
	}
	if more <= 0 || h.taken+more > most {
		return false
	}
	h.taken += more
	return true
}

// Scripts ask for memory as they grow, and take no more than they are granted: what they leave
// behind is used again before more is asked for than can be spared.
func TestScriptAsksForMemory(t *testing.T) {
	const mb = 1 << 20
	keep := func(n int) string {
		return fmt.Sprintf("local t = {} for i = 1, %d do t[i] = string.rep('x', 1000) .. i end return #t", n)
	}
	drop := func(n int) string {
		return fmt.Sprintf("local s for i = 1, %d do s = string.rep('x', 1000) .. i end return %d", n, n)
	}
	reply := func(n int) string {
		return fmt.Sprintf("local s, t = string.rep('x', 1000), {} for i = 1, %d do t[i] = s end return t", n)
	}
	for _, c := range []struct {
		script      string
		spare, most int
		least, end  int    // bytes that it must have taken, and may have taken, in the end
		want        string // "": it is refused
	}{
		{keep(50), 0, 0, 0, 0, ":50"},
		{drop(50), 0, 0, 0, 0, ":50"},
		{reply(100), 0, 0, 0, 0, "*100"},
		{keep(10_000), 64 * mb, 64 * mb, 10 * mb, 64 * mb, ":10000"},
		{keep(10_000), 0, 64 * mb, 10 * mb, 32 * mb, ":10000"},
		{keep(10_000), mb, 64 * mb, 10 * mb, 32 * mb, ":10000"},
		{keep(10_000), 0, 5 * mb, 0, 5 * mb, ""},
		{keep(10_000), 5 * mb, 5 * mb, 0, 5 * mb, ""},
		{keep(10_000), 0, 0, 0, 0, ""},
		{drop(10_000), 0, 0, 0, 0, ":10000"},
		{drop(10_000), 2 * mb, 64 * mb, 0, 2 * mb, ":10000"},
		{reply(10_000), 0, 64 * mb, 9 * mb, 32 * mb, "*10000"},
		{reply(10_000), 0, 5 * mb, 0, 5 * mb, ""},
		{"return string.rep('x', 20000000)", 0, 64 * mb, 40_000_000, 64 * mb, "$20000000"},
		{"return string.rep('x', 20000000)", 0, 30 * mb, 0, 30 * mb, ""},
	} {
		s, err := Compile(c.script)
		if err != nil {
			t.Fatal(err)
		}
		r := NewRuntime()
		for range 2 { // what was granted is not kept for the next run
			h := &meterHost{spare: c.spare, most: c.most}
			r.Begin(64 << 20)
			got, err := r.Run(s, nil, nil, h, nil, false)
			switch {
			case c.want == "" && !errors.Is(err, ErrStopped):
				t.Errorf("%s, %d, %d: %.100q, %v", c.script, c.spare, c.most, got, err)
			case c.want != "" && (err != nil || !strings.HasPrefix(string(got), c.want+"\r\n")):
				t.Errorf("%s, %d, %d: %.100q, %v", c.script, c.spare, c.most, got, err)
			case h.taken < c.least || h.taken > c.end:
				t.Errorf("%s, %d, %d: took %d bytes, want %d to %d", c.script, c.spare, c.most, h.taken, c.least, c.end)
			case h.asked > 500:
				t.Errorf("%s, %d, %d: asked %d times", c.script, c.spare, c.most, h.asked)
			}
		}
	}
}

// A library that keeps values in its variables takes what is new, not what earlier calls have left.
func TestFunctionAsksForNewMemory(t *testing.T) {
	l, err := NewLibrary("local t = {} redis.register_function('f', function() for i = 1, 100 do t[#t + 1] = string.rep('x', 1000) .. #t end return #t end) "+
		"redis.register_function('g', function() local t = {} for i = 1, 5000 do t[i] = string.rep('x', 1000) .. i end return #t end)", 64<<20, 0, noLog)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.NewRuntime(64<<20, noLog, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		r.Begin(64 << 20)
		h := &meterHost{}
		got, err := r.Call(&l.Functions[0], nil, nil, h, nil, false)
		if want := fmt.Sprintf(":%d\r\n", 100*(i+1)); err != nil || string(got) != want {
			t.Fatalf("call %d: %q, %v, want %q", i, got, err, want)
		}
	}
	// What earlier calls have left is no memory for this one, whether it is in use or not.
	for _, most := range []int{0, 64 << 20} {
		for range 3 {
			r.Begin(64 << 20)
			h := &meterHost{most: most}
			got, err := r.Call(&l.Functions[1], nil, nil, h, nil, false)
			if most == 0 && !errors.Is(err, ErrStopped) || most > 0 && (err != nil || string(got) != ":5000\r\n" || h.taken < 4<<20) {
				t.Errorf("with %d bytes: %q, %v, %d bytes taken", most, got, err, h.taken)
			}
		}
	}
}
