package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

func TestServedSimulationReadsItsQuery(t *testing.T) {
	base := map[string][]string{"keys": {"20k"}, "seed": {"1"}, "strategies": {"buckets,ketama"}}
	cfg, options, err := readServed(base, url.Values{"nodes": {"4"}, "weight": {"2.5"}, "points": {"40"}, "scenario": {"add"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Members) != 4 || cfg.Members[0].Weight != 2.5 || cfg.Members[1].Weight != 1 || cfg.Base.Points != 40 || cfg.Keys != 20_000 || len(cfg.Strategies) != 2 {
		t.Errorf("%+v", cfg)
	}
	if want := "ringside simulate --keys 20k --node node-1:2.5 --node node-2"; !strings.HasPrefix(options.Command, want) {
		t.Error(options.Command)
	}
	for _, d := range options.Dials {
		if want := map[string]string{"nodes": "4", "weight": "2.5", "points": "40", "scenario": "add", "strategies": "buckets,ketama"}[d.Name]; want != "" && d.Value != want {
			t.Errorf("%s is %s, want %s", d.Name, d.Value, want)
		}
	}
	if _, err := sim.Run(t.Context(), cfg); err != nil {
		t.Error(err)
	}
}

func TestServedSimulationRefusesBadQueries(t *testing.T) {
	for query, want := range map[string]string{
		"nodes=0": "--nodes", "nodes=x": "--nodes", "nodes=1001": "at most 1000", "keys=3m": "at most 2000000", "scenario=frob": "--scenario",
		"strategies=": "strategies", "weight=-1": "--node", "points=0": "--points", "csv=/tmp/x": "not a setting of the page", "keys-file=/etc/passwd": "not a setting",
		"nodes=1&nodes=2": "not a setting of the page", "backups=99": "backups", "zipf=nan": "zipf",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := readServed(nil, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}
