package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ringside-kv/ringside/loadtest/live"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// serveAddr is where --serve without an address listens.
const serveAddr = "127.0.0.1:8379"

// Bounds of what a page may ask for, so that a slip of a slider is no work for minutes.
const (
	mostServedKeys  = 2_000_000
	mostServedNodes = 1000
)

// served are the flags that the page can change. All others are those of the command line.
var served = []string{"nodes", "weight", "points", "vnodes", "mask", "backups", "strategies", "hash", "scenario", "order", "zipf", "hot", "keys", "seed"}

// serveSimulation shows the simulation as a page with sliders until ctx ends.
func (a *app) serveSimulation(ctx context.Context, o *simulation, cmd *cobra.Command) error {
	base := map[string][]string{"keys": {"200k"}, "seed": {"1"}}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(outputFlags, f.Name) {
			return
		}
		base[f.Name] = []string{f.Value.String()}
		if f.Name == "node" {
			base[f.Name] = o.named
		}
	})
	l, err := live.Listen(ctx, o.serve)
	if err != nil {
		fmt.Fprintf(a.stderr, "ringside: --serve: %v\n", err)
		return errFailed
	}
	server := &http.Server{
		Handler: live.NewHandler(live.Config{Read: func(query url.Values) (sim.Config, report.PageOptions, error) {
			return readServed(base, query)
		}}),
		ReadHeaderTimeout: 5 * time.Second,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	fmt.Fprintf(a.stdout, "http://%s/ shows the simulation; Ctrl-C ends it\n", l.Addr())
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Requests that still compute end with their connections.
		err = server.Close()
		<-ended
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintf(a.stderr, "ringside: --serve: %v\n", err)
		return errFailed
	}
	return nil
}

// readServed reads the settings of a query as flags, on top of those of the command line.
func readServed(base map[string][]string, query url.Values) (sim.Config, report.PageOptions, error) {
	o := newSimulation()
	set := o.settings()
	cmd := &cobra.Command{Use: "simulate"}
	(&cobra.Command{Use: "ringside"}).AddCommand(cmd)
	set.AddTo(cmd)
	all := make(map[string][]string, len(base)+len(query))
	for name, texts := range base {
		all[name] = texts
	}
	weight := ""
	for name, texts := range query {
		if !slices.Contains(served, name) || len(texts) != 1 {
			return sim.Config{}, report.PageOptions{}, fmt.Errorf("%.40q is not a setting of the page; it has %s", name, strings.Join(served, ", "))
		}
		if name == "weight" {
			weight = texts[0]
			continue
		}
		all[name] = texts
	}
	if len(all["node"]) > 0 {
		delete(all, "nodes")
	} else if weight != "" && weight != "1" {
		n := len(o.cfg.Members)
		if texts := all["nodes"]; len(texts) > 0 {
			n, _ = strconv.Atoi(texts[0])
		}
		delete(all, "nodes")
		for i, m := range sim.Nodes(max(0, min(n, mostServedNodes))) {
			if i == 0 {
				m.ID += ":" + weight
			}
			all["node"] = append(all["node"], m.ID)
		}
	}
	var args []string
	for name, texts := range all {
		for _, text := range texts {
			args = append(args, "--"+name+"="+text)
		}
	}
	err := errors.Join(cmd.ParseFlags(args), set.Load(args, nil, nil))
	err = errors.Join(append(parts(err), o.finish(set.Given)...)...)
	switch {
	case err != nil:
	case o.cfg.Keys > mostServedKeys:
		err = fmt.Errorf("--keys: a page has at most %d", mostServedKeys)
	case len(o.cfg.Members) > mostServedNodes:
		err = fmt.Errorf("--nodes: a page has at most %d", mostServedNodes)
	}
	return o.cfg, report.PageOptions{Command: o.reproduce(cmd), Version: versionName(), Dials: o.dials(weight, len(base["node"]) > 0)}, err
}

// dials are the settings of the page. Nodes that have names keep them.
func (o *simulation) dials(weight string, named bool) []report.Dial {
	if weight == "" {
		weight = "1"
	}
	number := func(n int) string { return strconv.Itoa(n) }
	all := []report.Dial{
		{Name: "strategies", Label: "Strategies", Kind: "set", Value: strings.Join(o.cfg.Strategies, ","), Choices: append(strategy.Names(), sim.Mod)},
		{Name: "nodes", Label: "Nodes at the start", Kind: "range", Value: number(len(o.cfg.Members)), Min: 1, Max: 60, Step: 1},
		{Name: "weight", Label: "Weight of node-1", Kind: "range", Value: weight, Min: 0.25, Max: 8, Step: 0.25},
		{Name: "backups", Label: "Backups", Kind: "range", Value: number(o.cfg.Backups), Max: 4, Step: 1},
		{Name: "points", Label: "Points of ketama", Kind: "range", Value: number(o.cfg.Base.Points), Min: 4, Max: 640, Step: 4},
		{Name: "vnodes", Label: "Points of vnode", Kind: "range", Value: number(o.cfg.Base.VNodes), Min: 1, Max: 512, Step: 1},
		{Name: "zipf", Label: "Zipf exponent of requests", Kind: "range", Value: strconv.FormatFloat(o.cfg.ZipfTheta, 'g', -1, 64), Max: 2, Step: 0.01},
		{Name: "hot", Label: "Hotspot: part of keys and of requests", Kind: "choice", Value: hotText(&o.cfg), Choices: []string{"0.2:0.8", "0.1:0.9", "0.01:0.5", "0.001:0.9"}},
		{Name: "hash", Label: "Hash", Kind: "choice", Value: o.cfg.Base.Hash, Choices: strategy.Hashes()},
		{Name: "order", Label: "Nodes that leave", Kind: "choice", Value: o.cfg.Order, Choices: []string{sim.Random, sim.LIFO, sim.FIFO}},
		{Name: "keys", Label: "Keys", Kind: "choice", Value: number(o.cfg.Keys), Choices: []string{"20000", "200000", "1000000"}},
		{Name: "seed", Label: "Seed", Kind: "range", Value: strconv.FormatUint(o.cfg.Seed, 10), Max: 100, Step: 1},
		{Name: "scenario", Label: "Scenario", Kind: "text", Value: o.cfg.Scenario, Choices: []string{
			sim.DefaultScenario, "add; remove; add 5; crash; weight 2", "add 10", "remove 5", "crash; restore", "shuffle 20", "strategy ketama; strategy buckets",
		}},
	}
	if named {
		all = slices.DeleteFunc(all, func(d report.Dial) bool { return d.Name == "nodes" || d.Name == "weight" })
	}
	return all
}
