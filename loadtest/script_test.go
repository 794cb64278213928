package loadtest

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestScriptsAreReadBack(t *testing.T) {
	s, err := ParseScript("  load 2k ;run 1m30s;; join; join 3; leave; kill 2; restart; strategy  ketama points 40; hotspot 5%  12.5%; balance  load; balance; ")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, step := range s {
		words = append(words, step.String())
	}
	if got := strings.Join(words, "; "); got != "load 2000; run 1m30s; join; join 3; leave; kill 2; restart; strategy ketama points 40; hotspot 5% 12.5%; balance load; balance" {
		t.Error(got)
	}
	if s.Takes() != 90*time.Second {
		t.Error(s.Takes())
	}
	again, err := ParseScript(strings.Join(words, ";"))
	if err != nil || len(again) != len(s) {
		t.Error(again, err)
	}
	usual, err := ParseScript(DefaultScript)
	if err != nil || usual.Check(3) != nil {
		t.Error(err, usual.Check(3))
	}
}

func TestScriptsThatMakeNoSenseAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "column 1: clients never run",
		"load 5":                            "column 1: clients never run",
		"run 1s; jump":                      "column 9: \"jump\": want",
		"run":                               "column 1: how long",
		"run 8":                             "column 5: ",
		"run 1ms":                           "column 5: ",
		"run 25h":                           "column 5: ",
		"load":                              "column 1: how many",
		"load -1":                           "column 6: ",
		"run 1s; join 65":                   "column 14: ",
		"run 1s; join 2 3":                  "column 16: ",
		"run 1s; restart 2":                 "column 17: ",
		"run 1s; strategy":                  "column 9: which strategy",
		"run 1s; strategy kettle":           "column 18: ",
		"run 1s; strategy ketama points":    "column 18: ",
		"run 1s; strategy ketama vnodes 10": "column 18: ",
		"run 1s; hotspot 5%":                "column 9: a hotspot has two shares",
		"run 1s; hotspot 5% 90":             "column 20: ",
		"run 1s; hotspot 5% 90% 1":          "column 24: ",
		"run 1s; balance loads":             "column 17: ",
		"run 1s; balance load 2":            "column 17: ",
		"run 1s; restart":                   "column 9: no node is dead",
		"run 1s; kill; restart; leave 3; restart":           "column 24: 3 of 3",
		"run 1s; leave 2; kill":                             "column 18: 1 of 1",
		"run 1s; load 5":                                    "column 9: keys are loaded before",
		"run 1s; join 40; join 22":                          "column 18: 65 nodes",
		"run 1s;" + strings.Repeat("join;leave;", 10_000/2): "more than 10000 steps",
		strings.Repeat(" ", 64<<10+1):                       "longer than",
	} {
		s, err := ParseScript(text)
		if err == nil {
			err = s.Check(3)
		}
		if !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

// Whatever is typed is read or refused; what is read is read back.
func FuzzParse(f *testing.F) {
	f.Add(DefaultScript)
	f.Add("run 1s; strategy buckets mask 00ff; strategy rendezvous")
	f.Add("run 1s; hotspot 0.1% 99.99%; balance load")
	f.Add("load 1g; run 1h; kill 3; restart; balance")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScript(text)
		if err != nil || s.Check(4) != nil {
			return
		}
		var words []string
		for _, step := range s {
			words = append(words, step.String())
		}
		again, err := ParseScript(strings.Join(words, "; "))
		if err != nil || again.Check(4) != nil || len(again) != len(s) {
			t.Errorf("%q: %v", words, err)
		}
	})
}
