package nodetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A fake is a server that takes its time and may go wrong.
type fake struct {
	mu    sync.Mutex
	rnd   *rand.Rand
	data  map[string]string
	old   map[string]string // what was there a while ago
	fails bool
	wrong string
}

func (f *fake) nap(most time.Duration) {
	f.mu.Lock()
	d := time.Duration(f.rnd.Int64N(int64(most)))
	f.mu.Unlock()
	time.Sleep(d)
}

func (f *fake) do(_ context.Context, args ...string) (string, error) {
	f.nap(10 * time.Millisecond)
	defer f.nap(10 * time.Millisecond)
	o := &Op{Command: args[0], Key: args[1]}
	if len(args) > 2 {
		o.Arg = args[2]
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	run := func() string {
		next, reply := serve(f.data[o.Key], o)
		if f.rnd.IntN(5) == 0 {
			f.old[o.Key] = f.data[o.Key]
		}
		f.data[o.Key] = next
		return reply
	}
	rarely, rare := f.rnd.IntN(60) == 0, f.rnd.IntN(60) == 0
	switch {
	case rarely && f.fails:
		switch f.rnd.IntN(3) {
		case 0:
			run()
		case 1:
			time.AfterFunc(time.Duration(f.rnd.Int64N(int64(time.Second))), func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				run()
			})
		}
		return "", errors.New("perhaps")
	case rare && f.wrong == "lost" && o.writes():
		_, reply := serve(f.data[o.Key], o)
		return answerOf(reply)
	case rare && f.wrong == "twice" && o.writes():
		run()
		return answerOf(run())
	case rare && f.wrong == "stale" && o.Command == "GET":
		return f.old[o.Key], nil
	case rare && f.wrong == "refused but done" && o.writes():
		run()
		return "", errors.New("TRYAGAIN later")
	}
	return answerOf(run())
}

func answerOf(reply string) (string, error) {
	if reply == "!ERR" {
		return "", errors.New("ERR value is not an integer or out of range")
	}
	return reply, nil
}

func record(t *testing.T, seed uint64, fails bool, wrong string) *Recorder {
	var r *Recorder
	fakenet.Bubble(t, func(t *testing.T) {
		f := &fake{rnd: rand.New(rand.NewPCG(seed, 1)), data: map[string]string{}, old: map[string]string{}, fails: fails, wrong: wrong}
		r = NewRecorder("")
		stop := make(chan struct{})
		var running sync.WaitGroup
		for i := range 4 {
			c := &HistoryClient{
				Name: fmt.Sprint("c", i), Nodes: map[string]Doer{"a": f.do, "b": f.do}, Patience: time.Minute, Pause: 10 * time.Millisecond,
				Recorder: r, Rand: rand.New(rand.NewPCG(seed, uint64(i))),
			}
			running.Go(func() { c.Run(stop) })
		}
		time.Sleep(10 * time.Second)
		close(stop)
		running.Wait()
		time.Sleep(time.Second)
		last := &HistoryClient{Name: "last", Nodes: map[string]Doer{"a": f.do}, Patience: time.Minute, Recorder: r, Rand: rand.New(rand.NewPCG(seed, 9))}
		f.mu.Lock()
		f.fails, f.wrong = false, ""
		f.mu.Unlock()
		if err := last.ReadAll(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestHistoryOfOneServerIsInOrder(t *testing.T) {
	for _, fails := range []bool{false, true} {
		seed := rand.Uint64()
		r := record(t, seed, fails, "")
		if err := r.Check(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		c := r.Counts()
		t.Logf("%+v", c)
		if c.Done < 500 || fails != (c.Unknown > 0) {
			t.Errorf("seed %d: %+v", seed, c)
		}
	}
}

func TestWrongHistoriesAreFound(t *testing.T) {
	for _, wrong := range []string{"lost", "twice", "stale", "refused but done"} {
		for _, fails := range []bool{false, true} {
			seed := rand.Uint64()
			err := record(t, seed, fails, wrong).Check()
			if err == nil || errors.Is(err, ErrUndecided) {
				t.Errorf("%s, fails %v, seed %d: %v", wrong, fails, seed, err)
			} else if !strings.Contains(err.Error(), "at a") {
				t.Errorf("no commands are shown: %v", err)
			}
		}
	}
}

// A search ends after its steps, and says then that nothing is decided.
func TestLongSearchIsUndecided(t *testing.T) {
	var ops []*Op
	for i := range 40 { // in any order, each of them done or not
		ops = append(ops, &Op{Key: "k", Command: "APPEND", Arg: fmt.Sprint(i, ";"), Unknown: true, asked: 1, answered: 2})
	}
	ops = append(ops, &Op{Key: "k", Command: "GET", Reply: "none of these", asked: 3, answered: 4})
	if got := judge(ops, 10_000); got != porcupine.Unknown {
		t.Errorf("got %s, want %s", got, porcupine.Unknown)
	}
}
