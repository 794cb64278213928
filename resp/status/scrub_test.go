package status

import (
	"strings"
	"testing"
	"time"
)

func TestScrubIsDrawn(t *testing.T) {
	began := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	r := &Report{Nodes: []Node{
		{ID: "a", Role: "store", Health: Alive, Answered: true, Scrub: &Scrub{
			Running: true, Began: &began, Done: 3, Total: 85, Rounds: 1, Ended: &began, Differed: 2, Repaired: 1, Repairing: 1,
			OldestAge: 7300, Never: 4, Interval: 3600, Damaged: 5, Unmended: []string{"1: x", "2: y", "3: z", "4: u", "5: v"},
		}},
		{ID: "b", Role: "store", Health: Alive},
		{ID: "p", Role: "proxy", Health: Alive, Answered: true},
	}}
	var text strings.Builder
	if err := DrawScrub(&text, r); err != nil {
		t.Fatal(err)
	}
	want := `a
  3 of 85 parts compared since 2026-03-04 05:06:07
  1 round done, the last at 2026-03-04 05:06:07
  the oldest comparison was 2 h ago, 4 parts not yet compared
  2 copies differed, 1 repaired, 0 removed for damage, 0 skipped
! a cannot read all of 5 ranges: its disk has damaged something
! a: 1: x
! a: 2: y
! a: 3: z
! a: and 2 more
! a serves what was compared with its backups 2 h ago: it was to be every 60
  min
! 1 backup of what a serves did not have all of it: it is copied anew
b
  does not tell
`
	if text.String() != want {
		t.Errorf("%s", text.String())
	}
	text.Reset()
	if err := Draw(&text, r, 120); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"copies are compared: 3 of 85 parts in this round", "! a cannot read all of 5 ranges"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("without %q:\n%s", part, text.String())
		}
	}
}
