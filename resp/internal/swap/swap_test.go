package swap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A table holds the agreed values of one node, and fails as it is told.
type table struct {
	mu      sync.Mutex
	values  *agreed.Values
	version uint64
	newer   chan struct{}
	fails   func(order *database.Order) error
	drained bool
}

func newTable() *table { return &table{newer: make(chan struct{}), drained: true} }

func (t *table) View() View {
	t.mu.Lock()
	defer t.mu.Unlock()
	return View{t.values, t.newer}
}

func (t *table) Agree(_ context.Context, change agreed.Change) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	order, err := database.ParseOrder(change.Body)
	if err == nil && t.fails != nil {
		err = t.fails(order)
	}
	if err != nil {
		return err
	}
	t.version++
	next, err := t.values.With([]agreed.Change{change}, t.version)
	if err != nil {
		return err
	}
	close(t.newer)
	t.values, t.newer = next, make(chan struct{})
	return nil
}

func (t *table) Drained(uint64) bool {
	<-time.After(time.Millisecond)
	return t.drained
}

func (t *table) order() *database.Order {
	view := t.View()
	order, _ := view.order()
	return order
}

func TestSwapsAtTheSameTimeTakeTurns(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTable()
		var all sync.WaitGroup
		const swaps = 7
		for i := range swaps {
			all.Go(func() {
				if msg := Run(t.Context(), c, database.Swap{A: 0, B: 1, Change: uint64(i + 1)}, time.Second); msg != "" {
					t.Errorf("swap %d: %s", i, msg)
				}
			})
		}
		all.Wait()
		if o := c.order(); o.Swaps() != swaps || o.Shown(0).Data != 1 || o.Change() != 0 {
			t.Errorf("%s", o.Body())
		}
	})
}

func TestSwapThatFailsSaysWhatItHasDone(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		fault := errors.New("no majority")
		for want, set := range map[string]func(*table){
			"TRYAGAIN the databases are not swapped":         func(c *table) { c.drained = false },
			"ERR the databases are not swapped: no majority": func(c *table) { c.fails = func(*database.Order) error { return fault } },
			"UNKNOWN the databases may or may not be swapped: no majority": func(c *table) {
				c.fails = func(o *database.Order) error {
					if o.Change() == 0 {
						return fault
					}
					return nil
				}
			},
			"TRYAGAIN another swap of databases is not over yet": func(c *table) {
				body := c.order().Begin(database.Swap{A: 2, B: 3, Change: 99}).Body()
				_ = c.Agree(t.Context(), agreed.Change{Name: database.OrderName, Body: body})
			},
		} {
			c := newTable()
			set(c)
			got := Run(t.Context(), c, database.Swap{A: 0, B: 1, Change: 5}, time.Second)
			if !strings.HasPrefix(got, want) || c.order().Swaps() != 0 {
				t.Errorf("%q, want %q; %d swaps", got, want, c.order().Swaps())
			}
		}
	})
}

func TestParseChecksNumbersOfDatabases(t *testing.T) {
	for line, want := range map[string]string{
		"0 15":          "",
		"3 3":           "",
		"x 0":           "ERR invalid first DB index",
		"99999999999 0": "ERR invalid first DB index",
		"0 y":           "ERR invalid second DB index",
		"0 16":          "ERR DB index is out of range",
		"-1 0":          "ERR DB index is out of range",
	} {
		args := [][]byte{[]byte("SWAPDB"), nil, nil}
		var a, b string
		_, _ = fmt.Sscan(line, &a, &b)
		args[1], args[2] = []byte(a), []byte(b)
		if w, msg := Parse(args, 16); msg != want || want == "" && fmt.Sprint(w.A, w.B) != line {
			t.Errorf("%s: %q, %v", line, msg, w)
		}
	}
}
