package cluster

import (
	"errors"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// ErrContestant says that a contestant makes no sense. The message names the column, counted
// in bytes from 1 on.
var ErrContestant = errors.New("bad contestant")

// A Contestant is a strategy with its settings.
type Contestant struct {
	Name     string // as it was written: "vnode", "vnode:128"
	Strategy strategy.Config
}

// ParseContestant reads a strategy, with its main setting if it is to be another than usual:
//
//	buckets    buckets:0FFF   mask, in hexadecimals
//	ketama     ketama:40      points of a server
//	vnode      vnode:128      points of a node
//	bounded    bounded:0.25   how much above its share a node may be
//	multiprobe, lrh           likewise, with probes and candidates
//
// The error wraps [ErrContestant].
func ParseContestant(text, hash string) (Contestant, error) {
	return parseContestant(workload.Word{Text: text, Column: 1}, hash)
}

func parseContestant(w workload.Word, hash string) (Contestant, error) {
	base := strategy.DefaultConfig()
	if hash != "" {
		base.Hash = hash
	}
	if strings.TrimSpace(w.Text) == "" {
		return Contestant{}, w.Fault(ErrContestant, "none is named: give %s", strings.Join(strategy.Names(), ", "))
	}
	of, err := strategy.Parse(w.Text, base)
	if err != nil {
		if name, setting, ok := strings.Cut(w.Text, ":"); ok && !errors.Is(err, strategy.ErrName) {
			w = workload.Word{Text: setting, Column: w.Column + len(name) + 1}
		}
		return Contestant{}, w.Fault(ErrContestant, "%v", err)
	}
	return Contestant{Name: w.Text, Strategy: of}, nil
}

// all stands for every strategy.
const all = "all"

// ParseContestants reads contestants with commas between them, no two of which may be the
// same; "all" are all strategies with their usual settings. The error joins every fault and wraps
// [ErrContestant].
func ParseContestants(text, hash string) ([]Contestant, error) {
	if strings.TrimSpace(text) == all {
		text = strings.Join(strategy.Names(), ",")
	}
	var found []Contestant
	var faults []error
	seen := make(map[strategy.Config]string)
	at := 1
	for part := range strings.SplitSeq(text, ",") {
		trimmed := strings.TrimLeft(part, " \t")
		w := workload.Word{Text: strings.TrimSpace(part), Column: at + len(part) - len(trimmed)}
		at += len(part) + 1
		c, err := parseContestant(w, hash)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if twin, ok := seen[c.Strategy]; ok {
			faults = append(faults, w.Fault(ErrContestant, "%.40s is the same as %.40s", w.Text, twin))
			continue
		}
		seen[c.Strategy] = c.Name
		found = append(found, c)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return found, nil
}
