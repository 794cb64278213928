package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

func TestSimulateReportsEveryFaultAtOnce(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := ringside(nil, "simulate", "--nodes", "0", "--strategies", "ketma,mod,vnode:x", "--weight", "3", "--keys", "3q",
		"--value-size", "x", "--hot", "3", "--scenario", "add; ad 5; remove 200%", "--json", filepath.Join(dir, "no", "x.json"), "--csv", "-", "--html", "-",
		"foo", "--order", "up", "--zipf", "x", "--backups", "-1", "--points", "0", "--mask", "0f0f", "--ketama-rule", "z", "--seed", "-1", "--keys-file", filepath.Join(dir, "keys"))
	if code != 2 || stdout != "" {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
	for _, want := range []string{
		"--weight: no such flag", `arguments: "foo" is not expected`, `--order: "up": use random, lifo or fifo`,
		`--keys: "3q" is not a number of keys`, `--value-size: "x"`, `--hot: "3"`, `--zipf: "x" is not a number`, "--keys: not together with --keys-file",
		"--points: 0 is not above 0", "--mask: bad mask: mask 0F0F is not a run of ones", `--ketama-rule: "z": use libketama or twemproxy`, `--seed: "-1" is not`,
		"--backups: -1", `--strategies: unknown strategy: "ketma"`, `--strategies: bad setting: "x"`, "--nodes: no nodes",
		`--scenario: bad scenario: column 6: "ad"`, "--scenario: bad scenario: column 19", "--keys-file: open ", "--json: open ", "--html: - is that of --csv already",
	} {
		if strings.Count(stderr, "ringside: "+want) != 1 {
			t.Errorf("not once %q in\n%s", want, stderr)
		}
	}
	if !strings.HasSuffix(stderr, "See 'ringside simulate --help'.\n") {
		t.Error(stderr)
	}
}

func TestSimulateRefuses(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string
	}{
		{"--node a --node a:2", `--node: duplicate node: "a"`},
		{"--node a:0", "a: 0 is not above 0"},
		{"--node a:-1", "a: -1 is not above 0"},
		{"--node a:nan", "a: NaN is not above 0"},
		{"--node a:x", `"x" is not a number`},
		{"--node a:inf", "is above 1000"},
		{"--node a,b", "bad node id"},
		{"--node a --nodes 3", "--nodes: not together with --node"},
		{"--nodes 1000000", "--nodes: 1000000 are more than 10000"},
		{"--nodes -1", "--nodes: no nodes"},
		{"--nodes x", `--nodes: "x" is not a number, or several with commas between them`},
		{"--nodes 3,4", "--nodes: several numbers only with --csv DIR"},
		{"--iterations 3", "--iterations: only with --csv DIR"},
		{"--csv results --scenario add", "--scenario: not with --csv DIR"},
		{"--csv results --iterations 0", "--iterations: 0 is not within 1..1000"},
		{"--csv results --distribution file", "--distribution: file needs a file of keys"},
		{"--csv results --nodes 5,0", "--nodes: 0 is not within 1..100000"},
		{"--mask 0", "--mask: bad mask"},
		{"--strategies buckets:5", "mask 0005 is not a run of ones"},
		{"--strategies ,", "no strategies"},
		{"--strategies mod,mod", `"mod" comes twice`},
		{"--hash slots", `--hash: "slots": use native, fnv1a, md5, murmur3 or slot`},
		{"--keys 0", `--keys: "0" is not a number of keys from 1 to`},
		{"--keys 999999m", "--keys: "},
		{"--zipf NaN", "--zipf: "},
		{"--hot 2:0.5", "hot keys: 2"},
		{"--scenario explode", "--scenario: bad scenario: column 1"},
		{"--nodes 2 --scenario remove;remove", "--scenario: bad scenario: column 8"},
		{"--json . ", "--json: open "},
		{"--keys-file .", "--keys-file: . is a directory"},
		{"--csv x.csv --json ./x.csv", "--csv: x.csv is that of --json already"},
		{"--svg", "flag needs an argument: --svg"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, stdout, stderr := ringside(nil, append([]string{"simulate"}, strings.Fields(tt.args)...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 2 {
				t.Errorf("exit code %d, want in one line %q\n%s%s", code, tt.want, stdout, stderr)
			}
			if left, _ := os.ReadDir("."); len(left) > 0 {
				t.Errorf("%s is left behind", left[0].Name())
			}
		})
	}
}

func TestSimulateWritesEveryForm(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("r.json"), bytes.Repeat([]byte("old "), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ringside(nil, "simulate", "--node", "a", "--node", "b:2", "--node", "<c>", "--keys", "2k", "--value-size", "10-20", "--mask", "0x000f",
		"--strategies", "buckets,vnode:3,mod", "--scenario", "add; crash; restore", "--order", "fifo", "--seed", "18446744073709551615", "--hash", "slot",
		"--json", file("r.json"), "--csv", file("r.csv"), "--html", file("r.html"), "--markdown", file("r.md"), "--svg", file("r.svg"))
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	for _, want := range []string{"3 nodes, 2,000 keys", "hash slot", "order fifo", "seed 18446744073709551615", "Step 1: add ", "Step 2: crash a", "Step 3: restore a", "\nvnode:3 "} {
		if !strings.Contains(strings.ReplaceAll(stdout, "seed\n", "seed "), want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var report sim.Report
	if err := json.Unmarshal([]byte(read("r.json")), &report); err != nil || len(report.Steps) != 4 || len(report.Contenders) != 3 {
		t.Errorf("JSON: %v, %d steps of %d contenders", err, len(report.Steps), len(report.Contenders))
	}
	if lines, err := csv.NewReader(strings.NewReader(read("r.csv"))).ReadAll(); err != nil || len(lines) != 1+4*3 {
		t.Errorf("CSV: %v, %d lines", err, len(lines))
	}
	page := read("r.html")
	command := "ringside simulate --hash slot --keys 2k --mask 0x000f --node a --node b:2 --node '\\u003cc\\u003e' --order fifo " +
		`--scenario 'add; crash; restore' --strategies buckets,vnode:3,mod --value-size 10-20 --seed 18446744073709551615"`
	if !strings.Contains(page, command) || strings.Contains(page, "<c>") || !strings.HasSuffix(page, "</html>\n") {
		t.Errorf("the page does not say how to get it again:\n%.400s", page[max(0, strings.Index(page, `"command"`)):])
	}
	if text := read("r.md"); !strings.HasPrefix(text, "| moved, of all copies | least possible | buckets |") {
		t.Error(text)
	}
	if text := read("r.svg"); !strings.HasPrefix(text, "<svg ") || !strings.HasSuffix(text, "</svg>\n") {
		t.Errorf("%.100s", text)
	}
}

func TestSimulateToStandardOutput(t *testing.T) {
	args := []string{"simulate", "--nodes", "3", "--keys", "500", "--strategies", "vnode", "--scenario", "add"}
	code, stdout, stderr := ringside(nil, append(args, "--json", "-")...)
	var report sim.Report
	if err := json.Unmarshal([]byte(stdout), &report); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, stdout)
	}
	if stderr != "ringside: seed "+strconv.FormatUint(report.Settings.Seed, 10)+"\n" {
		t.Errorf("the seed is not on standard error: %q", stderr)
	}
	// The same seed has the same outcome; times are not in this form.
	args = append(args, "--markdown", "-", "--seed", strconv.FormatUint(report.Settings.Seed, 10))
	_, first, _ := ringside(nil, args...)
	_, second, _ := ringside(nil, args...)
	if first != second || !strings.HasPrefix(first, "| moved") {
		t.Errorf("%s\nthen\n%s", first, second)
	}
}

func TestSimulateSaysHowManyCopiesAreKept(t *testing.T) {
	code, stdout, stderr := ringside(nil, "simulate", "--nodes", "2", "--backups", "3", "--keys", "100", "--strategies", "ketama", "--scenario", "")
	if code != 0 || stderr != "ringside: --backups 3 needs more than 2 nodes: 2 copies of each key are kept as long as no node is added\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if !strings.Contains(stdout, "3 backups (2 copies at the start)") {
		t.Error(stdout)
	}
}

func TestSimulateTakesKeysOfAnyBytes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte("a\nb\t5\n\xff\x00c\n\n{tag}d\te\t7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ringside(nil, "simulate", "--keys-file", name, "--nodes", "2", "--scenario", "add", "--json", "-")
	var report sim.Report
	if err := json.Unmarshal([]byte(stdout), &report); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if report.Settings.Keys != 4 || report.Settings.KeyFile != name {
		t.Errorf("%d keys of %q", report.Settings.Keys, report.Settings.KeyFile)
	}
}

func testSimulation() *simulation {
	o := newSimulation()
	o.cfg.Keys, o.cfg.Strategies = 100, []string{"vnode"}
	return o
}

func TestSimulateShowsFinishedStepsWhenStopped(t *testing.T) {
	var out, errs bytes.Buffer
	a := app{stdout: &out, stderr: &errs}
	ctx, cancel := context.WithCancel(t.Context())
	run := func(ctx context.Context, cfg sim.Config) (*sim.Report, error) {
		tell := cfg.Progress
		cfg.Progress = func(done, total int, what string) {
			if tell(done, total, what); done > total/2 {
				cancel()
			}
		}
		return sim.Run(ctx, cfg)
	}
	name := filepath.Join(t.TempDir(), "r.json")
	files, err := openOutputs([]output{{kind: "json", path: name}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.simulate(ctx, testSimulation(), files, run); !errors.Is(err, errStopped) {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "Stopped early") {
		t.Error(out.String())
	}
	var report sim.Report
	if text, err := os.ReadFile(name); err != nil || json.Unmarshal(text, &report) != nil || !report.Stopped {
		t.Errorf("the file is not of a report that was stopped (%v)", err)
	}
}

func TestSimulateLeavesFilesAloneWhenItFails(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	if err := os.WriteFile(old, []byte("what was there"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := openOutputs([]output{{kind: "json", path: old}, {kind: "csv", path: fresh}})
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	a := app{stdout: &bytes.Buffer{}, stderr: &errs}
	failing := func(context.Context, sim.Config) (*sim.Report, error) { return nil, errors.New("the keys are gone") }
	if err := a.simulate(t.Context(), testSimulation(), files, failing); !errors.Is(err, errFailed) || errs.String() != "ringside: simulate: the keys are gone\n" {
		t.Errorf("error %v, %q", err, errs.String())
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "what was there" {
		t.Errorf("the old file holds %q (%v)", text, err)
	}
	if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a new file is left behind (%v)", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestSimulateReportsWriteErrors(t *testing.T) {
	var errs bytes.Buffer
	a := app{stdout: fullDisk{}, stderr: &errs}
	if err := a.simulate(t.Context(), testSimulation(), nil, sim.Run); !errors.Is(err, errFailed) || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("error %v, %q", err, errs.String())
	}
	files := outputs{{kind: "csv", path: "-"}}
	errs.Reset()
	if err := a.simulate(t.Context(), testSimulation(), files, sim.Run); !errors.Is(err, errFailed) || !strings.Contains(errs.String(), "write --csv -: ") {
		t.Errorf("error %v, %q", err, errs.String())
	}
}

func TestSimulateHelpExplainsAll(t *testing.T) {
	code, stdout, _ := ringside(nil, "simulate", "--help")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"add 8 at once", "remove 90% at once", "restore", "weight node-3 2", "crash 10%", "shuffle 20",
		"moved %", "÷ least", "surv. %", "CV % by keys", "between survivors", "lookup of a key", "exit code 130",
		"--node id[:weight]", "--strategies a,b,…", "(default 0x00FF)", "(default 0.2:0.8)", "(default 160)", "--wide", "Examples:\n  ringside simulate\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if n := len([]rune(line)); n > 101 {
			t.Errorf("%d wide: %s", n, line)
		}
	}
}

func TestSimulateCompletion(t *testing.T) {
	for _, tt := range []struct {
		flag string
		want []string
	}{
		{"--strategies", []string{"buckets", "ketama", "vnode", "rendezvous", "mod", "vnode:128"}},
		{"--order", []string{"random", "lifo", "fifo"}},
		{"--hash", []string{"native", "slot"}},
		{"--ketama-rule", []string{"libketama", "twemproxy"}},
		{"--key", nil},
	} {
		_, stdout, _ := ringside(nil, "__complete", "simulate", tt.flag, "")
		for _, want := range tt.want {
			if !strings.Contains("\n"+stdout, "\n"+want+"\n") {
				t.Errorf("%s does not offer %s: %q", tt.flag, want, stdout)
			}
		}
	}
}

func TestQuotedWords(t *testing.T) {
	for word, want := range map[string]string{
		"a": "a", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "add; remove": "'add; remove'", "0.2:0.8": "0.2:0.8", "90%": "90%", "ключ": "'ключ'",
	} {
		if got := quoted(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
}

func TestSimulateWritesABenchmarkToADirectory(t *testing.T) {
	randomtest.DrawShort(t, 4)
	dir := filepath.Join(t.TempDir(), "results")
	code, table, stderr := ringside(nil, "simulate", "--csv", dir, "--nodes", "5,20", "--keys", "2k", "--iterations", "2", "--seed", "7",
		"--strategies", "buckets,maglev/key", "--distribution", "uniform,zipf", "--fractions", "0.4")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for name, want := range map[string]int{
		"Balance": 8, "ResizeBalance": 8, "Monotonicity": 8, "MemoryUsage": 4, "LookupTime": 8, "InitTime": 4, "ResizeTime": 4,
	} {
		text, err := os.ReadFile(filepath.Join(dir, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || len(lines) != want+1 {
			t.Errorf("%s has %d lines, want %d (%v)", name, len(lines)-1, want, err)
		}
	}
	for _, want := range []string{"uniform keys, 2,000, in each of 2 iterations", "zipf keys", "maglev/key", "seed 7; all figures are in " + dir} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}
