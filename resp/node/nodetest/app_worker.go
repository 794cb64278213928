package nodetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const (
	// pool is how many keys a worker writes at a time.
	pool = 60
	// patience is how long a command may take.
	patience = 30 * time.Second
	// longest is from where on a value does not grow, in bytes.
	longest = 100_000
	// lifetime of some keys in milliseconds, ten years: longer than any clock is set by.
	lifetime = "315360000000"
	// most faults are listed by Check.
	most = 10
)

// A AppWorker is the only one to write its keys, and knows what each may hold: one value,
// or several once the outcome of a write was not known. Such a key is not written
// again, since what is on its way may still arrive; another takes its place. Only one
// goroutine may use a Worker at a time.
type AppWorker struct {
	// Name begins all its keys.
	Name string
	// Rest is the mean pause after a command with an answer; 0 for none. It must be set
	// before Run.
	Rest time.Duration
	// Done and Failed are how many commands got an answer and how many an error.
	Done, Failed int64
	// Slowest is the longest that a command with an answer took.
	Slowest time.Duration
	// Wrong is the first answer that nothing can excuse or, unless errors are
	// expected, the first error.
	Wrong error

	rnd     *rand.Rand
	current []string            // the keys that are written
	states  map[string][]string // what each may hold; "" is no value
	born    int
	ids     int // of entries of streams
}

// NewAppWorker returns one whose commands follow from its name and the seed.
func NewAppWorker(name string, seed uint64) *AppWorker {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	w := &AppWorker{
		Name: name, rnd: rand.New(rand.NewPCG(seed, h.Sum64())),
		states: map[string][]string{}, current: make([]string, pool),
	}
	for i := range w.current {
		w.renew(i)
	}
	return w
}

func (w *AppWorker) renew(i int) {
	w.born++
	// Both keys of a pair have one hash tag, for what takes two keys.
	w.current[i] = fmt.Sprintf("{%s:%d}:%d:%d", w.Name, i/2, i%2, w.born)
	switch i / 2 % 6 {
	case 0:
		w.current[i] += hashMark
	case 1:
		w.current[i] += listMark
	case 2:
		w.current[i] += zsetMark
	case 3:
		w.current[i] += streamMark
	}
	w.states[w.current[i]] = []string{""}
}

// Run sends commands, one after the other, until stop is closed or something is wrong.
// When it is tolerant, errors are no faults.
func (w *AppWorker) Run(do Doer, stop <-chan struct{}, tolerant bool) {
	for w.Wrong == nil {
		select {
		case <-stop:
			return
		default:
		}
		began := time.Now()
		err := w.step(do)
		switch {
		case err == nil:
			w.Done++
			w.Slowest = max(w.Slowest, time.Since(began))
			if w.Rest > 0 {
				time.Sleep(time.Duration(w.rnd.Int64N(int64(2 * w.Rest))))
			}
		case tolerant:
			w.Failed++
			time.Sleep(time.Duration(w.rnd.IntN(20)) * time.Millisecond) // a client's backoff
		case w.Wrong == nil:
			w.Wrong = err
		}
	}
}

// step sends one random command. One that fails may have been executed or not.
func (w *AppWorker) step(do Doer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	i := w.rnd.IntN(pool)
	key, other := w.current[i], w.current[i^1]
	old, otherOld := w.states[key][0], w.states[other][0]
	write := func(next, want string, args ...string) error { return w.write(ctx, do, i, next, want, args...) }
	read := func(want string, args ...string) error { return w.read(ctx, do, key, want, args...) }
	value := fmt.Sprintf("<%s:%d>", w.Name, w.rnd.Uint64())
	if w.rnd.IntN(10) == 0 {
		value = strings.Repeat(value, 200)
	}
	switch {
	case isHash(key):
		return w.stepHash(key, value, read, write)
	case isList(key):
		return w.stepList(key, value, read, write)
	case isZSet(key):
		return w.stepZSet(key, read, write)
	case isStream(key):
		return w.stepStream(key, value, read, write)
	}
	switch w.rnd.IntN(10) {
	case 0:
		existed := "0"
		if old != "" {
			existed = "1"
		}
		return write("", existed, "DEL", key)
	case 1, 2:
		if len(old) < longest {
			return write(old+value, fmt.Sprint(len(old)+len(value)), "APPEND", key, value)
		}
		fallthrough
	case 3, 4:
		return write(value, "OK", "SET", key, value)
	case 5:
		return write(value, "OK", "SET", key, value, "PX", lifetime)
	case 6:
		return read(old+","+otherOld, "MGET", key, other)
	case 7:
		return read(fmt.Sprint(len(old)), "STRLEN", key)
	default:
		return read(old, "GET", key)
	}
}

// write sends a command that changes the i-th key to hold next. If it fails it may have been
// executed or not.
func (w *AppWorker) write(ctx context.Context, do Doer, i int, next, want string, args ...string) error {
	key := w.current[i]
	got, err := do(ctx, args...)
	if err != nil {
		w.states[key] = append(w.states[key], next)
		w.renew(i)
		return fmt.Errorf("%s %s: %w", args[0], key, err)
	}
	w.states[key] = []string{next}
	return w.expect(args[0], key, got, want)
}

// read sends a command that changes nothing.
func (w *AppWorker) read(ctx context.Context, do Doer, key, want string, args ...string) error {
	got, err := do(ctx, args...)
	if err != nil {
		return fmt.Errorf("%s %s: %w", args[0], key, err)
	}
	switch args[0] {
	case readHash:
		got = sortedHash(got)
	case readStream:
		got = streamState(got)
	}
	return w.expect(args[0], key, got, want)
}

// expect notes an answer that nothing can excuse.
func (w *AppWorker) expect(command, key, got, want string) error {
	if got != want {
		w.Wrong = fmt.Errorf("%s %s answers %d bytes %.60q, want %d bytes %.60q", command, key, len(got), got, len(want), want)
	}
	return w.Wrong
}

// Check compares every key that was ever written with what it may hold, and lists what
// differs. The worker must not run.
func (w *AppWorker) Check(do Doer) error {
	var faults []error
	for key, states := range w.states {
		if len(faults) >= most {
			return errors.Join(append(faults, errors.New("and so on"))...)
		}
		command, rest := "GET", []string(nil)
		switch {
		case isHash(key):
			command = readHash
		case isList(key):
			command, rest = "LRANGE", []string{"0", "-1"}
		case isZSet(key):
			command, rest = "ZRANGE", []string{"0", "-1", "WITHSCORES"}
		case isStream(key):
			command, rest = readStream, []string{"-", "+"}
		}
		got, err := do(context.Background(), append([]string{command, key}, rest...)...)
		switch {
		case isHash(key):
			got = sortedHash(got)
		case isStream(key):
			got = streamState(got)
		}
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("%s %s: %w", command, key, err))
		case !slices.Contains(states, got):
			faults = append(faults, fmt.Errorf("%s has %d bytes %.60q, none of the %d values that it may have, such as %.60q",
				key, len(got), got, len(states), states[0]))
		}
	}
	return errors.Join(faults...)
}

// Keys are how many of the worker's keys exist, at least and at most.
func (w *AppWorker) Keys() (least, greatest int) {
	for _, states := range w.states {
		if !slices.Contains(states, "") {
			least++
		}
		if slices.ContainsFunc(states, func(s string) bool { return s != "" }) {
			greatest++
		}
	}
	return least, greatest
}
