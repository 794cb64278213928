package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// A doer runs one command, as an application's library does. A missing value is "".
type doer func(ctx context.Context, args ...string) (string, error)

// goRedis is a doer of go-redis, for one node or, as its ClusterClient, for all.
func goRedis(client redis.Cmdable) doer {
	return func(ctx context.Context, args ...string) (string, error) {
		words := make([]any, len(args))
		for i, a := range args {
			words[i] = a
		}
		reply, err := client.(interface {
			Do(ctx context.Context, args ...any) *redis.Cmd
		}).Do(ctx, words...).Result()
		if errors.Is(err, redis.Nil) {
			return "", nil
		}
		return flat(reply), err
	}
}

func rueidisDoer(client rueidis.Client) doer {
	return func(ctx context.Context, args ...string) (string, error) {
		keys := 1
		switch args[0] {
		case "MGET", "DEL", "EXISTS":
			keys = len(args) - 1
		}
		command := client.B().Arbitrary(args[0]).Keys(args[1 : 1+keys]...).Args(args[1+keys:]...).Build()
		reply, err := client.Do(ctx, command).ToAny()
		if rueidis.IsRedisNil(err) {
			return "", nil
		}
		return flat(reply), err
	}
}

// flat is a reply as one string.
func flat(reply any) string {
	switch v := reply.(type) {
	case nil:
		return ""
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, flat(e))
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(reply)
}

// A mixedWorker is the only one to write its keys, and knows what each may hold: one
// value, or several once the outcome of a write was not known. Such a key is not written
// again, since what is on its way may still arrive; another takes its place.
type mixedWorker struct {
	name    string
	rnd     *rand.Rand
	current []string
	states  map[string][]string // "" is no value
	born    int
	done    int64
	failed  int64
	// slowest is the longest that a command took.
	slowest time.Duration
	wrong   error
}

const mixedKeys = 60

func newMixedWorker(name string, seed uint64) *mixedWorker {
	w := &mixedWorker{name: name, states: map[string][]string{}, current: make([]string, mixedKeys)}
	w.rnd = rand.New(rand.NewPCG(seed, uint64(len(name))*31+uint64(name[len(name)-1])))
	for i := range w.current {
		w.renew(i)
	}
	return w
}

func (w *mixedWorker) renew(i int) {
	w.born++
	// Both keys of a pair have one hash tag, for what takes two keys.
	w.current[i] = fmt.Sprintf("{%s:%d}:%d:%d", w.name, i/2, i%2, w.born)
	w.states[w.current[i]] = []string{""}
}

// run sends commands until stop is closed. When failures are not expected, the first one
// ends it.
func (w *mixedWorker) run(do doer, stop <-chan struct{}, tolerant bool) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		began := time.Now()
		err := w.step(do)
		w.slowest = max(w.slowest, time.Since(began))
		if w.wrong == nil && err != nil && !tolerant {
			w.wrong = err
		}
		if w.wrong != nil {
			return
		}
		if err != nil {
			w.failed++
			time.Sleep(time.Duration(w.rnd.IntN(20)) * time.Millisecond) // a client's backoff
			continue
		}
		w.done++
	}
}

// step sends one random command. A command that fails may have been executed or not.
func (w *mixedWorker) step(do doer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	i := w.rnd.IntN(mixedKeys)
	key, other := w.current[i], w.current[i^1]
	old, otherOld := w.states[key][0], w.states[other][0]
	value := fmt.Sprintf("<%s:%d>", w.name, w.rnd.Uint64())
	if w.rnd.IntN(10) == 0 {
		value = strings.Repeat(value, 200)
	}
	write := func(next, reply string, args ...string) error {
		got, err := do(ctx, args...)
		if err != nil {
			w.states[key] = append(w.states[key], next)
			w.renew(i)
			return fmt.Errorf("%s %s: %w", args[0], key, err)
		}
		w.states[key] = []string{next}
		return w.expect(args[0], key, got, reply)
	}
	read := func(reply string, args ...string) error {
		got, err := do(ctx, args...)
		if err != nil {
			return fmt.Errorf("%s %s: %w", args[0], key, err)
		}
		return w.expect(args[0], key, got, reply)
	}
	switch w.rnd.IntN(10) {
	case 0:
		return write("", bit(old != ""), "DEL", key)
	case 1, 2:
		if len(old) < 100_000 {
			return write(old+value, fmt.Sprint(len(old)+len(value)), "APPEND", key, value)
		}
		fallthrough
	case 3, 4:
		return write(value, "OK", "SET", key, value)
	case 5:
		return write(value, "OK", "SET", key, value, "PX", "3600000")
	case 6:
		return read(old+","+otherOld, "MGET", key, other)
	case 7:
		return read(fmt.Sprint(len(old)), "STRLEN", key)
	default:
		return read(old, "GET", key)
	}
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// expect notes an answer that nothing can excuse.
func (w *mixedWorker) expect(command, key, got, want string) error {
	if got != want && w.wrong == nil {
		w.wrong = fmt.Errorf("%s %s answers %d bytes %.60q, want %d bytes %.60q", command, key, len(got), got, len(want), want)
	}
	return w.wrong
}

// check compares every key that was ever written with what it may hold.
func (w *mixedWorker) check(t *testing.T, through string, do doer) {
	t.Helper()
	wrong := 0
	for key, states := range w.states {
		got, err := do(context.Background(), "GET", key)
		switch {
		case err != nil:
			t.Errorf("GET %s through %s: %v", key, through, err)
			wrong++
		case !slices.Contains(states, got):
			t.Errorf("%s through %s has %d bytes %.60q, none of the %d values that it may have, such as %.60q",
				key, through, len(got), got, len(states), states[0])
			wrong++
		}
		if wrong > 10 {
			t.Fatalf("client %s: and so on", w.name)
		}
	}
}

// A mixedLoad is a few workers, each with a library of its own.
type mixedLoad struct {
	workers []*mixedWorker
	stop    chan struct{}
	wait    sync.WaitGroup
}

func (l *mixedLoad) add(name string, seed uint64, do doer, tolerant bool) {
	if l.stop == nil {
		l.stop = make(chan struct{})
	}
	w := newMixedWorker(name, seed)
	l.workers = append(l.workers, w)
	l.wait.Go(func() { w.run(do, l.stop, tolerant) })
}

// end stops the load and reports what went wrong.
func (l *mixedLoad) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.wait.Wait()
	for _, w := range l.workers {
		t.Logf("client %s: %d commands, %d failed, the slowest took %v", w.name, w.done, w.failed, w.slowest)
		if w.wrong != nil {
			t.Errorf("client %s: %v", w.name, w.wrong)
		}
		if w.done == 0 {
			t.Errorf("client %s got nothing done", w.name)
		}
	}
}
