package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/loadtest/client"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// loading is what the flags of one ringside loadtest say.
type loading struct {
	access
	cfg loadtest.Config

	strategies      string
	addr            string
	vs              []string
	script          string
	mix, choice     string
	reads           string
	sizes, ttl      string
	rate            string
	keysFile        string
	verify          bool
	route           string
	json, csv, html string
	junit           string
	hdr, events     string
	markdown, svg   string
	assert          string
	wide            bool

	assertion report.Assertion
}

// Default settings of a load test.
const (
	usualStrategies = "buckets,ketama,vnode"
	usualMix        = "80 get; 20 set"
	// usualScriptAt is the script for what runs already.
	usualScriptAt = "load 200000; run 20s"
)

func newLoading() *loading {
	o := &loading{
		strategies: usualStrategies, script: loadtest.DefaultScript, mix: usualMix, choice: "zipf", sizes: "100", verify: true,
		route: client.Any.String(),
	}
	o.cfg.Rounds = 1
	o.cfg.Workload.Clients = 50
	o.cfg.Workload.Prefix = "key:"
	o.cfg.Pipeline = 1
	o.cfg.Timeout = 10 * time.Second
	o.cfg.Window = 100 * time.Millisecond
	o.cfg.Workload.Seed = uint64(rand.Uint32()) // short enough to be copied by hand
	o.cfg.Fleet = cluster.Config{Nodes: 3, Backups: 1, Hash: node.HashNative, Fsync: node.FsyncEverysec, RereplicateAfter: cluster.DefaultRereplicateAfter}
	return o
}

// settings are the flags of loadtest.
func (o *loading) settings() *settings.Set {
	s := settings.New(envPrefix)
	file := func(name string, p *string, usage string) {
		s.Add(name, settings.Text(p, "FILE"), usage+"; - is standard output", settings.Files())
	}
	w, f := &o.cfg.Workload, &o.cfg.Fleet

	s.Group("Contestants")
	s.Add("strategies", settings.Text(&o.strategies, "a,b,…"),
		"strategies, each in a cluster of its own: "+strings.Join(strategy.Names(), ", ")+"; a setting may follow, as in vnode:128; all = every one", settings.Choices(append(strategy.Names(), "vnode:128", "all")...))
	s.Add("addr", settings.Text(&o.addr, "[name=]host:port,…"), "running servers to test instead: Ringside, Redis, Redis Cluster, Valkey, any server that speaks RESP")
	s.Add("vs", settings.List(&o.vs, "[name=]host:port,…"), "another server to compare with; may be given several times")
	s.Add("rounds", settings.Count(&o.cfg.Rounds), "repetitions of the script, in turns")
	s.Add("seed", settings.Func("n", "", o.setSeed), "seed of all random choices: with the same one each connection sends the same requests in the same order (default: a new one, which is printed)")

	s.Group("Script and clusters")
	s.Add("script", settings.Text(&o.script, "steps"), "steps, as described above (with --addr: "+usualScriptAt+")")
	s.Add("nodes", settings.Count(&f.Nodes), "nodes of a cluster at the start")
	s.Add("backups", settings.Count(&f.Backups), "copies beside the primary")
	s.Add("hash", settings.OneOf(&f.Hash, strategy.Hashes()...), "native = each strategy's own hash; or the same for all; slot = Redis Cluster slots", settings.Choices(strategy.Hashes()...))
	s.Add("fsync", settings.OneOf(&f.Fsync, node.Choices("fsync")...), "when writes are on disk", settings.Choices(node.Choices("fsync")...))
	s.Add("rereplicate-after", settings.Duration(&f.RereplicateAfter), "time that a node may be away before others take its place")
	s.Add("processes", settings.YesNo(&f.Processes), "run each node as its own process, not all in this one", settings.Choices("yes", "no"))

	s.Group("Clients")
	s.Add("connections", settings.Count(&w.Clients), "clients that send requests at the same time")
	s.Add("pipeline", settings.Count(&o.cfg.Pipeline), "commands that each client has in flight")
	s.Add("route", settings.OneOf(&o.route, "one", "any", "ring", "cluster"),
		"how commands get to their node: one = all through the first node, a sidecar; any = through any node; ring = Ringside's routing client; cluster = a Redis Cluster client", settings.Choices("one", "any", "ring", "cluster"))
	s.Add("mix", settings.Text(&o.mix, "commands"), "commands and their frequency, such as 90 get; 8 set; 2 mget 10; any command with __key__ and __data__ is possible")
	s.Add("read-ratio", settings.Text(&o.reads, "0..1"), "instead of a mix: the share of get; the rest is set")
	s.Add("keys", settings.Func("n", "", o.setKeys), "number of keys; k and m are thousands and millions (default: as many as the script loads)")
	s.Add("keys-file", settings.Text(&o.keysFile, "FILE"), "file of keys to use instead, one a line", settings.Files())
	s.Add("overwrite", settings.YesNo(&o.cfg.Overwrite), "with --addr and --keys-file: write also keys that are there already, whose values are lost", settings.Choices("yes", "no"))
	s.Add("prefix", settings.Text(&w.Prefix, "text"), "prefix of all keys; with --addr the default is a new one, whose keys are removed at the end")
	s.Add("choice", settings.Text(&o.choice, "how"), "choice of keys: uniform, zipf [exponent], hotspot 1% 90%, latest, sequential")
	s.Add("value-size", settings.Text(&o.sizes, "bytes"), "size of values: 100, 10..1000, exp 100 or lognormal 100 1.5")
	s.Add("ttl", settings.Text(&o.ttl, "time"), "time to live of values, as in 30s or 1s..5m (default: none)")
	s.Add("rate", settings.Text(&o.rate, "n"), "operations per second of all clients together, answered or not, as in 20000 or 1000..20000 over 30s (default: each client sends its next request after the reply)")
	s.Add("think", settings.Duration(&o.cfg.Think), "pause of a client after each reply")
	s.Add("timeout", settings.Duration(&o.cfg.Timeout), "time that a client waits for a reply")
	s.Add("verify", settings.YesNo(&o.verify), "check every reply: count lost, stale and corrupt values", settings.Choices("yes", "no"))

	o.access.add(s)

	s.Group("Output, beside or instead of the table")
	s.Add("assert", settings.Text(&o.assert, "claims"), "fail unless all of them hold, such as p99<5ms, errors=0")
	file("html", &o.html, "write a page with charts")
	file("json", &o.json, "write all figures")
	file("csv", &o.csv, "write a line for each window of time")
	file("events-csv", &o.events, "write a line for each event")
	file("hdr", &o.hdr, "write histograms as a log of HdrHistogram")
	file("markdown", &o.markdown, "write a verdict and tables for a README or a summary of CI")
	file("junit", &o.junit, "write rounds and assertions as test results for CI")
	file("svg", &o.svg, "write a picture for a README")
	for other, name := range map[string]string{
		"c": "connections", "clients": "connections", "connection": "connections", "P": "pipeline", "n": "keys", "d": "value-size", "data-size": "value-size",
		"host": "addr", "h": "addr", "p": "addr", "server": "addr", "strategy": "strategies", "replicas": "backups", "workload": "mix", "ratio": "read-ratio",
		"distribution": "choice", "duration": "script", "expiry": "ttl", "out": "html", "output": "html", "md": "markdown", "qps": "rate", "window": "csv",
	} {
		s.AlsoKnownAs(other, name)
	}
	return s
}

func (o *loading) setSeed(text string) (err error) {
	o.cfg.Workload.Seed, err = parseSeed(text)
	return err
}

func (o *loading) setKeys(text string) (err error) {
	o.cfg.Workload.Keys, err = parseKeys(text, workload.MaxKeys)
	return err
}

// finish makes the configuration whole and returns what is wrong with it. given tells which
// flags were.
func (o *loading) finish(given func(flag string) bool) []error {
	var faults []error
	fault := func(flag string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	w := &o.cfg.Workload
	var err error
	if given("read-ratio") {
		if given("mix") {
			fault("read-ratio", errors.New("not together with --mix"))
		}
		o.mix, err = mixOf(o.reads)
		fault("read-ratio", err)
	}
	if o.addr != "" && !given("script") {
		o.script = usualScriptAt
	}
	o.cfg.Script, err = loadtest.ParseScript(o.script)
	fault("script", err)
	w.Mix, err = workload.ParseMix(o.mix)
	fault("mix", err)
	w.Choice, err = workload.ParseChoice(o.choice)
	fault("choice", err)
	w.Sizes, err = workload.ParseSizes(o.sizes)
	fault("value-size", err)
	if o.ttl != "" {
		w.TTL, err = workload.ParseTTL(o.ttl)
		fault("ttl", err)
	}
	w.Rate, err = workload.ParseRate(o.rate)
	fault("rate", err)
	o.cfg.Route, err = client.ParseRoute(o.route)
	fault("route", err)
	o.assertion, err = report.ParseAssert(o.assert)
	fault("assert", err)
	if o.keysFile != "" {
		if given("keys") {
			fault("keys", errors.New("not together with --keys-file, which has as many as it has"))
		}
		w.Names, err = readKeys(o.keysFile)
		fault("keys-file", err)
	}
	faults = append(faults, o.contestants(given)...)
	if o.addr != "" && !given("prefix") && o.keysFile == "" {
		// No other program has keys of this prefix, so they may be removed.
		w.Prefix, o.cfg.Clear = fmt.Sprintf("loadtest:%08x:", rand.Uint32()), true
	}
	o.cfg.Verify, o.cfg.Fleet.Seed = o.verify, w.Seed
	o.cfg.Password = o.password
	if o.addr == "" {
		o.cfg.Password = ""
	}
	o.cfg.TLS = o.tlsConfig("", func(flag, format string, args ...any) { fault(flag, fmt.Errorf(format, args...)) })
	if len(faults) > 0 {
		return faults // the rest would follow from these
	}
	for _, err := range parts(o.cfg.Validate()) {
		if errors.Is(err, loadtest.ErrScript) {
			err = fmt.Errorf("--script: %w", err)
		}
		faults = append(faults, err)
	}
	return faults
}

// contestants are strategies, or what runs somewhere.
func (o *loading) contestants(given func(flag string) bool) (faults []error) {
	if o.addr == "" {
		if len(o.vs) > 0 {
			faults = append(faults, errors.New("--vs: compared with what? --addr is missing"))
		}
		all, err := cluster.ParseContestants(o.strategies, o.cfg.Fleet.Hash)
		for _, err := range parts(err) {
			faults = append(faults, fmt.Errorf("--strategies: %w", err))
		}
		for _, c := range all {
			o.cfg.Contestants = append(o.cfg.Contestants, loadtest.Contestant{Name: c.Name, Strategy: c.Name})
		}
		return faults
	}
	for _, flag := range []string{"strategies", "nodes", "backups", "hash", "fsync", "processes", "rereplicate-after"} {
		if given(flag) {
			faults = append(faults, fmt.Errorf("--%s: not together with --addr, where everything runs already", flag))
		}
	}
	for i, text := range append([]string{o.addr}, o.vs...) {
		flag := "addr"
		if i > 0 {
			flag = "vs"
		}
		one, err := parseTarget(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("--%s: %w", flag, err))
			continue
		}
		o.cfg.Contestants = append(o.cfg.Contestants, one)
	}
	return faults
}

// parseTarget reads [name=]host:port,…
func parseTarget(text string) (loadtest.Contestant, error) {
	c := loadtest.Contestant{Name: text}
	if name, addrs, ok := strings.Cut(text, "="); ok {
		c.Name, text = name, addrs
	}
	for addr := range strings.SplitSeq(text, ",") {
		host, port, err := net.SplitHostPort(strings.TrimSpace(addr))
		if err != nil || port == "" || port == "0" {
			return c, fmt.Errorf("%.80q is not host:port, as in 127.0.0.1:6379", addr)
		}
		if host == "" {
			host = "127.0.0.1"
		}
		c.Addrs = append(c.Addrs, net.JoinHostPort(host, port))
	}
	return c, nil
}

// mixOf is a mix of reads and writes.
func mixOf(reads string) (string, error) {
	share, err := strconv.ParseFloat(reads, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return usualMix, fmt.Errorf("%.40q is not a part of 1, as in 0.8", reads)
	}
	const parts = 10_000
	n := int(share*parts + 0.5)
	switch n {
	case 0:
		return "1 set", nil
	case parts:
		return "1 get", nil
	}
	return fmt.Sprintf("%d get; %d set", n, parts-n), nil
}

// readKeys reads a key a line.
func readKeys(path string) (names [][]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text := lines.Bytes(); len(text) > 0 {
			names = append(names, append([]byte(nil), text...))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no key", path)
	}
	return names, nil
}

// outputs are the files that were asked for.
func (o *loading) outputs() []output {
	var wanted []output
	for _, f := range []struct{ kind, path string }{
		{"json", o.json}, {"csv", o.csv}, {"events-csv", o.events}, {"hdr", o.hdr}, {"html", o.html}, {"markdown", o.markdown}, {"junit", o.junit}, {"svg", o.svg},
	} {
		if f.path != "" {
			wanted = append(wanted, output{kind: f.kind, path: f.path})
		}
	}
	return wanted
}
