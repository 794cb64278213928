package report

import (
	"errors"
	"strings"
	"testing"
)

func TestWrongAnswersAreTold(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	if err := usual().Wrong(); err != nil {
		t.Error(err)
	}
	for _, checked := range []Checked{{Lost: 1}, {Stale: 1}, {Corrupt: 1}} {
		r := usual()
		r.Contestants[1].Runs[1].Checked = &checked
		if err := r.Wrong(); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), "ketama, round 2: ") {
			t.Errorf("%+v: %v", checked, err)
		}
	}
	r := usual()
	r.Contestants[0].Runs[0].Checked = nil
	if err := r.Wrong(); err != nil {
		t.Error(err)
	}
}
