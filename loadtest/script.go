package loadtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// ErrScript says that a script cannot be read, or cannot be played. The message names the
// column, counted in bytes from 1 on.
var ErrScript = errors.New("bad script")

// Bounds of a script.
const (
	MaxNodes = 64
	MaxKeys  = 1 << 40
	MaxRun   = 24 * time.Hour
)

// DefaultScript is the usual script.
const DefaultScript = "load 200000; run 8s; join; run 8s; leave; run 8s; kill; run 12s"

// A Script is what happens, in order.
type Script []Step

// A Step is one thing that happens. The next begins when it is done: a join once the node is
// in the cluster, a leave once it has been asked for, whatever moves after that.
type Step struct {
	Kind   StepKind
	Keys   int64         // StepLoad
	For    time.Duration // StepRun
	Nodes  int           // StepJoin, Leave, Kill
	Switch string        // StepStrategy: the strategy with its settings, as RING STRATEGY takes them
	Hot    [2]float64    // StepHotspot: the share of the keys, and of the requests
	Column int           // where its text begins, in bytes from 1 on
}

// StepKind is what a step does.
type StepKind uint8

// The kinds of steps.
const (
	StepLoad     StepKind = iota // keys are written, as fast as it goes, and not measured
	StepRun                      // clients do what the workload says
	StepJoin                     // new nodes join
	StepLeave                    // nodes hand over what they have, and leave
	StepKill                     // nodes die
	StepRestart                  // those that died are started again
	StepHotspot                  // clients turn to keys of one node
	StepEvenLoad                 // the cluster evens the load on its nodes once
	StepStrategy                 // the cluster switches to another strategy
	StepBalance                  // clients go on until nothing is left to move
)

var stepNames = [...]string{
	StepLoad: "load", StepRun: "run", StepJoin: "join", StepLeave: "leave", StepKill: "kill", StepRestart: "restart",
	StepHotspot: "hotspot", StepEvenLoad: "balance load", StepStrategy: "strategy", StepBalance: "balance",
}

// String is the word for a kind.
func (k StepKind) String() string { return stepNames[k] }

// String is the step as it is written.
func (s Step) String() string {
	switch {
	case s.Kind == StepLoad:
		return fmt.Sprintf("load %d", s.Keys)
	case s.Kind == StepRun:
		return "run " + s.For.String()
	case s.Kind == StepStrategy:
		return "strategy " + s.Switch
	case s.Kind == StepHotspot:
		return fmt.Sprintf("hotspot %.6g%% %.6g%%", 100*s.Hot[0], 100*s.Hot[1])
	case s.Nodes > 1:
		return fmt.Sprintf("%v %d", s.Kind, s.Nodes)
	}
	return s.Kind.String()
}

// Event reports whether the step is one of which clients may notice something.
func (s Step) Event() bool { return s.Kind >= StepJoin && s.Kind <= StepStrategy }

// changesMembers reports whether nodes come or go in the step.
func (s Step) changesMembers() bool { return s.Kind >= StepJoin && s.Kind <= StepRestart }

// ParseScript reads steps with semicolons between them:
//
//	load 200000    so many keys are written before anything is measured
//	run 8s         clients do what the workload says for so long
//	join           a node joins; also: join 2
//	leave          a node leaves; also: leave 2
//	kill           a node is killed; also: kill 2
//	restart        those that were killed are started again
//	strategy ketama   the cluster switches to ketama; also, with settings: strategy ketama points 40
//	hotspot 5% 90%    nine tenths of the requests go to a twentieth of the keys, which one node serves
//	balance load   the cluster evens the load on its nodes once
//	balance        clients go on until nothing is left to move
//
// The error joins every fault and wraps [ErrScript].
func ParseScript(text string) (Script, error) {
	return workload.ParseSteps(ErrScript, text, parseStep)
}

func parseStep(words []workload.Word) (Step, error) {
	first, rest := words[0], words[1:]
	s := Step{Column: first.Column, Nodes: 1}
	kind := slices.Index(stepNames[:], first.Text)
	if kind < 0 {
		return Step{}, first.Fault(ErrScript, "%.40q: want load, run, join, leave, kill, restart, strategy, hotspot or balance", first.Text)
	}
	s.Kind = StepKind(kind)
	var err error
	switch {
	case s.Kind == StepStrategy:
		s.Switch, err = workload.ParseSwitch(ErrScript, first, rest)
		return s, err
	case s.Kind == StepHotspot:
		s.Hot, err = first.Hotspot(ErrScript, rest, "hotspot 5% 90%")
		return s, err
	case s.Kind == StepBalance && len(rest) == 1 && rest[0].Text == "load":
		s.Kind = StepEvenLoad
		return s, nil
	}
	most := 1
	if s.Kind == StepRestart || s.Kind == StepBalance {
		most = 0
	}
	if err := workload.AtMost(most, ErrScript, rest); err != nil {
		return Step{}, err
	}
	switch {
	case s.Kind == StepLoad && len(rest) == 0:
		err = first.Fault(ErrScript, "how many keys is missing, as in load 200000")
	case s.Kind == StepLoad:
		s.Keys, err = rest[0].Int(ErrScript, 1, MaxKeys)
	case s.Kind == StepRun && len(rest) == 0:
		err = first.Fault(ErrScript, "how long is missing, as in run 8s")
	case s.Kind == StepRun:
		s.For, err = rest[0].Duration(ErrScript, 100*time.Millisecond, MaxRun)
	case len(rest) == 1:
		var n int64
		n, err = rest[0].Int(ErrScript, 1, MaxNodes)
		s.Nodes = int(n)
	}
	return s, err
}

// Check says whether the script can be played with so many nodes at the beginning. Its error
// wraps [ErrScript].
func (s Script) Check(nodes int) error {
	dead, ran := 0, false
	for _, step := range s {
		fault := func(format string, args ...any) error { return workload.Fault(ErrScript, step.Column, format, args...) }
		switch step.Kind {
		case StepLoad:
			if ran {
				return fault("keys are loaded before anybody runs")
			}
		case StepRun, StepBalance:
			ran = true
		case StepJoin:
			if nodes += step.Nodes; nodes+dead > MaxNodes {
				return fault("%d nodes are more than %d", nodes+dead, MaxNodes)
			}
		case StepLeave, StepKill:
			if step.Nodes >= nodes {
				return fault("%d of %d nodes would go, and one must stay", step.Nodes, nodes)
			}
			nodes -= step.Nodes
			if step.Kind == StepKill {
				dead += step.Nodes
			}
		case StepRestart:
			if dead == 0 {
				return fault("no node is dead that could be started again")
			}
			nodes, dead = nodes+dead, 0
		}
	}
	if !ran {
		return workload.Fault(ErrScript, 1, "clients never run: it has no run and no balance")
	}
	return nil
}

// String is the script as it is written.
func (s Script) String() string {
	steps := make([]string, len(s))
	for i := range s {
		steps[i] = s[i].String()
	}
	return strings.Join(steps, "; ")
}

// Takes is how long the script takes at least.
func (s Script) Takes() (d time.Duration) {
	for _, step := range s {
		d += step.For
	}
	return d
}
