package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ringside-kv/ringside/resp/node/nodetest"
	"github.com/ringside-kv/ringside/ring"
)

// mostNodes bounds those that are there at a time.
const mostNodes = 7

// reserve is how much of its disk a node keeps free, in bytes: with less it refuses writes.
const reserve = 16 << 20

// A testCluster is processes that come and go.
type testCluster struct {
	o      *options
	rnd    *rand.Rand // for one goroutine
	means  map[means]bool
	began  time.Time
	counts map[string]int // faults by kind
	copied bool           // a directory was replaced by a copy in this round

	filling sync.WaitGroup // of disks, and their emptying

	mu    sync.Mutex
	nodes []*node
	hosts int
	fell  []string // nodes that have ended by themselves, and why
}

func (c *testCluster) say(format string, args ...any) {
	fmt.Printf("%9.3fs %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

func (c *testCluster) host() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hosts++
	return c.hosts
}

// members are the nodes that have not left.
func (c *testCluster) members() []*node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n.leaves })
}

func (c *testCluster) running() []*node {
	return slices.DeleteFunc(c.members(), func(n *node) bool { return n.pid() == 0 })
}

// take has a fault see to a node's end and start, or ends that; it tells whether it may.
func (c *testCluster) take(n *node, on bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if on && (n.taken || n.leaves) {
		return false
	}
	n.taken = on
	return true
}

func (c *testCluster) taken(n *node) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return n.taken
}

// join starts a new node.
func (c *testCluster) join(context.Context) (*node, error) {
	c.mu.Lock()
	n := &node{id: fmt.Sprint("n", len(c.nodes)+1), number: len(c.nodes) + 1}
	c.mu.Unlock()
	n.dir = filepath.Join(c.o.Dir, n.id)
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return nil, err
	}
	if c.means[disks] {
		if err := makeDisk(n.dir+".img", n.dir); err != nil {
			return nil, err
		}
	}
	if err := c.start(n, c.host()); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.nodes = append(c.nodes, n)
	c.mu.Unlock()
	return n, nil
}

// start runs a node; it joins those that are members.
func (c *testCluster) start(n *node, host int) error { return c.startUnder(n, host, "") }

// startUnder runs a node under a host name, if that is not empty.
func (c *testCluster) startUnder(n *node, host int, hostName string) error {
	var join []string
	for _, other := range c.members() {
		if other != n {
			join = append(join, other.ip(c.means[networks])+":7379")
		}
	}
	return n.start(c, host, join, hostName)
}

// revive starts a node that does not run; now and then at a new address.
func (c *testCluster) revive(n *node) error {
	if fell, why := n.fell(); fell {
		if why == nil { // it was told to leave, and nobody heard that it would
			n.leaves = true
			return nil
		}
		c.fell = append(c.fell, fmt.Sprintf("%s: %v: %s", n.id, why, n.lastLogLine(c.o.Dir)))
	}
	n.mu.Lock()
	host := n.host
	n.mu.Unlock()
	if c.rnd.IntN(3) == 0 {
		host = c.host()
	}
	return c.start(n, host)
}

func (c *testCluster) stopAll() {
	var all sync.WaitGroup
	for _, n := range c.nodes {
		all.Go(func() {
			_ = n.signal(syscall.SIGCONT)
			if c.means[disks] {
				_ = stall(n.dir, false)
			}
			_ = n.end(syscall.SIGTERM, 20*time.Second)
			if c.means[disks] {
				_ = command("umount", "-l", n.dir)
			}
		})
	}
	all.Wait()
}

// ask sends one command to a node.
func (c *testCluster) ask(ctx context.Context, n *node, args ...string) (string, error) {
	w := &nodetest.Wire{Dial: n.dial(c)}
	defer w.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return w.Do(ctx, args...)
}

// settle waits until all members agree about where everything is, and it has the copies
// that it is to have; it returns how long that took. After a switch of the strategy, some ten thousand
// ranges move. So the bound is for how long nothing may change, and ten times that for all.
func (c *testCluster) settle(ctx context.Context, bound time.Duration) (time.Duration, error) {
	began := time.Now()
	changed, last := began, ""
	for {
		for _, n := range c.members() {
			if n.pid() == 0 { // what was to end it had not done so when the faults ended
				c.tell("%s starts again: %v", n.id, c.revive(n))
			}
			if n.told && !n.leaves && len(c.members()) > c.o.nodes { // now that it can answer for certain
				_, err := c.ask(ctx, n, "RING", "LEAVE")
				n.leaves = err == nil
				c.tell("%s is told to leave again: %v", n.id, err)
			}
		}
		now, why := c.unsettled(ctx)
		if why == nil {
			return time.Since(began), nil
		}
		if now != "" && now != last {
			changed, last = time.Now(), now
		}
		if time.Since(changed) > bound || time.Since(began) > 10*bound {
			return 0, fmt.Errorf("%v after the last change and %v after the last fault: %w",
				time.Since(changed).Round(time.Second), time.Since(began).Round(time.Second), why)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return 0, errors.Join(ctx.Err(), why)
		}
	}
}

// unsettled returns the placement, as the first member that answers sees it, and why the cluster has not settled.
func (c *testCluster) unsettled(ctx context.Context) (placement string, why error) {
	members := c.members()
	want := min(c.o.copies, len(members))
	for _, n := range members {
		if n.pid() == 0 {
			_, why := n.fell()
			return placement, fmt.Errorf("%s has ended: %v", n.id, why)
		}
		b, err := c.ask(ctx, n, "RING", "PLACEMENT")
		if err != nil {
			return placement, fmt.Errorf("%s: %w", n.id, err)
		}
		p := new(ring.Placement)
		if err := p.UnmarshalBinary([]byte(b)); err != nil {
			return placement, err
		}
		if placement == "" {
			placement = b
		}
		owners := map[string]bool{}
		for row := range p.Rows() {
			owners[row.Primary] = true
			if copies := 1 + len(row.Backups); len(row.Learners) > 0 || copies < want {
				return placement, fmt.Errorf("%s sees %v with %d copies and %d learners", n.id, row.Range, copies, len(row.Learners))
			}
		}
		if len(owners) != len(members) {
			return placement, fmt.Errorf("%s sees %d primaries among %d nodes", n.id, len(owners), len(members))
		}
		if placement != b {
			return placement, fmt.Errorf("%s sees another placement than %s", n.id, members[0].id)
		}
	}
	return placement, nil
}
