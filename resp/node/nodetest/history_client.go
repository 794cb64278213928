package nodetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// ErrUnsent says that nobody can have got the command.
var ErrUnsent = errors.New("not sent")

// A HistoryClient asks at random.
type HistoryClient struct {
	Name string
	// Nodes are those that it may ask, each by a Doer. It changes from one to another now
	// and then, and when one fails.
	Nodes map[string]Doer
	// Patience is how long it waits for an answer.
	Patience time.Duration
	// Pause is the longest that it thinks between commands.
	Pause time.Duration

	Recorder *Recorder
	Rand     *rand.Rand

	made int
}

// Run asks until stop is closed.
func (c *HistoryClient) Run(stop <-chan struct{}) {
	names := c.names()
	at := names[c.Rand.IntN(len(names))]
	for {
		select {
		case <-stop:
			return
		default:
		}
		if ok := c.step(at); !ok || c.Rand.IntN(20) == 0 {
			at = names[c.Rand.IntN(len(names))]
		}
		time.Sleep(time.Duration(c.Rand.Int64N(int64(c.Pause) + 1)))
	}
}

func (c *HistoryClient) names() []string { return slices.Sorted(maps.Keys(c.Nodes)) }

// step sends one random command and tells whether it got an answer.
func (c *HistoryClient) step(at string) bool {
	o := &Op{Client: c.Name, Node: at, Key: c.Recorder.pick(c.Rand)}
	c.made++
	number := strings.Contains(o.Key, "number")
	switch n := c.Rand.IntN(20); {
	case n < 7:
		o.Command = "GET"
	case n < 10:
		o.Command, o.Arg = "SET", c.value(number)
	case n < 11:
		o.Command, o.Arg = "SETNX", c.value(number)
	case n < 12:
		o.Command = "DEL"
	case n < 13:
		o.Command = "STRLEN"
	case number:
		o.Command = "INCR"
	default:
		o.Command, o.Arg = "APPEND", c.value(false)
	}
	return c.do(o)
}

// value is one that nobody else writes.
func (c *HistoryClient) value(number bool) string {
	if number {
		return fmt.Sprint(c.Rand.IntN(1_000_000) * 1000)
	}
	return fmt.Sprintf("<%s.%d>", c.Name, c.made)
}

// do sends a command and records what becomes of it.
func (c *HistoryClient) do(o *Op) bool {
	ctx, cancel := context.WithTimeout(context.Background(), c.Patience)
	defer cancel()
	args := []string{o.Command, o.Key}
	if o.Arg != "" {
		args = append(args, o.Arg)
	}
	c.Recorder.ask(o)
	reply, err := c.Nodes[o.Node](ctx, args...)
	as := outcomeOf(o, err)
	switch {
	case err == nil:
		o.Reply = reply
	case as == done:
		o.Reply = "!ERR"
	default:
		o.Why = err.Error()
	}
	c.Recorder.answer(o, as)
	return err == nil
}

// refusals are the codes of servers that have not done a command.
var refusals = []string{"TRYAGAIN", "CLUSTERDOWN", "MOVED", "ASK", "LOADING", "MASTERDOWN", "NOREPLICAS", "MISCONF", "READONLY", "OOM"}

func outcomeOf(o *Op, err error) outcome {
	code := ""
	if err != nil {
		code, _, _ = strings.Cut(err.Error(), " ")
	}
	switch {
	case err == nil:
		return done
	case o.Command == "INCR" && strings.HasPrefix(err.Error(), "ERR value is not an integer"):
		return done
	case errors.Is(err, ErrUnsent) || slices.Contains(refusals, code) || !o.writes():
		return refused
	}
	return outcomeUnknown
}

// ReadAll reads every key that was ever written through every node, until each has
// answered, for as long as ctx goes on.
func (c *HistoryClient) ReadAll(ctx context.Context) error {
	var faults []error
	for _, at := range c.names() {
		for _, key := range c.Recorder.All() {
			for {
				o := &Op{Client: c.Name, Node: at, Command: "GET", Key: key}
				if c.do(o) {
					break
				}
				if ctx.Err() != nil {
					faults = append(faults, fmt.Errorf("%s is not read through %s: %s", key, at, o.Why))
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
	}
	return errors.Join(faults...)
}
