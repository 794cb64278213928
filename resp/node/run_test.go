package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store"
)

func TestIntactIsProved(t *testing.T) {
	known := run{Format: runFormat, Boot: "first", Fsync: "everysec", Registered: 7}
	with := func(change func(r *run)) run {
		r := known
		change(&r)
		return r
	}
	type test struct {
		name   string
		last   run
		boot   string
		intact bool
	}
	check := func(test test, around startConditions) {
		t.Run(test.name, func(t *testing.T) {
			next := test.last.next(time.Now(), around, store.FsyncEverySec)
			if intact, after := next.intact(); intact != test.intact || after != test.last.Registered {
				t.Errorf("%v, after %d", intact, after)
			}
			if next.Stopped {
				t.Error("a node that runs is not stopped")
			}
		})
	}
	for _, test := range []test{
		{"kill -9 after the log had failed", known, "first", false},
		{"the log had failed, and was healed by a clean stop", with(func(r *run) { r.Stopped = true }), "first", true},
		{"the log had failed, and its disk had everything", with(func(r *run) { r.Fsync = "always" }), "first", true},
	} {
		check(test, startConditions{test.boot, "here", true})
	}
	for _, test := range []test{
		{"nothing is known of the directory", run{}, "first", false},
		{"kill -9 on a machine that goes on", known, "first", true},
		{"the machine was started again", known, "second", false},
		{"the machine was started again after a clean stop", with(func(r *run) { r.Stopped = true }), "second", true},
		{"the machine was started again, and its disk had everything", with(func(r *run) { r.Fsync = "always" }), "second", true},
		{"kill -9, and nothing says that the system had everything", with(func(r *run) { r.Fsync = "no" }), "first", false},
		{"a clean stop with what the system had", with(func(r *run) { r.Fsync, r.Stopped = "no", true }), "second", true},
		{"the machine has no id", with(func(r *run) { r.Boot = "" }), "", false},
		{"kill -9 where the place is not moved", with(func(r *run) { r.Place = "here" }), "first", true},
		{"a copy of a directory that was in use", with(func(r *run) { r.Place = "there" }), "first", false},
		{"the same, and its disk had everything", with(func(r *run) { r.Place, r.Fsync = "there", "always" }), "first", false},
		{"a copy of a directory after a clean stop", with(func(r *run) { r.Place, r.Stopped = "there", true }), "second", true},
		{"something was lost before a start that the cluster has not heard of", with(func(r *run) { r.Lost = true }), "first", false},
	} {
		check(test, startConditions{test.boot, "here", false})
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
		r = last.next(time.Now(), startConditions{boot: step.boot}, store.FsyncEverySec)
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
		next := last.next(time.Now(), startConditions{boot: "first"}, store.FsyncAlways)
		if intact, _ := next.intact(); intact {
			t.Errorf("%q", text)
		}
	}
}

// Also if the clock is set back between them, and if the cluster has registered one of
// which the directory has not heard.
func TestEachStartHasAHigherNumber(t *testing.T) {
	dir, now, highest := t.TempDir(), time.Now(), uint64(0)
	for _, step := range []struct {
		name       string
		by         time.Duration
		registered bool
	}{
		{"the first", 0, true},
		{"a second later", time.Second, true},
		{"the clock was set back", -time.Hour, false},
		{"once more", -time.Hour, true},
		{"at the same time", 0, false},
		{"the clock is right again", 2 * time.Hour, true},
		{"the clock was set to before 1970", -100 * 365 * 24 * time.Hour, true},
	} {
		last, err := loadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(step.by)
		r := last.next(now, startConditions{boot: "first"}, store.FsyncEverySec)
		if r.Incarnation <= highest {
			t.Errorf("%s: %d, after %d", step.name, r.Incarnation, highest)
		}
		highest = r.Incarnation
		if step.registered {
			r.Registered = r.Incarnation
		}
		if err := r.save(dir); err != nil {
			t.Fatal(err)
		}
	}
}
