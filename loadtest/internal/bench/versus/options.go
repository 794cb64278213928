package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"

	"github.com/spf13/pflag"
)

// Values of --load.
const (
	loadAuto           = "auto"
	loadRedisBenchmark = "redis-benchmark"
	loadOwn            = "own"
)

// options are the command line.
type options struct {
	rounds   int
	requests int // per workload, round and side, at pipeline 16
	clients  int
	keys     int
	quick    bool
	forward  bool // who forwards, instead of the pairings
	backends int
	cores    bool           // Ringside with more and more cores, instead of the pairings
	large    int            // elements of large collections, which are measured instead; 0: not
	only     *regexp.Regexp // nil: all workloads
	load     string
	json     string
	ringside string // binary; empty: built
	dir      string // where temporary directories are made; empty: the system's
}

// maxKeys is well within what the twelve digits of a key can tell apart.
const maxKeys = 1e9

// What --quick puts in the place of the defaults.
const (
	quickRounds   = 1
	quickRequests = 80_000
	quickKeys     = 50_000
)

// settleLimit bounds the wait for background work.
func (o options) settleLimit() time.Duration { return o.unlessQuick(30*time.Second, 2*time.Second) }

// watchTime is how long other clients are watched while a large collection is removed.
func (o options) watchTime() time.Duration { return o.unlessQuick(10*time.Second, time.Second) }

func (o options) unlessQuick(usual, quick time.Duration) time.Duration {
	if o.quick {
		return quick
	}
	return usual
}

// parseOptions reports every fault at once. For --help it writes the usage to
// help and returns [pflag.ErrHelp].
func parseOptions(args []string, help io.Writer) (options, error) {
	var opt options
	var only string
	set := pflag.NewFlagSet("versus", pflag.ContinueOnError)
	set.SortFlags = false
	set.Usage = func() {
		fmt.Fprintf(help, "Compare Ringside with redis-server on this machine.\n\nUsage: go run ./loadtest/internal/bench/versus [flags]\n\n%s",
			set.FlagUsagesWrapped(79))
	}
	set.IntVar(&opt.rounds, "rounds", 3, "measurements of each workload; the table shows their median")
	set.IntVar(&opt.requests, "requests", 1_000_000, "commands of one measurement at pipeline 16; pipeline 1 gets a quarter, MSET and values of 1 KiB less")
	set.IntVar(&opt.clients, "clients", 50, "connections")
	set.IntVar(&opt.keys, "keys", 1_000_000, "size of the keyspace, from which keys are drawn at random")
	set.BoolVar(&opt.quick, "quick", false, fmt.Sprintf("a look of two minutes: %d round, %d requests, %d keys unless given",
		quickRounds, quickRequests, quickKeys))
	set.BoolVar(&opt.forward, "forward", false, "compare proxies before several backends instead: nutcracker before redis-servers with Ringside's")
	set.IntVar(&opt.backends, "backends", 3, "with --forward: how many backends")
	set.BoolVar(&opt.cores, "cores", false, "measure Ringside with 1, 2, 4, … cores instead, up to all that there are")
	set.IntVar(&opt.large, "large", 0, "measure commands on collections of so many elements instead, beside some of 1,000, and their deletion")
	set.StringVar(&only, "only", "", "measure the workloads whose name matches this `regexp`, such as 'GET .* P16'; names are like 'SET 64B P16 everysec', 'GET 64B P16 cache=0'")
	set.StringVar(&opt.load, "load", loadAuto, "`tool` that makes the load: redis-benchmark, own, or auto = the first where it is installed")
	set.StringVar(&opt.json, "json", "", "also write every measurement to this `file`")
	set.StringVar(&opt.dir, "dir", "", "make temporary directories in this `directory` (default: the system's); a RAM disk makes fsync free")
	set.StringVar(&opt.ringside, "ringside", "", "measure this `binary` instead of building cmd/ringside")

	var faults []error
	if err := set.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return opt, err
	} else if err != nil {
		faults = append(faults, err)
	}
	for _, extra := range set.Args() {
		faults = append(faults, fmt.Errorf("%q: only flags are expected", extra))
	}
	if opt.quick {
		for name, n := range map[string]int{"rounds": quickRounds, "requests": quickRequests, "keys": quickKeys} {
			if !set.Changed(name) {
				_ = set.Set(name, fmt.Sprint(n)) // the flag takes any number
			}
		}
	}
	if only != "" {
		var err error
		if opt.only, err = regexp.Compile(only); err != nil {
			faults = append(faults, fmt.Errorf("--only: %w", err))
		}
	}
	return opt, errors.Join(append(faults, opt.validate())...)
}

func (o options) validate() error {
	var faults []error
	count := func(flag string, n, lowest, highest int) {
		if n < lowest || n > highest {
			faults = append(faults, fmt.Errorf("--%s: %d is not between %d and %d", flag, n, lowest, highest))
		}
	}
	if o.cores && o.forward {
		faults = append(faults, errors.New("--cores and --forward exclude each other"))
	}
	count("rounds", o.rounds, 1, 1000)
	count("requests", o.requests, 1, 1e9)
	count("large", o.large, 0, 1e9)
	count("backends", o.backends, 1, 64)
	count("clients", o.clients, 1, 10_000)
	count("keys", o.keys, 1, maxKeys)
	switch o.load {
	case loadAuto, loadOwn:
	case loadRedisBenchmark:
		if _, err := exec.LookPath(loadRedisBenchmark); err != nil {
			faults = append(faults, fmt.Errorf("--load: %w", err))
		}
	default:
		faults = append(faults, fmt.Errorf("--load: %q is not one of %s, %s and %s", o.load, loadAuto, loadRedisBenchmark, loadOwn))
	}
	if o.dir != "" {
		if info, err := os.Stat(o.dir); err != nil {
			faults = append(faults, fmt.Errorf("--dir: %w", err))
		} else if !info.IsDir() {
			faults = append(faults, fmt.Errorf("--dir: %s is not a directory", o.dir))
		}
	}
	if o.ringside != "" {
		if _, err := exec.LookPath(o.ringside); err != nil {
			faults = append(faults, fmt.Errorf("--ringside: %w", err))
		}
	}
	return errors.Join(faults...)
}
