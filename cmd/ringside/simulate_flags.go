package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/loadtest/sim"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// simulation is what the flags of one ringside simulate say.
type simulation struct {
	cfg   sim.Config
	nodes int      // how many are named by themselves
	named []string // --node

	json, csv, html, markdown, svg string // files
	wide                           bool
	benchmark                      benchmark
	command                        string // that makes the same report again
	serve                          string // address of the page; empty: none

	input io.Closer // what cfg.KeySource reads from, if it is ours to close
}

func newSimulation() *simulation {
	o := &simulation{cfg: sim.DefaultConfig(), benchmark: newBenchmark()}
	o.nodes = len(o.cfg.Members)
	o.cfg.Machine = machine()
	// Half of the bits are enough for every purpose and can still be copied by hand.
	o.cfg.Seed = uint64(rand.Uint32())
	return o
}

// settings are the flags of simulate.
func (o *simulation) settings() *settings.Set {
	s := settings.New(envPrefix)
	file := func(name string, p *string, usage string) {
		s.Add(name, settings.Text(p, "FILE"), usage+"; - is standard output", settings.Files())
	}

	s.Group("Contenders")
	s.Add("strategies", settings.Func("a,b,…", strings.Join(o.cfg.Strategies, ","), o.setStrategies),
		"what is compared: "+strings.Join(strategy.Names(), ", ")+" and mod; a setting may follow, as in vnode:128, ketama:40, buckets:0x0fff, bounded:0.25, or /key, as in maglev/key",
		settings.Choices(append(o.cfg.Strategies, "vnode:128")...))
	s.Add("backups", settings.Count(&o.cfg.Backups), "copies beside the primary")
	s.Add("hash", settings.OneOf(&o.cfg.Base.Hash, strategy.Hashes()...),
		"native = each strategy's own hash; or the same for all; slot = Redis Cluster slots", settings.Choices(strategy.Hashes()...))
	s.Add("mask", settings.Func("hex", fmt.Sprintf("0x%04X", o.cfg.Base.Mask), o.setMask), "buckets: the mask to begin with")
	s.Add("points", settings.Count(&o.cfg.Base.Points), "ketama: points of a server")
	s.Add("ketama-rule", settings.Func(strings.Join(strategy.KetamaRules(), "|"), string(o.cfg.Base.KetamaRule), o.setKetamaRule),
		"ketama: whose rounding to follow", settings.Choices(strategy.KetamaRules()...))
	s.Add("vnodes", settings.Count(&o.cfg.Base.VNodes), "vnode: points of a node of weight 1")
	addCellSettings(s, &o.cfg.Base.Cells, func(string) string { return "" })

	s.Group("Nodes")
	s.Add("nodes", settings.Func("n[,n…]", strconv.Itoa(o.nodes), o.setNodes),
		"how many there are at the start: node-1, node-2, …; a benchmark takes several numbers")
	s.Add("node", settings.List(&o.named, "id[:weight]"),
		"a node at the start, in the place of --nodes; give it once for each node")
	s.Add("zones", settings.Count(&o.cfg.Zones),
		"how many zones the nodes are in: each node is in the one with the fewest; copies of a key go to different ones (0: no zones)")
	s.Add("scenario", settings.Text(&o.cfg.Scenario, "events"), "what happens to the nodes, as described above")
	s.Add("order", settings.OneOf(&o.cfg.Order, sim.Random, sim.LIFO, sim.FIFO),
		"nodes that leave, crash or change: random, lifo = the last that joined, fifo = the first that joined", settings.Choices(sim.Random, sim.LIFO, sim.FIFO))
	s.Add("seed", settings.Func("n", "", o.setSeed), "of all that is random; the same seed makes the same report, times apart (default: a new one, which is printed)")

	s.Group("Keys and requests")
	s.Add("keys", settings.Func("n", "1m", o.setKeys), "how many are made up; k and m are thousands and millions")
	s.Add("keys-file", settings.Text(&o.cfg.KeyFile, "FILE"),
		"keys to take instead, one a line, with the size of the value after a tab if it is known; - is standard input", settings.Files())
	s.Add("value-size", settings.Func("n[-m]", o.cfg.ValueSize.String(), o.setValueSize), "bytes of a value, or the smallest and the largest")
	s.Add("zipf", settings.Number(&o.cfg.ZipfTheta), "exponent of zipf requests: 0 = all keys alike, the higher the more uneven")
	s.Add("hot", settings.Func("keys:share", hotText(&o.cfg), o.setHot),
		"hotspot requests: the part of the keys that is hot, and the part of requests that it gets")

	s.Group("Benchmark, with --csv DIR")
	s.Add("distribution", settings.Func("a,b,…", sim.Uniform, o.setDistributions),
		"of the keys: "+strings.Join(sim.Distributions(), ", ")+"; file takes those of --keys-file", settings.Choices(sim.Distributions()...))
	s.Add("fractions", settings.Func("x,y,…", "0.1,0.3,0.5", o.setFractions), "parts of the nodes that are removed and restored, in the --order")
	s.Add("iterations", settings.Count(&o.benchmark.iterations), "how often each figure is measured")

	s.Group("Output, beside or instead of the table")
	file("html", &o.html, "write a page with charts and the grid of buckets")
	file("json", &o.json, "write all figures, node by node")
	file("csv", &o.csv, "write a line for each step and contender; the name of a directory makes a benchmark instead: see above")
	file("markdown", &o.markdown, "write tables for a README, without times")
	file("svg", &o.svg, "write a picture for a README")
	s.Add("serve", settings.Text(&o.serve, "addr"),
		"instead of all this, show the page at this address of this machine ("+serveAddr+" without one), with sliders that start another simulation")

	for other, name := range map[string]string{
		"n": "nodes", "replicas": "backups", "strategy": "strategies", "rule": "ketama-rule", "member": "node",
		"key-file": "keys-file", "file": "keys-file", "out": "html", "output": "html", "md": "markdown",
	} {
		s.AlsoKnownAs(other, name)
	}
	return s
}

func (o *simulation) setStrategies(text string) error {
	o.cfg.Strategies = nil
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			o.cfg.Strategies = append(o.cfg.Strategies, word)
		}
	}
	return nil
}

func (o *simulation) setMask(text string) (err error) {
	mask, err := buckets.ParseMask(text)
	if err == nil {
		o.cfg.Base.Mask = mask
	}
	return err
}

func (o *simulation) setKetamaRule(text string) error {
	if !slices.Contains(strategy.KetamaRules(), text) {
		return fmt.Errorf("%.40q: use %s", text, strings.Join(strategy.KetamaRules(), " or "))
	}
	o.cfg.Base.KetamaRule = ketama.Rule(text)
	return nil
}

func (o *simulation) setSeed(text string) (err error) {
	o.cfg.Seed, err = parseSeed(text)
	return err
}

func parseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a whole number from 0 to %d", text, uint64(math.MaxUint64))
	}
	return seed, nil
}

func (o *simulation) setKeys(text string) error {
	n, err := parseKeys(text, sim.MaxKeys)
	if err == nil {
		o.cfg.Keys = int(n)
	}
	return err
}

// parseKeys reads a count such as 1000, 500k or 10m.
func parseKeys(text string, most int64) (int64, error) {
	digits, factor := text, int64(1)
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'k', 'K':
			digits, factor = text[:n-1], 1e3
		case 'm', 'M':
			digits, factor = text[:n-1], 1e6
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > most/factor || n < 1 {
		return 0, fmt.Errorf("%.40q is not a number of keys from 1 to %d, as in 1000, 500k or 10m", text, most)
	}
	return n * factor, nil
}

func (o *simulation) setValueSize(text string) error {
	sizes, err := sim.ParseSizes(text)
	if err == nil {
		o.cfg.ValueSize = sizes
	}
	return err
}

func hotText(cfg *sim.Config) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return number(cfg.HotKeys) + ":" + number(cfg.HotShare)
}

func (o *simulation) setHot(text string) error {
	keys, share, ok := strings.Cut(text, ":")
	k, err1 := strconv.ParseFloat(keys, 64)
	s, err2 := strconv.ParseFloat(share, 64)
	if !ok || err1 != nil || err2 != nil {
		return fmt.Errorf("%.40q is not two parts of 1, as in 0.2:0.8", text)
	}
	o.cfg.HotKeys, o.cfg.HotShare = k, s
	return nil
}

// finish makes the configuration whole and returns what is wrong with it. given
// tells which flags were.
func (o *simulation) finish(given func(flag string) bool) []error {
	faults := o.members(given("nodes"))
	cfg := o.cfg
	if len(faults) > 0 && len(cfg.Members) == 0 { // one fault is enough
		cfg.Members = sim.Nodes(1)
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"points", o.cfg.Base.Points}, {"vnodes", o.cfg.Base.VNodes}} {
		if n.value < 1 { // which strategies take for their default
			faults = append(faults, fmt.Errorf("--%s: %d is not above 0", n.flag, n.value))
		}
	}
	if given("keys") && given("keys-file") {
		faults = append(faults, errors.New("--keys: not together with --keys-file, which has as many as it has"))
	}
	if given("keys-file") {
		cfg.KeySource = strings.NewReader("") // Validate does not read
	}
	if o.serve != "" && (given("keys-file") || len(o.outputs()) > 0) {
		faults = append(faults, errors.New("--serve: not together with --keys-file or a file to write"))
	}
	faults = append(faults, o.benchmarkFaults(given)...)
	if o.csvDir() {
		return faults
	}
	for _, err := range parts(cfg.Validate()) {
		faults = append(faults, flagged(err))
	}
	return faults
}

// members are the nodes at the start, by name or by number.
func (o *simulation) members(numbered bool) []error {
	o.cfg.Members = nil
	switch {
	case o.csvDir():
		return nil // see benchmarkFaults
	case len(o.named) == 0 && o.nodes > sim.MaxNodes:
		return []error{fmt.Errorf("--nodes: %d are more than %d", o.nodes, sim.MaxNodes)}
	case len(o.named) == 0:
		o.cfg.Members = sim.Nodes(max(0, o.nodes))
		return nil
	}
	var faults []error
	if numbered {
		faults = append(faults, errors.New("--nodes: not together with --node, which names each node"))
	}
	for _, text := range o.named {
		m, err := ring.ParseMember(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("--node: %w", err))
			continue
		}
		o.cfg.Members = append(o.cfg.Members, m)
	}
	return faults
}

// flagged puts the flag before an error that does not name what it is about.
func flagged(err error) error {
	for _, f := range []struct {
		flag string
		is   error
	}{
		{"scenario", sim.ErrScenario}, {"strategies", strategy.ErrName}, {"strategies", strategy.ErrSetting},
		{"nodes", ring.ErrNoMembers}, {"node", ring.ErrDuplicate}, {"node", ring.ErrWeight}, {"node", ring.ErrID},
	} {
		if errors.Is(err, f.is) {
			return fmt.Errorf("--%s: %w", f.flag, err)
		}
	}
	for _, flag := range []string{"keys", "nodes", "zones", "backups", "order", "iterations", "fractions", "distribution"} { // called alike
		if strings.HasPrefix(err.Error(), flag+": ") {
			return fmt.Errorf("--%w", err)
		}
	}
	return err
}

// openInput opens the file of keys.
func (o *simulation) openInput(stdin io.Reader) error {
	switch o.cfg.KeyFile {
	case "":
		return nil
	case "-":
		o.cfg.KeySource, o.cfg.KeyFile = stdin, "standard input"
		return nil
	}
	f, err := os.Open(o.cfg.KeyFile)
	if err != nil {
		return fmt.Errorf("--keys-file: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return fmt.Errorf("--keys-file: %s is a directory", o.cfg.KeyFile)
	}
	o.cfg.KeySource, o.input = f, f
	return nil
}

func (o *simulation) closeInput() {
	if o.input != nil {
		o.input.Close()
	}
}

// outputs are the files that were asked for.
func (o *simulation) outputs() []output {
	var wanted []output
	for _, f := range []struct{ kind, path string }{
		{"json", o.json}, {"csv", o.csv}, {"html", o.html}, {"markdown", o.markdown}, {"svg", o.svg},
	} {
		if f.path != "" {
			wanted = append(wanted, output{kind: f.kind, path: f.path})
		}
	}
	return wanted
}

// outputFlags do not change a report.
var outputFlags = []string{"serve", "json", "csv", "html", "markdown", "svg", "wide"}

// reproduce is the command line that makes the same report again.
func (o *simulation) reproduce(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(outputFlags, f.Name) || f.Name == "seed" {
			return
		}
		texts := []string{f.Value.String()}
		if f.Name == "node" {
			texts = o.named
		}
		for _, text := range texts {
			words = append(words, "--"+f.Name, quoted(text))
		}
	})
	return strings.Join(append(words, "--seed", strconv.FormatUint(o.cfg.Seed, 10)), " ")
}

// quoted is a word as a POSIX shell reads it.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=@+%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
