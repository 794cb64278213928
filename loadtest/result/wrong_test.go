package result

import (
	"errors"
	"strings"
	"testing"
)

func TestWrongNamesContestantAndRound(t *testing.T) {
	rounds := func() []Run {
		return []Run{{Round: 1, Checked: &Checked{Reads: 1}}, {Round: 2, Checked: &Checked{Reads: 1}}}
	}
	checked := func() *Report {
		return &Report{Contestants: []Contestant{{Name: "buckets", Runs: rounds()}, {Name: "ketama", Runs: rounds()}}}
	}
	if err := checked().Wrong(); err != nil {
		t.Error(err)
	}
	for _, found := range []Checked{{Lost: 1}, {Stale: 1}, {Corrupt: 1}} {
		r := checked()
		r.Contestants[1].Runs[1].Checked = &found
		if err := r.Wrong(); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), "ketama, round 2: ") {
			t.Errorf("%+v: %v", found, err)
		}
	}
	r := checked()
	r.Contestants[0].Runs[0].Checked = nil
	if err := r.Wrong(); err != nil {
		t.Error(err)
	}
}
