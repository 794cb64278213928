package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/loadtest/report"
)

func TestLoadtestDiffHasAnExitCode(t *testing.T) {
	randomtest.DrawShort(t, 4)
	example := filepath.Join("..", "..", "loadtest", "report", "example", "report.json")
	r, err := readReport(example)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string) string {
		file := filepath.Join(dir, name)
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := report.JSON(f, r); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for i := range r.Contestants[0].Runs {
		r.Contestants[0].Runs[i].All.Latency.P99 *= 2
	}
	slower := write("slower.json")
	for i := range r.Contestants {
		r.Contestants[i].Name += " renamed"
	}
	others := write("others.json")
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"version": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{example + " " + example, 0, "Nothing is worse."},
		{example + " " + slower, 1, "Worse: buckets p99."},
		{slower + " " + example, 0, "better: buckets p99."},
		{example + " " + slower + " --tolerance 150%", 0, "Nothing is worse."},
		{example + " " + slower + " --junit -", 1, `<testcase classname="buckets" name="p99">`},
		{example + " " + slower + " --markdown -", 1, "Worse: buckets p99."},
		{example + " " + others, 2, "no contestant is in both reports"},
		{example + " " + bad, 2, "unknown version of a report"},
		{example + " " + filepath.Join(dir, "absent"), 2, "absent"},
		{example, 2, "accepts 2 arg(s)"},
		{example + " " + example + " --tolerance x", 2, "--tolerance"},
		{example + " " + example + " --frob", 2, "unknown flag: --frob"},
	} {
		code, stdout, stderr := ringside(nil, append([]string{"loadtest", "diff"}, strings.Fields(tt.args)...)...)
		if code != tt.code || !strings.Contains(stdout+stderr, tt.says) {
			t.Errorf("%s: %d, want %d with %q:\n%.300s%s", tt.args, code, tt.code, tt.says, stdout, stderr)
		}
	}
}
