package loadtest

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/loadtest/client"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A Contestant is one of those that are compared.
type Contestant struct {
	// Name is what the report calls it.
	Name string
	// Strategy is that of a cluster that is made for it, as [cluster.ParseContestant] reads
	// it; empty for what runs already.
	Strategy string
	// Addrs are the clients' addresses of what runs already.
	Addrs []string
}

func (c *Contestant) runsAlready() bool { return len(c.Addrs) > 0 }

// Config says what is compared, and by what.
type Config struct {
	Contestants []Contestant
	// Rounds is how often each contestant plays the script. In a round all do, one after
	// the other, so that a machine that has other things to do is as unfair to each.
	Rounds int
	Script Script
	// Config is what clients do. Where its Workload has no Keys, they are those that the script
	// loads. Username, Password and TLS are for what runs already. Targets and Check are those of
	// each contestant.
	client.Config
	// Verify has answers judged.
	Verify bool
	// Clear removes the keys of the workload from servers that run already, when a run has
	// ended, whatever has ended it. Set it only where nothing else uses these keys.
	Clear bool
	// Overwrite allows a load with names of keys (Workload.Names) to write those that servers hold already.
	Overwrite bool
	// Notice, if not nil, is given sentences for the user before the first run.
	Notice func(text string)
	// Fleet is what all clusters that are made have in common.
	Fleet cluster.Config
	// Progress is given how it goes, a few times a second, from one goroutine at a time.
	// nil is nobody.
	Progress func([]report.State)

	// What the report says of itself.
	Version, Command string
	Settings         []result.Setting
}

// fleet is the cluster that is made for a contestant.
func (c *Config) fleet(one *Contestant) cluster.Config {
	cfg := c.Fleet
	cfg.Contestant = one.Strategy
	cfg.SpareFirst = c.Route == client.One
	cfg.Redirect = c.redirects()
	return cfg
}

// redirects reports whether nodes that are made send clients to a key's own node: clients of
// Redis Cluster that find a slot's node by its number are used to it, and learn by it that
// a slot has moved.
func (c *Config) redirects() bool {
	return c.Route == client.Cluster && c.Fleet.Hash == strategy.Slot
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(c.Contestants) == 0 {
		fault("nobody to compare")
	}
	names := make(map[string]bool)
	for i := range c.Contestants {
		one := &c.Contestants[i]
		if names[one.Name] {
			fault("%s stands there twice", one.Name)
		}
		names[one.Name] = true
		if (one.Strategy == "") != one.runsAlready() {
			fault("%s: either a strategy or addresses are needed", one.Name)
		}
	}
	if c.Rounds < 1 {
		fault("%d rounds", c.Rounds)
	}
	if len(c.Script) == 0 {
		fault("the script is empty")
	}
	for i := range c.Contestants {
		if err := c.playable(&c.Contestants[i]); err != nil {
			faults = append(faults, err)
			break
		}
	}
	load := c.load(func() []string { return nil })
	return errors.Join(append(faults, load.Validate())...)
}

// playable says whether the script can be played by a contestant.
func (c *Config) playable(one *Contestant) error {
	if !one.runsAlready() {
		fleet := c.fleet(one)
		fleet.EnsureDefaults()
		return errors.Join(fleet.Validate(), c.Script.Check(c.Fleet.Nodes))
	}
	for _, s := range c.Script {
		if s.Event() || s.Kind == StepBalance {
			return fmt.Errorf("%w: column %d: %v: nodes that run already neither come nor go", ErrScript, s.Column, s)
		}
	}
	return nil
}

// keys is how many there are.
func (c *Config) keys() int64 {
	if c.Workload.Keys > 0 || len(c.Workload.Names) > 0 {
		return c.Workload.Keys
	}
	var keys int64
	for _, s := range c.Script {
		if s.Kind == StepLoad {
			keys = max(keys, s.Keys)
		}
	}
	return max(keys, 1)
}
