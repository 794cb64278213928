package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/result"
)

func TestLoadtestReportsEveryFaultAtOnce(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := ringside(nil, "loadtest", "--strategies", "ketma,vnode,vnode", "--script", "run 1s; frob", "--mix", "get", "--choice", "zipf x",
		"--value-size", "x", "--ttl", "y", "--rate", "z", "--route", "up", "--assert", "p98<5ms", "--rounds", "x", "--keys", "3q", "--seed", "-1",
		"--read-ratio", "2", "--vs", "nowhere", "--json", filepath.Join(dir, "no", "x.json"), "--clients", "3", "foo")
	if code != 2 || stdout != "" {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
	for _, want := range []string{
		"--clients: no such flag", `arguments: "foo" is not expected`, `--route: "up": use one, any, ring or cluster`, `--rounds: "x" is not a whole number`,
		`--keys: "3q" is not a number of keys`, `--seed: "-1" is not`, "--read-ratio: not together with --mix", "--script: bad script: column 9",
		"--choice: bad choice of keys: column 6", "--value-size: bad value size: column 1", "--ttl: bad time to live: column 1", "--rate: bad rate: column 1",
		"--assert: ", "--vs: compared with what?", "--strategies: bad contestant: column 1: unknown strategy", "--json: open ",
	} {
		if strings.Count(stderr, "ringside: "+want) != 1 {
			t.Errorf("not once %q in\n%s", want, stderr)
		}
	}
}

func TestLoadtestRefuses(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--addr x", `"x" is not host:port`},
		{"--addr a:1 --vs a:0", `--vs: "a:0" is not host:port`},
		{"--addr a:1 --nodes 5", "--nodes: not together with --addr"},
		{"--addr a:1 --vs a:1", "a:1 stands there twice"},
		{"--addr a:1 --script run_1s;join", "--script: bad script"},
		{"--nodes 1 --script run_1s;kill", "column 8: 1 of 1 nodes would go"},
		{"--connections 0", "0 clients"},
		{"--pipeline 0", "pipeline"},
		{"--keys 0", `--keys: "0" is not a number of keys from 1 to`},
		{"--nodes 0 --script run_1s", "0 nodes are not within 1..64"},
		{"--backups=-1", "backups: -1 is not between 0 and"},
		{"--value-size 3", "values that are verified have"},
		{"--keys-file .", "--keys-file: "},
		{"--keys-file no", "--keys-file: open no"},
		{"--html x --json x", "is that of"},
		{"--tls-ca no", "--tls-ca: open no"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			args := strings.Fields(tt.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "_", " ")
			}
			code, stdout, stderr := ringside(nil, append([]string{"loadtest"}, args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) {
				t.Errorf("exit code %d, want %q\n%s%s", code, tt.want, stdout, stderr)
			}
			if left, _ := os.ReadDir("."); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// With --addr alone, each run has a prefix of its own, whose keys are removed. Keys that the user has named are not.
func TestLoadtestOnRunningServerHasItsOwnPrefix(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("user:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, tt := range []struct {
		args   []string
		prefix string // empty: a new one
		clear  bool
	}{
		{[]string{"--addr", "a:1"}, "", true},
		{[]string{"--addr", "a:1", "--vs", "b:1"}, "", true},
		{[]string{"--addr", "a:1", "--prefix", "user:"}, "user:", false},
		{[]string{"--addr", "a:1", "--keys-file", keys}, "key:", false},
		{[]string{}, "key:", false},
	} {
		o := newLoading()
		set := o.settings()
		cmd := &cobra.Command{Use: "loadtest"}
		set.AddTo(cmd)
		err := errors.Join(cmd.ParseFlags(tt.args), set.Load(tt.args, nil, nil))
		if err = errors.Join(append(o.finish(set.Given), err)...); err != nil {
			t.Fatal(err)
		}
		got := o.cfg.Workload.Prefix
		if o.cfg.Clear != tt.clear || tt.prefix != "" && got != tt.prefix {
			t.Errorf("%v: prefix %q, removed: %v", tt.args, got, o.cfg.Clear)
		}
		if tt.prefix == "" && (!strings.HasPrefix(got, "loadtest:") || seen[got]) {
			t.Errorf("%v: prefix %q, want a new one", tt.args, got)
		}
		seen[got] = true
	}
}

// found is a report of one contestant.
func found(change func(*result.Run)) *result.Report {
	run := result.Run{Round: 1, Checked: &result.Checked{Reads: 10}}
	run.All.Operations, run.All.UntilMS = 1000, 1000
	change(&run)
	return &result.Report{Version: result.Version, Script: "run 1s", WindowMS: 100, Rounds: 1, Contestants: []result.Contestant{{Name: "vnode", Runs: []result.Run{run}}}}
}

// What was lost, what broke off and what was claimed in vain make the exit code 1; an
// interrupted test is told apart.
func TestLoadtestTellsByItsExitCode(t *testing.T) {
	for name, c := range map[string]struct {
		assert string
		change func(*result.Run)
		want   error
		says   string
	}{
		"well":         {"throughput>500", func(*result.Run) {}, nil, ""},
		"lost":         {"", func(r *result.Run) { r.Checked.Lost = 1 }, errFailed, "1 lost"},
		"stale":        {"", func(r *result.Run) { r.Checked.Stale = 2 }, errFailed, "2 stale"},
		"corrupt":      {"", func(r *result.Run) { r.Checked.Corrupt = 3 }, errFailed, "3 corrupt"},
		"broke off":    {"", func(r *result.Run) { r.Failure = "it is gone" }, errFailed, "vnode, round 1: it is gone"},
		"claim":        {"throughput>5000", func(*result.Run) {}, errFailed, "throughput"},
		"interrupted":  {"throughput>5000", func(r *result.Run) { r.Failure = "interrupted" }, errStopped, ""},
		"lost as well": {"", func(r *result.Run) { r.Failure, r.Checked.Lost = "interrupted", 1 }, errFailed, "1 lost"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newLoading()
			o.assert = c.assert
			if faults := o.finish(func(string) bool { return false }); len(faults) > 0 {
				t.Fatal(faults)
			}
			var stdout, stderr bytes.Buffer
			a := app{stdout: &stdout, stderr: &stderr}
			r := found(c.change)
			r.Interrupted = r.Contestants[0].Runs[0].Failure == "interrupted"
			err := a.loadtest(t.Context(), o, nil, func(_ context.Context, cfg loadtest.Config) (*result.Report, error) {
				cfg.Progress([]report.State{{Contestant: "vnode", Phase: "run 1s"}})
				return r, nil
			})
			if !errors.Is(err, c.want) || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("%v, %s", err, &stderr)
			}
			if !strings.Contains(stdout.String(), "throughput") {
				t.Errorf("no table:\n%s", &stdout)
			}
		})
	}
}

// Every form is written to its file, and one to standard output in the table's place.
func TestLoadtestWritesEveryForm(t *testing.T) {
	t.Chdir(t.TempDir())
	o := newLoading()
	o.json, o.csv, o.events, o.hdr, o.html, o.markdown, o.svg = "r.json", "r.csv", "e.csv", "r.hdr", "r.html", "-", "r.svg"
	if faults := o.finish(func(string) bool { return false }); len(faults) > 0 {
		t.Fatal(faults)
	}
	outputs, err := openOutputs(o.outputs())
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	a := app{stdout: &stdout, stderr: &stderr}
	if err := a.loadtest(t.Context(), o, outputs, func(context.Context, loadtest.Config) (*result.Report, error) {
		return found(func(*result.Run) {}), nil
	}); err != nil {
		t.Fatal(err)
	}
	for file, begin := range map[string]string{"r.json": "{", "r.csv": "contestant,", "e.csv": "contestant,", "r.hdr": "#", "r.html": "<!DOCTYPE html>", "r.svg": "<svg"} {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.HasPrefix(bytes.ToLower(text), []byte(strings.ToLower(begin))) {
			t.Errorf("%s: %v, %.60s", file, err, text)
		}
	}
	if !strings.Contains(stdout.String(), "| throughput") {
		t.Errorf("no Markdown:\n%s", &stdout)
	}
}

// What a test can be repeated with names all that was chosen, and no password.
func TestLoadtestCanBeRepeated(t *testing.T) {
	dir := t.TempDir()
	code, _, stderr := ringside([]string{"RINGSIDE_REQUIREPASS=secret", "RINGSIDE_ADDR=127.0.0.1:2"}, "loadtest", "--addr", "one=127.0.0.1:1", "--vs", "two=127.0.0.1:1",
		"--script", "run 100ms", "--seed", "7", "--json", filepath.Join(dir, "r.json"))
	if code != 1 || strings.Count(stderr, "connection refused") < 2 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	f, err := os.Open(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := "ringside loadtest --addr one=127.0.0.1:1 --script 'run 100ms' --vs two=127.0.0.1:1 --seed 7"; r.Command != want {
		t.Errorf("%s\nwant\n%s", r.Command, want)
	}
	for _, s := range r.Settings {
		if s.Name == "requirepass" || strings.Contains(s.Value, "secret") {
			t.Errorf("%+v", s)
		}
	}
}
