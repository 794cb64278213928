package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ringside-kv/ringside/ring"
)

// Bounds of a simulation. They keep a slip from taking all memory, and are far from
// what anyone waits for.
const (
	MaxKeys       = 100_000_000
	MaxNodes      = 10_000
	MaxBackups    = 31
	MaxContenders = 32
	MaxSteps      = 10_000
	// MaxLoads is the most loads of nodes that a report lists: nodes × steps ×
	// contenders.
	MaxLoads = 8_000_000
)

// Orders in which nodes are chosen to leave, to crash or to change their weight.
const (
	Random = "random" // any, drawn from the seed
	LIFO   = "lifo"   // who joined last
	FIFO   = "fifo"   // who joined first
)

// DefaultScenario is what a simulation shows if nobody asks for anything else.
const DefaultScenario = "add; remove; add 5; remove 90% at once; restore; weight 2; crash"

// Names of the yardsticks.
const (
	Mod        = "mod"        // hash mod n
	Rendezvous = "rendezvous" // the highest random weight
)

// Config says what to simulate.
type Config struct {
	// Strategies are specs as strategy.Parse reads them, and the yardsticks [Mod] and
	// [Rendezvous].
	Strategies []string
	// Members are the nodes at the start, in the order in which they joined.
	Members []ring.Member
	Backups int
	// Scenario is what happens to the members: see [ParseScenario].
	Scenario string
	Order    string // [Random], [LIFO] or [FIFO]
	Seed     uint64

	// Keys is how many keys are made up, as in key:000000000042. It does not count
	// with a KeySource.
	Keys int
	// KeySource has the keys if it is not nil, one a line. A line is all of its bytes
	// up to the newline; what follows its last tab, if it has one, is the size of the
	// value in bytes. Empty lines are passed over. A key that comes twice counts twice.
	KeySource io.Reader
	KeyFile   string // the name of KeySource, for errors and the report
	ValueSize Sizes  // of values whose size no file says, drawn from the seed

	// ZipfTheta is the exponent of zipf requests: the i-th key, from 1 on, gets a
	// share of requests in proportion to 1/i^ZipfTheta. Hotspot requests go with the
	// part HotShare to the part HotKeys of the keys, which are drawn from the seed.
	ZipfTheta, HotKeys, HotShare float64

	// NewNode is what the names of added nodes begin with; the first number from the
	// count of Members on that makes a name nobody has had follows. NewWeight is their
	// weight.
	NewNode   string
	NewWeight float64

	// Machine describes the processor for the report.
	Machine string

	// Progress, if not nil, is told how far it is: done of total, and what is being
	// done. Calls come from goroutines of Run, one at a time, and hold it up.
	Progress func(done, total int, what string)
}

// DefaultConfig is ten nodes and a million keys through the [DefaultScenario].
func DefaultConfig() Config {
	return Config{
		Strategies: []string{"buckets", "ketama", "vnode", Mod, Rendezvous},
		Members:    Nodes(10),
		Backups:    1,
		Scenario:   DefaultScenario,
		Order:      Random,
		Seed:       1,
		Keys:       1_000_000,
		ValueSize:  Sizes{100, 100},
		ZipfTheta:  0.99,
		HotKeys:    0.2,
		HotShare:   0.8,
		NewNode:    "node-",
		NewWeight:  1,
	}
}

// Nodes names n members of weight 1: node-1, node-2 and so on.
func Nodes(n int) []ring.Member {
	members := make([]ring.Member, n)
	for i := range members {
		members[i] = ring.Member{ID: "node-" + strconv.Itoa(i+1), Weight: 1}
	}
	return members
}

// Validate returns every fault at once, joined. It dry-runs the scenario, and does
// not read the keys.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	within := func(what string, value, lowest, highest float64) {
		if !(value >= lowest && value <= highest) { // also not a number
			fault("%s: %v is not within %v..%v", what, value, lowest, highest)
		}
	}
	if len(c.Strategies) == 0 {
		fault("no strategies")
	}
	if len(c.Strategies) > MaxContenders {
		fault("strategies: %d are more than %d", len(c.Strategies), MaxContenders)
	}
	if c.KeySource == nil && (c.Keys < 1 || c.Keys > MaxKeys) {
		fault("keys: %d is not within 1..%d", c.Keys, MaxKeys)
	}
	if c.Backups < 0 || c.Backups > MaxBackups {
		fault("backups: %d is not within 0..%d", c.Backups, MaxBackups)
	}
	if err := c.ValueSize.Validate(); err != nil {
		faults = append(faults, err)
	}
	within("zipf exponent", c.ZipfTheta, 0, 10)
	within("hot keys", c.HotKeys, 0, 1)
	within("hot share", c.HotShare, 0, 1)
	return errors.Join(faults...)
}

// Run simulates and returns the report. It computes on all cores, keeps no goroutine
// and may be called many times at once. If the context ends before it is done, it
// returns what is done with Report.Stopped set, and no error.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return nil, errors.New("not yet")
}
