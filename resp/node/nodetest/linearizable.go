package nodetest

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/anishathalye/porcupine"
)

// Errors of [Recorder.Check].
var (
	ErrWrong     = errors.New("no one server answers so")
	ErrUndecided = errors.New("not decided within the steps of a search")
)

// searchSteps bounds the search for an order of one key's commands. The bound is on work and
// not on time, so that the verdict does not depend on the machine. A search that uses it up
// takes some seconds and some hundred MiB; almost all searches need a few thousand steps.
const searchSteps = 2_000_000

// Check says what one server could not have answered: an error that shows the history of
// each key concerned, and wraps ErrWrong. A history whose search takes too many steps has an
// error that wraps ErrUndecided alone; it says nothing about the server.
func (r *Recorder) Check() error {
	r.mu.Lock()
	byKey := map[string][]*Op{}
	for _, o := range r.ops {
		byKey[o.Key] = append(byKey[o.Key], o)
	}
	r.mu.Unlock()
	var faults []error
	for _, key := range r.All() {
		switch judge(byKey[key], searchSteps) {
		case porcupine.Illegal:
			faults = append(faults, fmt.Errorf("%w: %s\n%s", ErrWrong, key, show(byKey[key])))
		case porcupine.Unknown:
			faults = append(faults, fmt.Errorf("%w: %s, %d commands", ErrUndecided, key, len(byKey[key])))
		}
	}
	return errors.Join(faults...)
}

// judge looks for an order of the commands of one key in which one server gives the recorded
// replies. It returns porcupine.Unknown if steps tries are not enough.
func judge(ops []*Op, steps int64) porcupine.CheckResult {
	var history []porcupine.Operation
	for _, o := range ops {
		p := porcupine.Operation{Input: o, Output: o, Call: o.asked, Return: o.answered}
		if o.Unknown {
			p.Return = math.MaxInt64
		}
		history = append(history, p)
	}
	model, tried := oneServer, atomic.Int64{}
	model.Step = func(state, input, output any) (bool, any) {
		if tried.Add(1) > steps { // nothing fits any more, so the search ends
			return false, state
		}
		return oneServer.Step(state, input, output)
	}
	switch found := porcupine.CheckOperations(model, history); {
	case found:
		return porcupine.Ok
	case tried.Load() > steps:
		return porcupine.Unknown
	}
	return porcupine.Illegal
}

var seed = maphash.MakeSeed()

var oneServer = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		o := input.(*Op)
		next, reply := serve(state.(string), o)
		return o.Unknown || reply == o.Reply, next
	},
	Hash: func(state any) uint64 { return maphash.String(seed, state.(string)) },
}

// show lists a history up to the first answer that cannot be.
func show(ops []*Op) string {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b *Op) int { return int(a.asked - b.asked) })
	var ends []int64
	for _, o := range ops {
		ends = append(ends, o.answered)
	}
	slices.Sort(ends)
	i, _ := slices.BinarySearchFunc(ends, true, func(end int64, _ bool) int {
		if judge(until(ops, end), searchSteps/10) == porcupine.Illegal {
			return 0
		}
		return -1
	})
	if i < len(ends) {
		ops = until(ops, ends[i])
	}
	var b strings.Builder
	if from := max(0, len(ops)-60); from > 0 {
		fmt.Fprintf(&b, "(%d before)\n", from)
		ops = ops[from:]
	}
	for _, o := range ops {
		fmt.Fprintln(&b, o)
	}
	return b.String()
}

// until is the history as it stood at a moment: what had no answer yet might have any.
func until(ops []*Op, moment int64) []*Op {
	var known []*Op
	for _, o := range ops {
		if o.asked > moment {
			break
		}
		if o.answered > moment {
			early := *o
			early.Unknown, early.Why = true, "no answer yet"
			o = &early
		}
		known = append(known, o)
	}
	return known
}
