package chaos

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

	"github.com/ringside-kv/ringside/ring/strategy"
)

// means are what a fault takes of the machine.
type means int

const (
	process  means = iota // nothing more
	networks              // of the nodes' own
	disks                 // of the nodes' own
	hooking               // of the nodes' binary
)

var meansNames = map[means]string{networks: "networks of the nodes' own", disks: "disks of the nodes' own", hooking: "a binary with hooks"}

// A kind of fault begins at a node that runs and returns what it does, and what ends it
// when its time is over; neither if it cannot be now.
type kind struct {
	name  string
	takes means
	waits bool // what ends it waits until it is over by itself
	begin func(c *testCluster, n *node) (what string, end func())
}

var kinds = []kind{
	{"kill", process, false, func(c *testCluster, n *node) (string, func()) {
		_ = n.signal(syscall.SIGKILL)
		return "is killed", func() {}
	}},
	{"kill all", process, false, func(c *testCluster, n *node) (string, func()) {
		if c.rnd.IntN(4) > 0 {
			return "", nil
		}
		for _, n := range c.running() {
			_ = n.signal(syscall.SIGKILL)
		}
		return "and all others are killed", func() {}
	}},
	{"freeze", process, false, func(c *testCluster, n *node) (string, func()) {
		_ = n.signal(syscall.SIGSTOP)
		return "stands still", func() { _ = n.signal(syscall.SIGCONT) }
	}},
	{"stop", process, false, func(c *testCluster, n *node) (string, func()) {
		_ = n.signal(syscall.SIGTERM)
		return "is stopped", func() {}
	}},
	{"leave", process, false, func(c *testCluster, n *node) (string, func()) {
		if len(c.members()) <= c.o.nodes || n.stopping() {
			return "", nil // who is being stopped would leave when started again
		}
		n.told = true
		if _, err := c.ask(context.Background(), n, "RING", "LEAVE"); err != nil {
			return "would leave: " + err.Error(), func() {}
		}
		n.leaves = true
		return "leaves", func() {}
	}},
	{"join", process, false, func(c *testCluster, n *node) (string, func()) {
		if len(c.members()) >= min(c.o.nodes+2, mostNodes) {
			return "", nil
		}
		joined, err := c.join(context.Background())
		if err != nil {
			return "has nobody join it: " + err.Error(), func() {}
		}
		return "is joined by " + joined.id, func() {}
	}},
	{"switch", process, false, func(c *testCluster, n *node) (string, func()) {
		to := []string{strategy.Buckets, strategy.Ketama, strategy.VNode, strategy.Maglev}[c.rnd.IntN(4)]
		if _, err := c.ask(context.Background(), n, "RING", "STRATEGY", to); err != nil {
			return "would switch to " + to + ": " + err.Error(), func() {}
		}
		return "switches to " + to, func() {}
	}},
	{"balance", process, false, func(c *testCluster, n *node) (string, func()) {
		mode := []string{"ON", "ONCE", "ONCE", "OFF"}[c.rnd.IntN(4)]
		if _, err := c.ask(context.Background(), n, "RING", "BALANCE", "LOAD", mode); err != nil {
			return "would balance the load " + mode + ": " + err.Error(), func() {}
		}
		return "balances the load " + mode, func() {}
	}},
	{"cut", networks, false, func(c *testCluster, n *node) (string, func()) { return c.cut(n, 3) }},
	{"one way", networks, false, func(c *testCluster, n *node) (string, func()) { return c.cut(n, 1+c.rnd.IntN(2)) }},
	{"unplug", networks, false, func(c *testCluster, n *node) (string, func()) {
		unplug(n, true)
		return "is unplugged", func() { unplug(n, false) }
	}},
	{"flap", networks, false, func(c *testCluster, n *node) (string, func()) {
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
	{"full disk", disks, false, func(c *testCluster, n *node) (string, func()) {
		return "has no space left", c.fill(n, 0)
	}},
	{"low disk", disks, false, func(c *testCluster, n *node) (string, func()) {
		return "has less space than its reserve, and refuses writes", c.fill(n, reserve/2)
	}},
	{"slow disk", disks, false, func(c *testCluster, n *node) (string, func()) {
		stands, goes := time.Duration(20+c.rnd.IntN(800))*time.Millisecond, time.Duration(5+c.rnd.IntN(100))*time.Millisecond
		return fmt.Sprintf("has a disk that stands still for %v, goes on for %v, and so on", stands, goes), c.pulse(n, stands, goes)
	}},
	{"stuck disk", disks, false, func(c *testCluster, n *node) (string, func()) {
		if err := stall(n.dir, true); err != nil {
			return "", nil // it stands still already
		}
		return "has a disk that does not answer", func() { _ = stall(n.dir, false) }
	}},
	{"clock", hooking, false, func(c *testCluster, n *node) (string, func()) {
		by := clockSteps[c.rnd.IntN(len(clockSteps))]
		if c.rnd.IntN(2) == 0 {
			by = -by
		}
		set := func(by time.Duration) error { return c.hook(n, func(h *hooks) { h.Offset = by }) }
		if err := set(by); err != nil {
			return "", nil
		}
		return fmt.Sprintf("has its clock set by %v", by), func() { _ = set(0) }
	}},
	{"standing clock", hooking, false, func(c *testCluster, n *node) (string, func()) {
		set := func(on bool) error { return c.hook(n, func(h *hooks) { h.Stand = on }) }
		if err := set(true); err != nil {
			return "", nil
		}
		return "has a clock of leases that stands still", func() { _ = set(false) }
	}},
	{"stuck table", hooking, false, func(c *testCluster, n *node) (string, func()) {
		set := func(on bool) error { return c.hook(n, func(h *hooks) { h.Hang = on }) }
		if err := set(true); err != nil {
			return "", nil
		}
		return "does not apply the table", func() { _ = set(false) }
	}},
	{"all disks stuck", disks, false, func(c *testCluster, n *node) (string, func()) {
		if c.rnd.IntN(4) > 0 {
			return "", nil
		}
		var stuck []*node
		for _, n := range c.running() {
			if stall(n.dir, true) == nil {
				stuck = append(stuck, n)
			}
		}
		return "and all others have disks that do not answer", func() {
			for _, n := range stuck {
				_ = stall(n.dir, false)
			}
		}
	}},
	{"hangup", process, false, func(c *testCluster, n *node) (string, func()) {
		_ = n.signal(syscall.SIGHUP)
		return "loses its terminal", func() {}
	}},
	{"move", process, true, func(c *testCluster, n *node) (string, func()) {
		return "has its directory moved", c.between(n, "", n.move)
	}},
	{"copy", process, true, func(c *testCluster, n *node) (string, func()) {
		// The copy of a node that did not stop does not vote until the cluster has registered it.
		// With a majority of such voters there is no leader, and an operator has to recover the
		// cluster. So there is one in each round, which ends when all nodes are in sync.
		if c.copied {
			return "", nil
		}
		c.copied = true
		return "has its directory replaced by a copy", c.between(n, "", n.copyData)
	}},
	{"rename", networks, true, func(c *testCluster, n *node) (string, func()) {
		name := fmt.Sprint("host-", c.rnd.IntN(1000))
		return "is started on a host called " + name, c.between(n, name, func() error { return nil })
	}},
	{"rolling restart", process, true, func(c *testCluster, n *node) (string, func()) {
		var going sync.WaitGroup
		going.Go(c.roll)
		return "and all others are restarted in turn, at new addresses", going.Wait
	}},
}

// fill takes the room of a disk but for some bytes. That waits for as long as the disk
// stands still, so another goroutine does it.
func (c *testCluster) fill(n *node, left int64) (end func()) {
	path, full := filepath.Join(n.dir, "ballast"), make(chan struct{})
	c.filling.Go(func() {
		defer close(full)
		fillDisk(path, left)
	})
	return func() {
		c.filling.Go(func() {
			<-full
			_ = os.Remove(path)
		})
	}
}

// pulse lets a disk stand still again and again.
func (c *testCluster) pulse(n *node, stands, goes time.Duration) (end func()) {
	stop := make(chan struct{})
	var pulsing sync.WaitGroup
	pulsing.Go(func() {
		for {
			own := stall(n.dir, true) == nil // else another fault's
			select {
			case <-time.After(stands):
			case <-stop:
			}
			if own {
				_ = stall(n.dir, false)
			}
			select {
			case <-time.After(goes):
			case <-stop:
				return
			}
		}
	})
	return func() {
		close(stop)
		pulsing.Wait()
	}
}

// ready is how long a node that was restarted may take before the next one follows: with
// other faults about, some do not get there.
const ready = 10 * time.Second

// roll restarts all nodes that run, one after the other, as an operator does: the next one
// once the one before is there again, at a new address.
func (c *testCluster) roll() {
	for _, n := range c.running() {
		if !c.take(n, true) {
			continue
		}
		if n.pid() != 0 {
			_ = n.end(syscall.SIGTERM, 20*time.Second)
			if err := c.start(n, c.host()); err != nil {
				c.say("%s does not start again: %v", n.id, err)
			}
		}
		c.take(n, false)
		ctx, cancel := context.WithTimeout(context.Background(), ready)
		for ctx.Err() == nil && n.pid() != 0 {
			if _, err := c.ask(ctx, n, "SET", "rolling", n.id); err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		cancel()
	}
}

// cut keeps a node from some others: bit 1 what they say, bit 2 what it says. Clients
// reach all of them.
func (c *testCluster) cut(n *node, ways int) (string, func()) {
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
func kindsOf(wanted string, has map[means]bool) ([]string, error) {
	var names, all []string
	allowed := func(k kind) bool { return k.takes == process || has[k.takes] }
	for _, k := range kinds {
		all = append(all, k.name)
		if wanted == "" && allowed(k) {
			names = append(names, k.name)
		}
	}
	if wanted == "" {
		return names, nil
	}
	var faults []error
	for name := range strings.SplitSeq(wanted, ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(all, name)
		switch {
		case i < 0:
			faults = append(faults, fmt.Errorf("no fault is called %q; there are %s", name, strings.Join(all, ", ")))
		case !allowed(kinds[i]):
			faults = append(faults, fmt.Errorf("%s takes %s", name, meansNames[kinds[i].takes]))
		default:
			names = append(names, name)
		}
	}
	return names, errors.Join(faults...)
}
