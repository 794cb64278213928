package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// locateOptions are what flags of locate say, as text where a package reads it.
type locateOptions struct {
	config                  strategy.Config
	rule, mask              string
	nodes, pins             []string
	backups                 int
	placement               string
	verbose, printPlacement bool
}

func defaultLocateOptions() locateOptions {
	c := strategy.DefaultConfig()
	return locateOptions{config: c, rule: string(c.KetamaRule), mask: fmt.Sprintf("%04X", c.Mask), backups: 1}
}

func locateSettings(o *locateOptions) *settings.Set {
	s := settings.New(envPrefix)
	choice := func(name string, p *string, words []string, usage string) {
		s.Add(name, settings.Text(p, strings.Join(words, "|")), usage, settings.Choices(words...))
	}
	s.Group("Nodes")
	s.Add("node", settings.List(&o.nodes, "id[:weight]"),
		"a node and its share, 1 if none is given; once for each node. An id with a colon needs its weight: 10.0.1.1:11211:1")
	s.Add("backups", settings.Count(&o.backups), "copies beside the primary, each on another node")
	s.Add("placement", settings.Text(&o.placement, "FILE"),
		"the placement in text form, in the place of nodes and what they are placed by", settings.Files())

	s.Group("Strategy")
	choice("strategy", &o.config.Name, strategy.Names(), "how keys are placed")
	choice("hash", &o.config.Hash, strategy.Hashes(),
		"native = the strategy's own hash; or another one; slot = Redis Cluster slots")
	s.Add("mask", settings.Text(&o.mask, "hex"),
		"buckets: hashmask that a cluster begins with, a run of ones")
	s.Add("points", settings.Count(&o.config.Points),
		"ketama: points of a server of mean weight, a multiple of 4")
	choice("ketama-rule", &o.rule, strategy.KetamaRules(),
		"ketama: whose rounding of points to follow")
	s.Add("vnodes", settings.Count(&o.config.VNodes),
		"vnode: points of a node of weight 1")
	addCellSettings(s, &o.config.Cells, func(string) string { return "" })
	s.Add("pin", settings.List(&o.pins, "node=hash,…"),
		"vnode: points picked by hand, in the place of the node's own ones; node+=hash,… for points beside these. Hashes are signed or unsigned, or hexadecimal after 0x")
	return s
}

// ownFlags are the flags that one strategy alone has.
var ownFlags = []struct{ flag, strategy string }{
	{"mask", strategy.Buckets},
	{"points", strategy.Ketama},
	{"ketama-rule", strategy.Ketama},
	{"vnodes", strategy.VNode},
	{"probes", strategy.MultiProbe},
	{"candidates", strategy.LRH},
	{"slack", strategy.Bounded},
	{"pin", strategy.VNode},
}

// flagOf tells which flag an error of a strategy is about.
var flagOf = []struct {
	err  error
	flag string
}{
	{strategy.ErrName, "--strategy"},
	{strategy.ErrHash, "--hash"},
	{buckets.ErrMask, "--mask"},
	{ketama.ErrRule, "--ketama-rule"},
	{ketama.ErrPoints, "--points"},
	{vnode.ErrVNodes, "--vnodes"},
	{vnode.ErrPin, "--pin"},
	{ring.ErrPins, "--pin"},
	{ring.ErrBackups, "--backups"},
	{ring.ErrNoMembers, "--node"},
	{ring.ErrDuplicate, "--node"},
	{ring.ErrID, "--node"},
	{ring.ErrWeight, "--node"},
}

// locateFaults collects everything that is wrong, each with its flag.
type locateFaults []error

func (f *locateFaults) add(flag, format string, args ...any) {
	*f = append(*f, &settings.Fault{Source: flag, Text: fmt.Sprintf(format, args...)})
}

// addAll takes an error apart; flag is for what flagOf does not know.
func (f *locateFaults) addAll(flag string, err error) {
	for _, err := range parts(err) {
		if len(parts(err)) > 1 {
			f.addAll(flag, err)
			continue
		}
		source := flag
		for _, known := range flagOf {
			if errors.Is(err, known.err) {
				source = known.flag
				break
			}
		}
		f.add(source, "%v", err)
	}
}

// resolve reads the flags and computes the placement, or joins all that is wrong.
func (o *locateOptions) resolve(set *settings.Set, args, keys []string) (*placed, error) {
	faults := locateFaults(parts(set.LoadFlags(args)))
	for _, own := range ownFlags {
		if set.Given(own.flag) && own.strategy != o.config.Name && slices.Contains(strategy.Names(), o.config.Name) {
			faults.add("--"+own.flag, "belongs to strategy %s, not to %s", own.strategy, o.config.Name)
		}
	}
	if o.printPlacement && len(keys) > 0 {
		faults.add("--print-placement", "takes no keys")
	}
	placing := o.strategy(&faults)
	if o.placement != "" {
		return o.fromFile(set, placing, faults)
	}
	in := o.input(&faults)
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	p, err := placing.Desired(in)
	if err != nil {
		faults.addAll("--node", err)
		return nil, errors.Join(faults...)
	}
	notes := notesOn(in, p, set.Given("backups"))
	c := o.config
	c.KetamaRule = ketama.Rule(o.rule)
	if exact := c.ExactTo(); o.verbose && exact != "" {
		notes = append(notes, "this is exact to "+exact)
	}
	return &placed{placing.Token, p, notes}, nil
}

// strategy makes the strategy, or adds what is wrong with it.
func (o *locateOptions) strategy(faults *locateFaults) ring.Strategy {
	c := o.config
	c.KetamaRule = ketama.Rule(o.rule)
	if mask, err := buckets.ParseMask(o.mask); err == nil {
		c.Mask = mask
	} else {
		faults.addAll("--mask", err)
	}
	// Zeroes would be the defaults.
	if c.Points == 0 {
		faults.add("--points", "0 leaves no point")
	}
	if c.VNodes == 0 {
		faults.add("--vnodes", "0 leaves no point")
	}
	placing, err := c.New()
	faults.addAll("--strategy", err)
	return placing
}

// input is the nodes with their pins, as far as nothing is wrong with them.
func (o *locateOptions) input(faults *locateFaults) ring.Input {
	in := ring.Input{Backups: o.backups}
	for _, text := range o.nodes {
		m, err := ring.ParseMember(text)
		faults.addAll("--node", err)
		if err == nil {
			in.Members = append(in.Members, m)
		}
	}
	if len(o.nodes) == 0 {
		faults.add("--node", "missing: name each node, as in --node a --node b:2, or give --placement")
	}
	_, err := in.Check()
	for _, err := range parts(err) {
		if !errors.Is(err, ring.ErrNoMembers) { // said above, in other words
			faults.addAll("--node", err)
		}
	}
	var pins []vnode.Pins
	for _, text := range o.pins {
		p, err := vnode.ParsePins(text)
		faults.addAll("--pin", err)
		if err == nil {
			pins = append(pins, p)
		}
	}
	if len(in.Members) == len(o.nodes) { // otherwise who is missing may be among the faults
		members, err := vnode.AddPins(in.Members, pins)
		faults.addAll("--pin", err)
		in.Members = members
	}
	return in
}

// notesOn says what the placement does not do though it was asked for.
func notesOn(in ring.Input, p *ring.Placement, backupsGiven bool) []string {
	var notes []string
	if backupsGiven && in.Backups >= len(in.Members) {
		notes = append(notes, fmt.Sprintf("--backups %d: each copy needs a node of its own; copies kept of each key: %d", in.Backups, in.Copies()))
	}
	nodes := p.Nodes()
	for _, m := range in.Members {
		if !slices.Contains(nodes, m.ID) {
			notes = append(notes, fmt.Sprintf("--node %s: has nothing, its share is too small", m.ID))
		}
	}
	return notes
}

// maxPlacement bounds what is read as a placement, to keep a slip in the name of a
// file from taking all memory.
const maxPlacement = 1 << 30

func (o *locateOptions) fromFile(set *settings.Set, placing ring.Strategy, faults locateFaults) (*placed, error) {
	for _, flag := range []string{"node", "backups", "mask", "points", "ketama-rule", "vnodes", "probes", "candidates", "slack", "pin"} {
		if set.Given(flag) {
			faults.add("--"+flag, "has no meaning beside --placement, which has been computed")
		}
	}
	p, err := readPlacement(o.placement)
	if err != nil {
		faults.add("--placement", "%v", err)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return &placed{token: placing.Token, placement: p}, nil
}

func readPlacement(name string) (*ring.Placement, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var text strings.Builder
	if n, err := io.Copy(&text, io.LimitReader(file, maxPlacement+1)); err != nil {
		return nil, err
	} else if n > maxPlacement {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxPlacement)
	}
	p := new(ring.Placement)
	if err := p.UnmarshalText([]byte(text.String())); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
