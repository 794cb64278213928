package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// small are flags of a run that takes little time.
func small(t *testing.T, extra ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"--quick", "--requests", "2000", "--keys", "300", "--clients", "4",
		"--load", "own", "--ringside", self, "--dir", t.TempDir()}, extra...)
}

func checkEmpty(t *testing.T, args []string) {
	t.Helper()
	dir := args[len(args)-1]
	for i, a := range args {
		if a == "--dir" {
			dir = args[i+1]
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRunMeasuresAndCleansUp(t *testing.T) {
	t.Setenv("RINGSIDE_TEST_AS_SERVER", "1")
	jsonFile := filepath.Join(t.TempDir(), "out.json")
	args := small(t, "--only", "^(SET|GET) 64B P16 everysec|always", "--rounds", "2", "--json", jsonFile)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	t.Logf("\n%s", &stdout)
	checkEmpty(t, args)

	text, err := os.ReadFile(jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	var rep results
	if err := json.Unmarshal(text, &rep); err != nil {
		t.Fatal(err)
	}
	if len(rep.Pairings) != 2 || len(rep.Pairings[0].Workloads) != 2 || len(rep.Pairings[1].Workloads) != 1 {
		t.Fatalf("the report holds\n%s", text)
	}
	_, err = exec.LookPath("redis-server")
	redis := err == nil
	for _, w := range rep.Pairings[0].Workloads {
		if len(w.Ringside) != 2 || w.Ringside[0].OpsPerSec <= 0 || w.Ringside[0].P99 < w.Ringside[0].P50 {
			t.Errorf("%s: %+v", w.Name, w.Ringside)
		}
		if redis != (len(w.Redis) == 2) || redis != (w.Ratio != nil) {
			t.Errorf("%s: Redis %+v, ratio %+v", w.Name, w.Redis, w.Ratio)
		}
		if !strings.Contains(stdout.String(), w.Command+" P16") {
			t.Errorf("no row for %s", w.Name)
		}
	}
}

func TestRunWithRedisBenchmark(t *testing.T) {
	for _, program := range []string{"redis-server", loadRedisBenchmark} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("RINGSIDE_TEST_AS_SERVER", "1")
	args := small(t, "--only", "(GET|MSET) 64B P16 everysec", "--load", loadRedisBenchmark)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	checkEmpty(t, args)
}

func TestRunShowsWhyAServerFailed(t *testing.T) {
	t.Setenv("RINGSIDE_TEST_AS_SERVER", "broken")
	args := small(t, "--only", "GET 64B P16 everysec")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(stderr.String(), "the disk is on fire") {
		t.Errorf("the output is\n%s%s", &stdout, &stderr)
	}
	checkEmpty(t, args)
}

func TestRunCleansUpWhenInterrupted(t *testing.T) {
	t.Setenv("RINGSIDE_TEST_AS_SERVER", "1")
	args := small(t, "--only", "SET 64B P1 everysec", "--requests", "1000000000")
	ctx, interrupt := context.WithCancel(t.Context())
	defer time.AfterFunc(500*time.Millisecond, interrupt).Stop()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, args, &stdout, &stderr); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	if got := stderr.String(); got != "versus: interrupted\n" {
		t.Errorf("the message is %q", got)
	}
	checkEmpty(t, args)
}
