package scrub

import (
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// What is late is compared more quickly, but not as quickly as it can be, and what could
// not be compared comes again before everything else has had another turn.
func TestLateRangesComeFirst(t *testing.T) {
	s := &Scrub{}
	s.init(Config{})
	st := new(table.State)
	rows := []ring.Range{{Start: 0, End: 8 * gridSize}}
	now := time.Unix(1_000_000, 0)
	for i := range 8 { // the one before the last is the oldest
		at := ring.Range{Start: ring.Token(i * gridSize), End: ring.Token((i + 1) * gridSize)}
		age := time.Duration(10+i) * time.Minute
		if i == 6 {
			age = 2 * time.Hour
		}
		s.unsaved = s.unsaved.With(table.Comparison{Range: at, At: now.Add(-age).Unix()})
	}
	var order []ring.Token
	step := func(was bool) {
		t.Helper()
		for range 10 {
			p, wait := s.next(st, func() []ring.Range { return rows }, 80*time.Minute, now)
			now = now.Add(wait)
			if p.at != (ring.Range{}) {
				order = append(order, p.at.Start/gridSize)
				s.partDone(p, was, now)
				return
			}
		}
		t.Fatal("nothing has its turn")
	}
	began := now
	step(false)
	if s.perPart != 80*time.Minute/8/catchUp {
		t.Errorf("late, a part takes %v", s.perPart)
	}
	step(true)
	if got := now.Sub(began); got != s.perPart {
		t.Errorf("the next one came after %v", got)
	}
	for range 7 {
		step(true)
		s.queueState = nil // as if the table had changed
	}
	if want := fmt.Sprint([]int{6, 7, 5, 6, 4}); fmt.Sprint(order[:5]) != want {
		t.Errorf("the order is %v", order)
	}
	again := 0
	for _, at := range order[1:] {
		if at == 6 {
			again++
		}
	}
	if again != 1 || s.perPart != 10*time.Minute {
		t.Errorf("in the order %v the first came again %d times; a part takes %v", order, again, s.perPart)
	}
}

// Another node's clock that is ahead does not keep anything from being compared.
func TestComparisonsToComeAreNone(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r := ring.Range{Start: 5, End: 9}
	for _, test := range []struct {
		ahead time.Duration
		known bool
	}{{-time.Hour, true}, {time.Second, true}, {time.Hour, false}} {
		c := table.Comparisons{}.With(table.Comparison{Range: r, At: now.Add(test.ahead).Unix()})
		if got := compared(c, r, now); got.IsZero() == test.known {
			t.Errorf("ahead by %v: %v", test.ahead, got)
		}
	}
}

// Parts are all of a range, and cut where those of its neighbours are.
func TestPartsAreCutAlongTheCircle(t *testing.T) {
	for _, r := range []ring.Range{{}, {Start: 5, End: 5}, {Start: 7, End: 8}, {Start: 3 * gridSize, End: 4 * gridSize}, {Start: gridSize - 1, End: 3*gridSize + 1}, {Start: 1<<32 - 3, End: 4}} {
		at, left := r.Start, r.Len()
		for _, p := range cutByGrid(r) {
			if p.Start != at || p.Len() > min(left, gridSize) || p.End != r.End && p.End%gridSize != 0 {
				t.Fatalf("%v: %v", r, p)
			}
			at, left = p.End, left-p.Len()
		}
		if left != 0 {
			t.Errorf("%v: %d tokens are in no part", r, left)
		}
	}
}

// However little there is to check, rounds are an interval apart, unless one is ordered.
func TestScrubRestsBetweenRounds(t *testing.T) {
	s := &Scrub{}
	s.init(Config{})
	st := new(table.State)
	rows := func() []ring.Range { return []ring.Range{{Start: 0, End: 9}} }
	now := time.Unix(1_000_000, 0).Truncate(time.Hour).Add(10 * time.Minute)
	began := now
	turns := 0
	look := func(interval time.Duration) (wait time.Duration) {
		for range 10 {
			p, wait := s.next(st, rows, interval, now)
			if p.at != (ring.Range{}) {
				turns++
				s.partDone(p, true, now)
			} else if wait > 0 {
				return wait
			}
		}
		t.Fatal("one turn after the other")
		return 0
	}
	expect := func(what string, interval, wait time.Duration, want int) {
		t.Helper()
		if got := look(interval); got != wait || turns != want {
			t.Errorf("%s: %d turns, not %d, and the next look in %v, not %v", what, turns, want, got, wait)
		}
	}
	expect("at first", time.Hour, time.Hour, 1)
	now = now.Add(10 * time.Minute)
	expect("soon", time.Hour, 50*time.Minute, 1)
	now = began.Add(time.Hour)
	expect("an interval later", time.Hour, time.Hour, 2)
	expect("turned off", 0, idleInterval, 2)
	now = now.Add(time.Minute)
	s.ordered = true
	expect("ordered", time.Hour, time.Hour, 3)
	if s.stats.Rounds != 3 {
		t.Errorf("%d rounds", s.stats.Rounds)
	}
}
