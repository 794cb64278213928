package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func checkWidth(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > tableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// Neither the widest nor the emptiest figures break the layout.
func TestTableFitsTheTerminal(t *testing.T) {
	cpu := 12345.6
	wide := sample{figures{1_234_567, 12345.678, 12345.678}, &cpu}
	var out bytes.Buffer
	printHead(&out, report{Machine: machine{CPU: strings.Repeat("a very long name of a processor ", 5), Cores: 128,
		Memory: 1 << 40, Kernel: "linux 6.18.44-generic-and-more", FileSystem: "ext4", Go: "go1.26.0", Redis: "7.0.15"},
		Load: loadRedisBenchmark, Clients: 10_000, Keys: maxKeys, Rounds: 1000})
	for _, p := range allPairings(options{requests: 1000, clients: 50, keys: 1000}) {
		printPairingHead(&out, p)
		for _, w := range p.workloads {
			alone := newWorkloadResult(w)
			alone.Ringside = []sample{{}}
			alone.summarize()
			printRow(&out, alone)
			both := newWorkloadResult(w)
			both.Ringside, both.Redis = []sample{wide, wide}, []sample{wide, wide}
			both.summarize()
			both.Ratio.Max = 123.456
			printRow(&out, both)
		}
		printMemory(&out, &memory{Ringside: 9999 << 20, RingsidePeak: 9999 << 20, Redis: 9999 << 20, Bound: 9999 << 20, InFlight: 9999 << 20})
	}
	printFoot(&out, report{Quick: true})
	checkWidth(t, out.String())
}

func TestRow(t *testing.T) {
	cpu := 11.7
	ringside := sample{figures{382_494, 1.399, 9}, &cpu}
	redis := sample{figures{335_000, 1.5, 2.75}, nil}
	r := newWorkloadResult(workload{command: "SET", pipeline: 16, minRatio: 1.1, maxP99: 3})
	r.Ringside, r.Redis = []sample{ringside}, []sample{redis}
	r.summarize()
	var out bytes.Buffer
	printRow(&out, r)
	const want = `
SET P16  Ringside     382  1.14  1.14–1.14   1.40   9.00 11.70  ≥ 1.10 reached
         Redis        335                    1.50   2.75     -  p99 ≤ 3× missed
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("the row is%swant%s", got, want)
	}
}

func TestRowOfRingsideAlone(t *testing.T) {
	r := newWorkloadResult(workload{command: "GET", pipeline: 1, minRatio: 0.9})
	r.Ringside = []sample{{figures: figures{1500, 0.5, 1}}}
	r.summarize()
	var out bytes.Buffer
	printRow(&out, r)
	if got, want := out.String(), "GET P1   Ringside     1.5     -              0.50   1.00     -\n"; got != want {
		t.Errorf("the row is\n%swant\n%s", got, want)
	}
}
