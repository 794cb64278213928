package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A kind of fault begins at a node that runs and returns what it does, and what ends it
// when its time is over; neither if it cannot be now.
type kind struct {
	name     string
	isolated bool // it takes networks and disks of the nodes' own
	begin    func(c *cluster, n *node) (what string, end func())
}

var kinds = []kind{
	{"kill", false, func(c *cluster, n *node) (string, func()) {
		_ = n.signal(syscall.SIGKILL)
		return "is killed", func() {}
	}},
	{"kill all", false, func(c *cluster, n *node) (string, func()) {
		if c.rnd.IntN(4) > 0 {
			return "", nil
		}
		for _, n := range c.running() {
			_ = n.signal(syscall.SIGKILL)
		}
		return "and all others are killed", func() {}
	}},
	{"freeze", false, func(c *cluster, n *node) (string, func()) {
		_ = n.signal(syscall.SIGSTOP)
		return "stands still", func() { _ = n.signal(syscall.SIGCONT) }
	}},
	{"stop", false, func(c *cluster, n *node) (string, func()) {
		_ = n.signal(syscall.SIGTERM)
		return "is stopped", func() {}
	}},
	{"leave", false, func(c *cluster, n *node) (string, func()) {
		if len(c.members()) <= c.o.nodes {
			return "", nil
		}
		if _, err := c.ask(context.Background(), n, "RING", "LEAVE"); err != nil {
			return "would leave: " + err.Error(), func() {}
		}
		n.leaves = true
		return "leaves", func() {}
	}},
	{"join", false, func(c *cluster, n *node) (string, func()) {
		if len(c.members()) >= min(c.o.nodes+2, mostNodes) {
			return "", nil
		}
		joined, err := c.join(context.Background())
		if err != nil {
			return "has nobody join it: " + err.Error(), func() {}
		}
		return "is joined by " + joined.id, func() {}
	}},
	{"cut", true, func(c *cluster, n *node) (string, func()) { return c.cut(n, 3) }},
	{"one way", true, func(c *cluster, n *node) (string, func()) { return c.cut(n, 1+c.rnd.IntN(2)) }},
	{"unplug", true, func(c *cluster, n *node) (string, func()) {
		unplug(n, true)
		return "is unplugged", func() { unplug(n, false) }
	}},
	{"flap", true, func(c *cluster, n *node) (string, func()) {
		stop, pause := make(chan struct{}), time.Duration(50+c.rnd.IntN(1500))*time.Millisecond
		var flapping sync.WaitGroup
		flapping.Go(func() {
			for off := true; ; off = !off {
				unplug(n, off)
				select {
				case <-time.After(pause):
				case <-stop:
					unplug(n, false)
					return
				}
			}
		})
		return fmt.Sprintf("comes and goes every %v", pause), func() {
			close(stop)
			flapping.Wait()
		}
	}},
	{"full disk", true, func(c *cluster, n *node) (string, func()) {
		ballast := filepath.Join(n.dir, "ballast")
		fillDisk(ballast)
		return "has no space left", func() { _ = os.Remove(ballast) }
	}},
}

// fillDisk writes until there is no room.
func fillDisk(path string) {
	f, err := os.Create(path)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}

// cut keeps a node from some others: bit 1 what they say, bit 2 what it says. Clients
// reach all of them.
func (c *cluster) cut(n *node, ways int) (string, func()) {
	others := slices.DeleteFunc(c.running(), func(o *node) bool { return o == n })
	if len(others) == 0 {
		return "", nil
	}
	if c.rnd.IntN(2) == 0 {
		c.rnd.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		others = others[:1+c.rnd.IntN(len(others))]
	}
	set := func(on bool) {
		for _, o := range others {
			if ways&1 != 0 {
				mute(o, n, on)
			}
			if ways&2 != 0 {
				mute(n, o, on)
			}
		}
	}
	set(true)
	var names []string
	for _, o := range others {
		names = append(names, o.id)
	}
	what := map[int]string{1: "does not hear", 2: "is not heard by", 3: "is cut off from"}[ways]
	return what + " " + strings.Join(names, ", "), func() { set(false) }
}

// kindsOf are the faults to choose from.
func kindsOf(wanted string, isolated bool) ([]string, error) {
	var names, all []string
	for _, k := range kinds {
		all = append(all, k.name)
		if wanted == "" && (isolated || !k.isolated) {
			names = append(names, k.name)
		}
	}
	if wanted == "" {
		return names, nil
	}
	var faults []error
	for _, name := range strings.Split(wanted, ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(all, name)
		switch {
		case i < 0:
			faults = append(faults, fmt.Errorf("no fault is called %q; there are %s", name, strings.Join(all, ", ")))
		case kinds[i].isolated && !isolated:
			faults = append(faults, fmt.Errorf("%s takes networks and disks of the nodes' own", name))
		default:
			names = append(names, name)
		}
	}
	return names, errors.Join(faults...)
}
