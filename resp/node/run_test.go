package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ringside-kv/ringside/store"
)

func TestIntactIsProved(t *testing.T) {
	known := run{Format: runFormat, Boot: "first", Fsync: "everysec", Registered: 7}
	with := func(change func(r *run)) run {
		r := known
		change(&r)
		return r
	}
	for _, test := range []struct {
		name   string
		last   run
		boot   string
		intact bool
	}{
		{"nothing is known of the directory", run{}, "first", false},
		{"kill -9 on a machine that goes on", known, "first", true},
		{"the machine was started again", known, "second", false},
		{"the machine was started again after a clean stop", with(func(r *run) { r.Stopped = true }), "second", true},
		{"the machine was started again, and its disk had everything", with(func(r *run) { r.Fsync = "always" }), "second", true},
		{"kill -9, and nothing says that the system had everything", with(func(r *run) { r.Fsync = "no" }), "first", false},
		{"a clean stop with what the system had", with(func(r *run) { r.Fsync, r.Stopped = "no", true }), "second", true},
		{"the machine has no id", with(func(r *run) { r.Boot = "" }), "", false},
		{"something was lost before a start that the cluster has not heard of", with(func(r *run) { r.Lost = true }), "first", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			next := test.last.next(test.boot, store.FsyncEverySec)
			if intact, after := next.intact(); intact != test.intact || after != test.last.Registered {
				t.Errorf("%v, after %d", intact, after)
			}
			if next.Stopped {
				t.Error("a node that runs is not stopped")
			}
		})
	}
}

// A start that ends before the cluster hears of it neither hides a loss nor is one.
func TestStartsBetweenRegistrationsAreNoGap(t *testing.T) {
	dir := t.TempDir()
	r := run{Format: runFormat, Boot: "first", Fsync: "everysec", Registered: 7}
	for _, step := range []struct {
		boot   string
		intact bool
	}{{"first", true}, {"first", true}, {"second", false}, {"second", false}} {
		if err := r.save(dir); err != nil {
			t.Fatal(err)
		}
		last, err := loadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		r = last.next(step.boot, store.FsyncEverySec)
		if intact, after := r.intact(); intact != step.intact || after != 7 {
			t.Errorf("boot %s: %v, after %d", step.boot, intact, after)
		}
	}
}

func TestRunThatCannotBeReadProvesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", `{"format":2,"stopped":true,"registered":"7"}`} {
		if err := os.WriteFile(filepath.Join(dir, runFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		last, err := loadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		next := last.next("first", store.FsyncAlways)
		if intact, _ := next.intact(); intact {
			t.Errorf("%q", text)
		}
	}
}
