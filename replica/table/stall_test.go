package table

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A testDisk can stall and be full.
type testDisk struct {
	mu     sync.Mutex
	stalls chan struct{} // closed when it answers again; nil while it does
	full   atomic.Bool
	ended  atomic.Int64 // calls of Config.Stalled
}

func (d *testDisk) write() error {
	d.mu.Lock()
	until := d.stalls
	d.mu.Unlock()
	if until != nil {
		<-until
	}
	if d.full.Load() {
		return syscall.ENOSPC
	}
	return nil
}

func (d *testDisk) stall() (answer func()) {
	until := make(chan struct{})
	d.mu.Lock()
	d.stalls = until
	d.mu.Unlock()
	return sync.OnceFunc(func() {
		d.mu.Lock()
		d.stalls = nil
		d.mu.Unlock()
		close(until)
	})
}

// onDisks runs a test with three nodes that have a disk each.
func onDisks(t *testing.T, test func(t *testing.T, g *group, disks map[string]*testDisk)) {
	virtually(t, "", func(t *testing.T, g *group) {
		disks := make(map[string]*testDisk)
		g.change = func(cfg *Config) {
			d := new(testDisk)
			disks[cfg.ID] = d
			cfg.Hooks.Write = d.write
			cfg.Stalled = func() { d.ended.Add(1) }
		}
		g.start(3)
		test(t, g, disks)
	})
}

// decided proposes through a node and returns how long it took to be decided.
func (g *group) decided(through *Table, weight float64) time.Duration {
	g.t.Helper()
	began := time.Now()
	for {
		_, err := through.Apply(g.context(), &SetWeight{"n1", 1, weight})
		if errors.Is(err, ErrUnknownOutcome) {
			continue // the entry sets the same value if it is decided twice
		}
		g.must(Result{}, err)
		return time.Since(began)
	}
}

func TestLeaderWithStalledDiskIsReplaced(t *testing.T) {
	onDisks(t, func(t *testing.T, g *group, disks map[string]*testDisk) {
		old := g.leader()
		other := g.tables["n1"]
		if old == other {
			other = g.tables["n0"]
		}
		answer := disks[old.cfg.ID].stall()
		defer answer()
		took := g.decided(other, 2)
		t.Logf("decided after %v", took)
		if took > 5*time.Second {
			t.Error("that is late")
		}
		ctx, cancel := context.WithTimeout(g.context(), time.Second)
		defer cancel()
		if _, err := old.Confirm(ctx); err == nil {
			t.Error("it confirms that it leads")
		}
		time.Sleep(30 * time.Second)
		if took := g.decided(other, 3); took > time.Second {
			t.Errorf("a later entry took %v", took)
		}
		if n := disks[old.cfg.ID].ended.Load(); n != 0 {
			t.Error("the node ends")
		}
		answer()
		g.until(g.alike, "the node follows again")
	})
}

func TestFollowerWithStalledDiskWaits(t *testing.T) {
	onDisks(t, func(t *testing.T, g *group, disks map[string]*testDisk) {
		leader := g.leader()
		follower := "n2"
		if leader == g.tables[follower] {
			follower = "n1"
		}
		answer := disks[follower].stall()
		defer answer()
		for i := range 30 {
			if took := g.decided(leader, float64(2+i)); took > time.Second {
				t.Errorf("an entry took %v", took)
			}
			time.Sleep(time.Second)
		}
		if g.leader() != leader {
			t.Error("another node leads")
		}
		answer()
		g.until(g.alike, "the node follows again")
		if n := disks[follower].ended.Load(); n != 0 {
			t.Error("the node has ended")
		}
	})
}

// Where a majority of the disks stalls, no node can win an election: the leader stays.
func TestStallOfMostDisksEndsNoNode(t *testing.T) {
	for _, stalled := range []int{2, 3} {
		t.Run(strconv.Itoa(stalled), func(t *testing.T) { stallOfMostDisks(t, stalled) })
	}
}

// stallOfMostDisks stalls the leader's disk and those of others.
func stallOfMostDisks(t *testing.T, stalled int) {
	onDisks(t, func(t *testing.T, g *group, disks map[string]*testDisk) {
		leader := g.leader()
		answers := []func(){disks[leader.cfg.ID].stall()}
		for id, d := range disks {
			if id != leader.cfg.ID && len(answers) < stalled {
				answers = append(answers, d.stall())
			}
		}
		answer := func() {
			for _, answer := range answers {
				answer()
			}
		}
		defer answer()
		decided := make(chan error, 1)
		go func() {
			_, err := leader.Apply(g.context(), &SetWeight{"n1", 1, 7})
			decided <- err
		}()
		for range 11 {
			time.Sleep(30 * time.Second)
			ctx, cancel := context.WithTimeout(g.context(), time.Second)
			if _, err := leader.Confirm(ctx); err != nil {
				t.Fatalf("leases end although no other node can lead: %v", err)
			}
			cancel()
		}
		answer()
		if err := <-decided; err != nil && !errors.Is(err, ErrUnknownOutcome) && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := g.decided(leader, 8); took > 5*time.Second {
			t.Errorf("the first entry after that took %v", took)
		}
		g.until(g.alike, "all tables are alike")
		for id, d := range disks {
			if d.ended.Load() > 0 {
				t.Errorf("%s ends", id)
			}
		}
	})
}

func TestNodeEndsWhenOnlyItsDiskStallsForLong(t *testing.T) {
	onDisks(t, func(t *testing.T, g *group, disks map[string]*testDisk) {
		leader := g.leader().cfg.ID
		answer := disks[leader].stall()
		defer answer()
		for id, table := range g.tables {
			if id != leader {
				g.decided(table, 2)
				break
			}
		}
		d := disks[leader]
		time.Sleep(time.Minute)
		if d.ended.Load() != 0 {
			t.Error("the node ends after a minute")
		}
		time.Sleep(5 * time.Minute)
		if n := d.ended.Load(); n != 1 {
			t.Errorf("told to end %d times", n)
		}
	})
}

func TestTermThatCannotBeStoredIsStoredLater(t *testing.T) {
	onDisks(t, func(t *testing.T, g *group, disks map[string]*testDisk) {
		var full []string
		for id := range disks {
			full = append(full, id)
			disks[id].full.Store(true)
		}
		leader := g.leader()
		// The leader gives up at its first entry, and each node stands for election.
		ctx, cancel := context.WithTimeout(g.context(), 20*time.Second)
		defer cancel()
		if _, err := leader.Apply(ctx, &SetWeight{"n1", 1, 2}); err == nil {
			t.Error("decided on full disks")
		}
		time.Sleep(time.Minute)
		for _, id := range full {
			disks[id].full.Store(false)
		}
		if took := g.decided(leader, 3); took > 10*time.Second {
			t.Errorf("the first entry after that took %v", took)
		}
		g.until(g.alike, "all tables are alike")

		// One of three is full: the other two go on, also without it.
		victim := g.leader().cfg.ID
		disks[victim].full.Store(true)
		for id, table := range g.tables {
			if id != victim {
				g.decided(table, 4)
			}
		}
		time.Sleep(time.Minute)
		disks[victim].full.Store(false)
		g.until(g.alike, "the node follows again")
	})
}

// The disk is still full when the nodes are closed.
func TestTableClosesWhileATermCannotBeStored(t *testing.T) {
	onDisks(t, func(t *testing.T, g *group, disks map[string]*testDisk) {
		for id := range disks {
			disks[id].full.Store(true)
		}
		ctx, cancel := context.WithTimeout(g.context(), 20*time.Second)
		defer cancel()
		if _, err := g.leader().Apply(ctx, &SetWeight{"n1", 1, 2}); err == nil {
			t.Error("decided on full disks")
		}
		time.Sleep(30 * time.Second)
		storing := 0
		for _, table := range g.tables {
			storing += int(table.writes.storing.Load())
		}
		if storing == 0 {
			t.Error("no node stores a term")
		}
	})
}
