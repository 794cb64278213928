package chaos

import (
	"strings"
	"testing"
	"time"
)

// One who has heard of each acknowledged write once, of others or not, is content; who misses
// one without a gap, or hears one twice, is not.
func TestSubscriberMayMissReportedGaps(t *testing.T) {
	w := &written{name: "e"}
	for n := range 6 { // keys e:0, e:1 and e:2
		w.begin(n)
		if n != 2 {
			w.acknowledged(n)
		}
	}
	now := time.Now()
	for name, c := range map[string]struct {
		since, until int
		lost         bool
		last         time.Time
		heard        string
		want         verdict
		silent       bool
		wrong        string
	}{
		"all":                        {heard: "set e:0,del e:0,set e:1,del e:1,set e:2,del e:2", last: now, want: verdict{heard: 5}},
		"all that is acknowledged":   {heard: "set e:0,del e:0,del e:1,set e:2,del e:2", last: now, want: verdict{heard: 5, early: 1}},
		"all since the subscription": {since: 4, heard: "set e:2,del e:2", last: now, want: verdict{heard: 2}},
		"too few":                    {heard: "set e:0,del e:0,del e:1,set e:2", last: now, wrong: `"del e:2" of an acknowledged write did not come`},
		"one that was reported":      {until: 4, heard: "set e:0,set e:2,del e:2", last: now, want: verdict{heard: 3, missed: 2}},
		"one after the report":       {until: 4, heard: "set e:0,set e:2", last: now, wrong: `"del e:2" of an acknowledged write did not come`},
		"a lost connection":          {lost: true, heard: "set e:0", last: now, want: verdict{heard: 1, lost: 1}},
		"nobody knows":               {heard: "set e:0", last: now.Add(-time.Hour), silent: true, want: verdict{heard: 1, lost: 1}},
		"one twice":                  {lost: true, heard: "set e:0,set e:0", last: now, wrong: `"set e:0" came 2 times`},
		"one of unknown outcome twice": {
			heard: "set e:0,del e:0,set e:1,del e:1,set e:2,del e:2,set e:1", last: now, wrong: `"set e:1" came 2 times`,
		},
	} {
		h := &hearing{through: "n", since: c.since, times: map[string]int{}, lost: c.lost}
		for event := range strings.SplitSeq(c.heard, ",") {
			what, key, _ := strings.Cut(event, " ")
			h.told("__keyevent@0__:"+what, key, w)
		}
		h.told("__keyevent@0__:set", "another's", w)
		h.until, h.last = c.until, c.last
		v, silent, err := h.judge(w, now.Add(-time.Minute))
		if c.wrong == "" && (err != nil || v != c.want || silent != c.silent) {
			t.Errorf("%s: %+v, %v, %v", name, v, silent, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := &hearing{times: map[string]int{}}
	h.told("__keyevent@0__:gap", "b", w)
	if h.gaps != 1 || h.until != w.begun() {
		t.Errorf("a gap: %d, before write %d", h.gaps, h.until)
	}
}
