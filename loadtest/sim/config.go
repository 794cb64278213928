package sim

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// Bounds of a simulation. They keep a slip from taking all memory, and are far from
// what anyone waits for.
const (
	MaxKeys       = 100_000_000
	MaxNodes      = 10_000
	MaxBackups    = 31
	MaxZones      = 1000
	MaxContenders = 32
	MaxSteps      = 10_000
	MaxZipfTheta  = 10
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

// Yardsticks can only be simulated.
const (
	// Mod is the name of hash mod n.
	Mod = "mod"
	// PerKey behind the name of a strategy on cells, as in rendezvous/key, has its algorithm asked for
	// each key instead of each cell.
	PerKey = "/key"
)

// Config says what to simulate.
type Config struct {
	// Strategies are specs as strategy.Parse reads them, and the yardsticks [Mod] and those
	// with [PerKey].
	Strategies []string
	// Base is what the specs do not say; its Hash is everybody's.
	Base strategy.Config
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

	// Zones is how many zones the nodes are in, 0 if they have none: zone-1, zone-2 and so on. Each node,
	// those at the start and those that are added, is in the first of the zones with the fewest nodes then.
	Zones int

	// Machine describes the processor for the report.
	Machine string

	// Progress, if not nil, is told how far it is: done of total, and what is being
	// done. Calls come from goroutines of Run, one at a time, and hold it up.
	Progress func(done, total int, what string)
}

// DefaultConfig is ten nodes and a million keys through the [DefaultScenario].
func DefaultConfig() Config {
	return Config{
		Strategies: append(strategy.Compared(), strategy.Rendezvous, Mod),
		Base:       strategy.DefaultConfig(),
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
	_, err := c.prepare()
	return err
}

// An entry is a contender before it has begun.
type entry struct {
	Contender
	strategy  ring.Strategy   // nil for yardsticks
	config    strategy.Config // of strategy
	algorithm *cells.Strategy // whose algorithm is asked for each key
}

// faults are all that is wrong with a configuration.
type faults []error

func (f *faults) add(err error) {
	if err != nil {
		*f = append(*f, err)
	}
}

func (f *faults) addf(format string, args ...any) { f.add(fmt.Errorf(format, args...)) }

func (f *faults) order(order string) {
	if order != Random && order != LIFO && order != FIFO {
		f.addf("order: %.40q: want %s, %s or %s", order, Random, LIFO, FIFO)
	}
}

func within[N int | float64](f *faults, what string, value, lowest, highest N) {
	if !(value >= lowest && value <= highest) { // also not a number
		f.addf("%s: %v is not within %v..%v", what, value, lowest, highest)
	}
}

// prepare returns the run of a valid configuration: what happens, and who takes part.
func (c *Config) prepare() (*run, error) {
	var f faults
	if c.KeySource == nil {
		within(&f, "keys", c.Keys, 1, MaxKeys)
	}
	within(&f, "backups", c.Backups, 0, MaxBackups)
	f.add(c.ValueSize.Validate())
	within(&f, "zipf exponent", c.ZipfTheta, 0, MaxZipfTheta)
	within(&f, "hot keys", c.HotKeys, 0, 1)
	within(&f, "hot share", c.HotShare, 0, 1)
	entries, err := entries(c.Strategies, c.Base)
	f.add(err)
	script, err := c.readScript(len(entries))
	f.add(err)
	for i := range entries {
		f.add(entries[i].pinned(c.Members))
	}
	if len(f) > 0 {
		return nil, errors.Join(f...)
	}
	return &run{Config: c, script: script, contenders: entries}, nil
}

func entries(specs []string, base strategy.Config) ([]entry, error) {
	switch n := len(specs); {
	case n == 0:
		return nil, errors.New("no strategies")
	case n > MaxContenders:
		return nil, fmt.Errorf("strategies: %d are more than %d", n, MaxContenders)
	}
	var f faults
	if !slices.Contains(strategy.Hashes(), base.Hash) {
		// Said once, and not by each strategy.
		f.addf("%w: %.40q: use %s", strategy.ErrHash, base.Hash, strings.Join(strategy.Hashes(), ", "))
		base.Hash = strategy.Native
	}
	entries := make([]entry, 0, len(specs))
	for i, spec := range specs {
		if slices.Contains(specs[:i], spec) {
			f.addf("strategies: %.40q comes twice", spec)
			continue
		}
		e, err := newEntry(spec, base)
		f.add(err)
		entries = append(entries, e)
	}
	return entries, errors.Join(f...)
}

// titles are those of strategies with a main setting.
var titles = map[string]string{
	strategy.Ketama:     "ketama, %s points a server",
	strategy.VNode:      "vnode, %s a node",
	strategy.Buckets:    "buckets, mask %s",
	strategy.MultiProbe: "multiprobe, %s probes",
	strategy.LRH:        "lrh, %s candidates",
	strategy.Bounded:    "bounded, slack %s",
}

func newEntry(spec string, base strategy.Config) (entry, error) {
	e := entry{Contender: Contender{Name: spec}}
	if spec == Mod {
		e.Title, e.Yardstick = "hash mod n", true
		return e, nil
	}
	if name, ok := strings.CutSuffix(spec, PerKey); ok {
		e.Title, e.Yardstick = name+", asked for each key", true
		settings, err := strategy.Parse(name, base)
		if err == nil && !slices.Contains(perKeyNames(), settings.Name) || errors.Is(err, strategy.ErrName) {
			return e, fmt.Errorf("%.40q: %s is for %s", spec, PerKey, strings.Join(perKeyNames(), ", "))
		}
		if err == nil {
			e.algorithm, err = settings.OfCells()
		}
		return e, err
	}
	settings, err := strategy.Parse(spec, base)
	if errors.Is(err, strategy.ErrName) {
		return e, fmt.Errorf("%w; a yardstick is %s, or an algorithm asked for each key, as in %s", err, Mod, strategy.Rendezvous+PerKey)
	}
	if err != nil {
		return e, err
	}
	e.Title = settings.Name
	if title, ok := titles[settings.Name]; ok {
		e.Title = fmt.Sprintf(title, settings.Setting(strategy.Settings(settings.Name)[0]))
	}
	e.config = settings
	e.strategy, err = settings.New()
	return e, err
}

// perKeyNames are the algorithms that can be asked for each key. Bounded counts the cells that it has
// given to each node, so it cannot.
func perKeyNames() []string {
	return slices.DeleteFunc(strategy.Names(), func(name string) bool {
		return !strategy.IsOfCells(name) || name == strategy.Bounded
	})
}

// pinned returns what a strategy has against members with points of their own.
func (e *entry) pinned(members []ring.Member) error {
	hasPins := func(m ring.Member) bool { return len(m.Pins) > 0 }
	if e.strategy == nil || !slices.ContainsFunc(members, hasPins) {
		return nil
	}
	_, err := e.strategy.Desired(ring.Input{Members: members})
	if !errors.Is(err, ring.ErrPins) {
		return nil // no fault, or one that is found by itself
	}
	return fmt.Errorf("%s: %w", e.Name, err)
}

// readScript checks who takes part and reads and dry-runs the scenario.
func (c *Config) readScript(contenders int) (*script, error) {
	var f faults
	f.order(c.Order)
	added := ring.Member{ID: c.NewNode + strconv.Itoa(math.MaxInt32), Weight: c.NewWeight}
	if err := added.Validate(); err != nil {
		f.addf("nodes that are added: %w", err)
	}
	if c.Zones < 0 || c.Zones > MaxZones {
		f.addf("zones: %d: use 0 to %d", c.Zones, MaxZones)
	}
	_, err := ring.SortedMembers(c.Members)
	if len(c.Members) > MaxNodes {
		err = fmt.Errorf("nodes: %d are more than %d", len(c.Members), MaxNodes)
	}
	f.add(err)
	scenario, err := ParseScenario(c.Scenario)
	f.add(err)
	if len(f) > 0 {
		return nil, errors.Join(f...)
	}
	return c.play(scenario, MaxLoads/max(1, contenders))
}
