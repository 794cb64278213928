package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

type options struct {
	cluster.ProcessOptions
	nodes    int
	clients  int
	duration time.Duration
	round    time.Duration
	bound    time.Duration
	seed     uint64
	faults   string
	copies   int
}

// o holds the flags of the test binary, as in: go test ./loadtest/internal/chaos -args -duration 1h
var o options // of any strategy

func init() {
	o.Flags(flag.CommandLine)
	flag.IntVar(&o.nodes, "nodes", 3, "nodes, of which others may join and leave")
	flag.IntVar(&o.clients, "clients", 12, "clients that ask at random")
	flag.DurationVar(&o.duration, "duration", 10*time.Minute, "how long rounds are begun")
	flag.DurationVar(&o.round, "round", 30*time.Second, "how long faults happen in a round, on average")
	flag.DurationVar(&o.bound, "bound", time.Minute, "how soon after the faults everything has to be served, and for how long nothing may change before it is in sync")
	flag.Uint64Var(&o.seed, "seed", 0, "what faults, commands and the strategy follow from; a random one when 0")
	flag.StringVar(&o.faults, "faults", "", "the kinds of faults, separated by commas; all that this machine allows when empty")
	flag.IntVar(&o.copies, "copies", 2, "copies of each key that are awaited after the faults")
}

// isLong reports whether the test with real processes runs.
func isLong() bool { return os.Getenv("RINGSIDE_LONG") != "" }

// isolated reports whether this process has a network and mounts of its own, and why not.
var isolated, notIsolated = false, ""

// TestMain runs the tests in a process with a network of its own.
func TestMain(m *testing.M) {
	if flag.Parse(); isLong() {
		var err error
		if isolated, notIsolated, err = isolate(); err != nil {
			fmt.Fprintln(os.Stderr, "chaos:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func TestClusterServesCorrectRepliesUnderFaults(t *testing.T) {
	if !isLong() {
		t.Skip("RINGSIDE_LONG is not set")
	}
	if !isolated {
		fmt.Printf("faults of network and disks are left out: %s\n", notIsolated)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	ctx, end := loadtest.StopContext(t.Context())
	defer end()
	if err := run(ctx, &o, isolated); err != nil {
		t.Fatal(err)
	}
}

func run(ctx context.Context, o *options, isolated bool) (err error) {
	if o.nodes < 1 || o.nodes > 20 || o.clients < 1 || o.round <= 0 || o.bound <= 0 {
		return errors.New("1 to 20 nodes, at least a client, and times above 0 are needed")
	}
	c := &testCluster{o: o, means: map[means]bool{}, began: time.Now(), counts: map[string]int{}}
	tidy, err := c.prepare(ctx, isolated)
	if err != nil {
		return err
	}
	kinds, err := kindsOf(o.faults, c.means)
	if err != nil {
		return errors.Join(err, tidy())
	}
	c.rnd = rand.New(rand.NewPCG(o.seed, 1))
	if o.Strategy == "" {
		o.Strategy = []string{"buckets", "ketama", "vnode"}[c.rnd.IntN(3)]
	}
	fmt.Printf("seed %d, %d nodes, %s, %d clients, faults: %s\n", o.seed, o.nodes, o.Strategy, o.clients, strings.Join(kinds, ", "))
	defer func() {
		c.stopAll()
		switch {
		case err != nil && (ctx.Err() == nil || errors.Is(err, nodetest.ErrWrong)):
			fmt.Println("data and logs are kept in", o.Dir)
		default: // also after a signal
			err = errors.Join(err, tidy())
		}
	}()
	for range o.nodes {
		if _, err := c.join(ctx); err != nil {
			return err
		}
	}
	if _, err := c.settle(ctx, 2*o.bound); err != nil {
		return err
	}
	c.began = time.Now()
	total := newTotal()
	for number := 1; time.Since(c.began) < o.duration && ctx.Err() == nil; number++ {
		result, err := c.round(ctx, number, kinds, total)
		total.add(result)
		if err != nil {
			total.print(c)
			return fmt.Errorf("round %d, seed %d: %w", number, o.seed, err)
		}
	}
	total.print(c)
	return nil
}

// prepare makes the binary and the network, and finds out what this machine allows.
func (c *testCluster) prepare(ctx context.Context, isolated bool) (tidy func() error, err error) {
	given := c.o.Binary
	if given == "" {
		c.o.Binary = "to be built" // with hooks, if that can be
	}
	tidy, err = c.o.Prepare(ctx, "chaos")
	if err != nil {
		return tidy, err
	}
	if given == "" {
		if c.o.Binary, err = buildHooked(ctx, c.o.Dir); err == nil {
			c.means[hooking] = true
		} else {
			fmt.Println("faults of clocks and of the table are left out:", err)
			if c.o.Binary, err = cluster.Build(ctx, c.o.Dir); err != nil {
				return tidy, errors.Join(err, tidy())
			}
		}
	} else if hooked(given) {
		c.means[hooking] = true
	} else {
		fmt.Println("faults of clocks and of the table are left out: they take a binary with hooks")
	}
	if !isolated {
		return tidy, nil
	}
	c.means[networks] = true
	if err := makeBridge(); err != nil {
		return tidy, errors.Join(err, tidy())
	}
	if err := c.tryDisk(); err != nil {
		fmt.Println("faults of disks are left out:", err)
	} else {
		c.means[disks] = true
	}
	return tidy, nil
}

// tryDisk finds out whether nodes can have disks of their own.
func (c *testCluster) tryDisk() error {
	image, dir := filepath.Join(c.o.Dir, "trial.img"), filepath.Join(c.o.Dir, "trial")
	defer func() { _ = os.Remove(image) }()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer func() { _ = os.Remove(dir) }()
	if err := makeDisk(image, dir); err != nil {
		return err
	}
	err := stall(dir, true)
	if err == nil {
		err = stall(dir, false)
	}
	return errors.Join(err, command("umount", dir))
}
