package nodetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A AppGroup adds entries to a stream and is the only consumer of its group: each entry comes
// once as a new one, stays pending until it is acknowledged, and never comes back then. Only
// one goroutine may use a Group at a time.
type AppGroup struct {
	// Key is the stream.
	Key string
	// Done and Failed are how many commands got an answer and how many an error.
	Done, Failed int64
	// Wrong is the first answer that nothing can excuse.
	Wrong error

	made bool
	ids  int
	// last is the newest entry that came as a new one: no older one does after it.
	last  int
	added map[int]bool // true: acknowledged; false: it may be there
	came  map[int]string
}

// What is known of an entry that came.
const (
	entryPending = "pending"
	released     = "acknowledged"
	entryUnknown = "perhaps acknowledged"
)

const groupName = "readers"

// Run adds, reads and acknowledges until stop is closed or something is wrong.
func (g *AppGroup) Run(do Doer, stop <-chan struct{}) {
	if g.added == nil {
		g.added, g.came = map[int]bool{}, map[int]string{}
	}
	for turn := 0; g.Wrong == nil; turn++ {
		select {
		case <-stop:
			return
		default:
		}
		if err := g.step(do, turn); err != nil {
			g.Failed++
			time.Sleep(20 * time.Millisecond)
			continue
		}
		g.Done++
	}
}

func (g *AppGroup) step(do Doer, turn int) error {
	switch {
	case !g.made:
		return g.make(do)
	case turn%4 < 2:
		return g.add(do)
	case turn%16 == 15:
		return g.read(do, "0") // what is pending
	}
	return g.read(do, ">")
}

func (g *AppGroup) make(do Doer) error {
	err := g.ask(do, nil, "XGROUP", "CREATE", g.Key, groupName, "0", "MKSTREAM")
	if g.made = err == nil || strings.Contains(err.Error(), "BUSYGROUP"); g.made {
		return nil
	}
	return err
}

// ask runs a command, and has what it answers looked at.
func (g *AppGroup) ask(do Doer, look func(got string), args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := do(ctx, args...)
	if err == nil && look != nil {
		look(got)
	}
	return err
}

func (g *AppGroup) add(do Doer) error {
	g.ids++
	id := g.ids
	g.added[id] = false
	return g.ask(do, func(string) { g.added[id] = true }, "XADD", g.Key, fmt.Sprintf("%d-1", id), "f", "v")
}

// read has new entries, or those that are pending, and acknowledges most of them.
func (g *AppGroup) read(do Doer, from string) error {
	var ids []int
	err := g.ask(do, func(got string) { ids = g.arrived(got, from == ">") },
		"XREADGROUP", "GROUP", groupName, "one", "COUNT", "10", "STREAMS", g.Key, from)
	if err != nil || len(ids) == 0 || g.Wrong != nil {
		return err
	}
	if from == ">" && g.ids%3 == 0 {
		return nil // they stay pending for a while
	}
	return g.acknowledge(do, ids)
}

func (g *AppGroup) acknowledge(do Doer, ids []int) error {
	args := []string{"XACK", g.Key, groupName}
	want := 0
	for _, id := range ids {
		args = append(args, fmt.Sprintf("%d-1", id))
		if g.came[id] == entryPending {
			want++
		}
	}
	sure := want == len(ids)
	err := g.ask(do, func(got string) {
		if sure && got != fmt.Sprint(want) {
			g.Wrong = fmt.Errorf("XACK of %d pending entries of %s answers %s", want, g.Key, got)
		}
	}, args...)
	for _, id := range ids {
		if g.came[id] = released; err != nil {
			g.came[id] = entryUnknown
		}
	}
	return err
}

// arrived notes the entries of a reply, which names the stream first.
func (g *AppGroup) arrived(got string, anew bool) (ids []int) {
	words := strings.Split(got, ",")
	for i := 1; i+2 < len(words); i += 3 {
		id := 0
		if _, err := fmt.Sscanf(words[i], "%d-1", &id); err != nil {
			g.Wrong = fmt.Errorf("%s has an entry %.40q", g.Key, words[i])
			return ids
		}
		_, known := g.added[id]
		state, seen := g.came[id]
		switch {
		case !known:
			g.Wrong = fmt.Errorf("entry %d of %s was never added", id, g.Key)
		case anew && (seen || id <= g.last):
			g.Wrong = fmt.Errorf("entry %d of %s comes as a new one after %d, and is %s", id, g.Key, g.last, state)
		case !anew && state == released:
			g.Wrong = fmt.Errorf("entry %d of %s comes back after it was acknowledged", id, g.Key)
		}
		if anew {
			g.last = id
		}
		if !seen {
			g.came[id] = entryPending // a reply to who asked for it was lost
		}
		ids = append(ids, id)
	}
	return ids
}

// Check reads all that is left, and looks whether all that was added has come. Run must
// have ended.
func (g *AppGroup) Check(do Doer) error {
	if !g.made {
		return nil
	}
	for _, from := range []string{">", "0"} {
		for g.Wrong == nil {
			var ids []int
			err := g.ask(do, func(got string) { ids = g.arrived(got, from == ">") },
				"XREADGROUP", "GROUP", groupName, "one", "COUNT", "100", "STREAMS", g.Key, from)
			if err == nil && from == "0" && len(ids) > 0 {
				err = g.acknowledge(do, ids)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", g.Key, err)
			}
			if len(ids) == 0 {
				break
			}
		}
	}
	var missing []int
	for id, sure := range g.added {
		if _, came := g.came[id]; sure && !came {
			missing = append(missing, id)
		}
	}
	if slices.Sort(missing); len(missing) > 0 && g.Wrong == nil {
		g.Wrong = fmt.Errorf("%d of %d entries of %s have never come, the first is %d", len(missing), len(g.added), g.Key, missing[0])
	}
	return errors.Join(g.Wrong)
}
