package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring/strategy"
)

func TestContestants(t *testing.T) {
	all, err := ParseContestants("buckets, ketama:40,vnode:128 ,buckets:0FFF,bounded:0.25", "slot")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
		if c.Strategy.Hash != "slot" {
			t.Errorf("%s has hash %s", c.Name, c.Strategy.Hash)
		}
	}
	if got := strings.Join(names, " "); got != "buckets ketama:40 vnode:128 buckets:0FFF bounded:0.25" {
		t.Error(got)
	}
	if all[0].Strategy.Mask != 0xff || all[1].Strategy.Points != 40 || all[2].Strategy.VNodes != 128 || all[3].Strategy.Mask != 0xfff {
		t.Errorf("%+v", all)
	}
	if n := (&Config{}).node(all[4].Strategy); n.Cells.Slack != 0.25 {
		t.Errorf("%+v", n.Cells)
	}
}

func TestAllContestantsAreAllStrategies(t *testing.T) {
	found, err := ParseContestants(" all", "")
	var names []string
	for _, c := range found {
		names = append(names, c.Name)
	}
	if err != nil || !slices.Equal(names, strategy.Names()) || len(names) < 11 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestContestantsThatMakeNoSense(t *testing.T) {
	for text, wants := range map[string][]string{
		"":                          {"column 1: none is named"},
		"buckets,":                  {"column 9: none is named"},
		"bucket":                    {"column 1: ", "unknown strategy"},
		"vnode, random:3":           {"column 8: "},
		"vnode:0":                   {"column 7: "},
		"all, vnode":                {"column 1: ", "unknown strategy"},
		"buckets,ketama:many":       {"column 16: "},
		"ketama:41":                 {"column 8: "},
		"buckets:0F0F":              {"column 9: "},
		"vnode:4,vnode":             {"column 9: vnode is the same as vnode:4"},
		"buckets,vnode,buckets:FF":  {"column 15: buckets:FF is the same as buckets"},
		"nothing,vnode:x,ketama:-4": {"column 1: ", "column 15: ", "column 24: "},
	} {
		_, err := ParseContestants(text, "")
		if !errors.Is(err, ErrContestant) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v; want %q", text, err, want)
			}
		}
	}
}
