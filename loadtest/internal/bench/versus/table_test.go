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
		if strings.ContainsRune(line, utf8.RuneError) {
			t.Errorf("not a text: %q", line)
		}
	}
}

// resultOf is that of one round. Redis may be nil.
func resultOf(w workload, ringside sample, redis *sample) workloadResult {
	sides := []sideResult{{Name: asRingside, Samples: []sample{ringside}}}
	if redis != nil {
		sides = append(sides, sideResult{Name: asRedis, Samples: []sample{*redis}})
	}
	return newResult(w, sides)
}

// Neither the widest nor the emptiest figures break the layout.
func TestTableFitsTheTerminal(t *testing.T) {
	cpu := 12345.6
	wide := sample{figures: figures{1_234_567, 12345.678, 12345.678}, CPU: &cpu}
	var out bytes.Buffer
	printHead(&out, &results{Machine: machine{CPU: strings.Repeat("a very long name of a processor ", 5), Cores: 128,
		Memory: 1 << 40, Kernel: "linux 6.18.44-generic-and-more", FileSystem: "ext4", Go: "go1.26.0", Redis: "7.0.15"},
		Load: loadRedisBenchmark, Clients: 10_000, Keys: maxKeys, Rounds: 1000})
	pairs, err := selectPairings(options{requests: 1000, clients: 50, keys: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		pairingTable.row(&out, pairingTable.head...)
		for _, w := range p.Workloads {
			alone := resultOf(w, sample{}, nil)
			pairingTable.printRows(&out, &alone)
			both := resultOf(w, wide, &wide)
			both.Ratio.Max = 123.456
			pairingTable.printRows(&out, &both)
		}
		(&memory{Ringside: 9999 << 20, RingsidePeak: 9999 << 20, Redis: 9999 << 20, Bound: 9999 << 20, InFlight: 9999 << 20}).print(&out)
	}
	pairingTable.printFoot(&out, true)
	checkWidth(t, out.String())
}

func TestRow(t *testing.T) {
	cpu := 11.7
	ringside := sample{figures: figures{382_494, 1.399, 9}, CPU: &cpu}
	redis := sample{figures: figures{335_000, 1.5, 2.75}}
	r := resultOf(workload{Command: "SET", Pipeline: 16, MinRatio: 1.1, MaxP99: 3}, ringside, &redis)
	var out bytes.Buffer
	pairingTable.printRows(&out, &r)
	const want = `
SET P16  Ringside     382  1.14  1.14–1.14   1.40   9.00 11.70  ≥ 1.10 reached
         Redis        335                    1.50   2.75     -  p99 ≤ 3× missed
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("the row is%swant%s", got, want)
	}
}

func TestRowOfRingsideAlone(t *testing.T) {
	r := resultOf(workload{Command: "GET", Pipeline: 1, MinRatio: 0.9}, sample{figures: figures{1500, 0.5, 1}}, nil)
	var out bytes.Buffer
	pairingTable.printRows(&out, &r)
	if got, want := out.String(), "GET P1   Ringside     1.5     -              0.50   1.00     -\n"; got != want {
		t.Errorf("the row is\n%swant\n%s", got, want)
	}
}

func TestRowsOfLongNames(t *testing.T) {
	r := resultOf(workload{Command: "HGETALL_1000", Pipeline: 16, MinRatio: 0.5, MaxP99: 4},
		sample{figures: figures{5000, 100, 200}}, &sample{figures: figures{8000, 80, 100}})
	var out bytes.Buffer
	pairingTable.printRows(&out, &r)
	r.Redis = nil
	pairingTable.printRows(&out, &r)
	const want = `
HGETALL  Ringside     5.0  0.62  0.62–0.62  100.0  200.0     -  ≥ 0.50 reached
of 1000  Redis        8.0                   80.00  100.0     -  p99 ≤ 4× reached
HGETALL  Ringside     5.0  0.62  0.62–0.62  100.0  200.0     -  ≥ 0.50 reached
of 1000
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("the rows are%swant%s", got, want)
	}
}
