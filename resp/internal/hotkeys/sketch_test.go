package hotkeys

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSketchFindsHotKeysInBoundedMemory adds many cold keys and a few hot ones, in any order.
func TestSketchFindsHotKeysInBoundedMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := newSketch(16 * 5)
	var all []string
	for i := range 5 {
		for range 20000 * (i + 1) {
			all = append(all, fmt.Sprint("hot", i))
		}
	}
	for i := range 100000 {
		all = append(all, fmt.Sprint("cold", i))
	}
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, key := range all {
		s.add([]byte(key), 2)
	}
	if len(s.at) != 80 || len(s.ordered) != 80 {
		t.Errorf("%d and %d keys are kept", len(s.at), len(s.ordered))
	}
	for i, h := range s.top(5) {
		want := int64(2 * 20000 * (5 - i))
		// Space-Saving never counts too little, and too much by at most all that was added for each counter.
		if string(h.key) != fmt.Sprint("hot", 4-i) || h.sum < want || h.sum > want+int64(2*len(all)/80) {
			t.Errorf("place %d: %s with %d, want %d", i, h.key, h.sum, want)
		}
	}
}

func TestParseReportsWhatIsWrong(t *testing.T) {
	words := func(text string) (args [][]byte) {
		for _, word := range strings.Fields(text) {
			args = append(args, []byte(word))
		}
		return args
	}
	for text, want := range map[string]string{
		"":                                   "METRICS parameter is required",
		"COUNT 5":                            "METRICS parameter is required",
		"METRICS 0":                          "METRICS count must be > 0 and <= 2",
		"METRICS 3 CPU NET":                  "METRICS count must be > 0 and <= 2",
		"METRICS 1":                          "METRICS count does not match number of metric types provided",
		"METRICS 2 CPU":                      "METRICS count does not match number of metric types provided",
		"METRICS 2 CPU CPU":                  "METRICS CPU defined more than once!",
		"METRICS 1 MEM":                      "METRICS no valid metrics passed. Supported: CPU|NET",
		"METRICS 1 CPU NET":                  "syntax error",
		"METRICS 1 CPU COUNT 0":              "COUNT must be between 1 and 64",
		"METRICS 1 CPU COUNT 65":             "COUNT must be between 1 and 64",
		"METRICS 1 CPU SAMPLE 0":             "SAMPLE ratio must be positive",
		"METRICS 1 CPU DURATION -1":          "DURATION must be between 1 and 1000000",
		"METRICS 1 CPU DURATION 0":           "DURATION must be between 1 and 1000000",
		"METRICS 2 MEM IO":                   "METRICS no valid metrics passed. Supported: CPU|NET",
		"METRICS 2 MEM CPU":                  "",
		"METRICS 1 CPU SLOTS 2 1":            "not enough slot numbers provided",
		"METRICS 1 CPU SLOTS 0 1":            "SLOTS count must be between 1 and 16384",
		"METRICS 1 CPU SLOTS 16385 1":        "SLOTS count must be between 1 and 16384",
		"METRICS 1 CPU SLOTS 1 7 SLOTS 1 8":  "SLOTS parameter already specified",
		"METRICS 1 CPU SLOTS 1 16384":        "Invalid or out of range slot",
		"METRICS 1 CPU SLOTS 2 7 7":          "duplicate slot number",
		"metrics 2 net cpu count 3 sample 2": "",
		"METRICS 1 NET SLOTS 2 7 8 COUNT 64": "",
		"METRICS 1 NET DURATION 1":           "",
	} {
		if _, msg := parse(words(text), true); msg != want {
			t.Errorf("%q: %q, want %q", text, msg, want)
		}
	}
	if _, msg := parse(words("METRICS 1 CPU SLOTS 1 7"), false); msg != "SLOTS parameter cannot be used in non-cluster mode" {
		t.Error(msg)
	}
}
