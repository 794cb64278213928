package lastrun

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store"
)

func TestIntactIsProved(t *testing.T) {
	known := Run{Format: Format, Boot: "first", Fsync: "everysec", Registered: 7}
	with := func(change func(r *Run)) Run {
		r := known
		change(&r)
		return r
	}
	type test struct {
		name   string
		last   Run
		boot   string
		intact bool
	}
	check := func(test test, around Conditions) {
		t.Run(test.name, func(t *testing.T) {
			next := test.last.Next(time.Now(), around, store.FsyncEverySec)
			if intact, after := next.Intact(); intact != test.intact || after != test.last.Registered {
				t.Errorf("%v, after %d", intact, after)
			}
			if next.Stopped {
				t.Error("a node that runs is not stopped")
			}
		})
	}
	for _, test := range []test{
		{"kill -9 after the log had failed", known, "first", false},
		{"the log had failed, and was healed by a clean stop", with(func(r *Run) { r.Stopped = true }), "first", true},
		{"the log had failed, and its disk had everything", with(func(r *Run) { r.Fsync = "always" }), "first", true},
	} {
		check(test, Conditions{test.boot, "here", true})
	}
	for _, test := range []test{
		{"nothing is known of the directory", Run{}, "first", false},
		{"kill -9 on a machine that goes on", known, "first", true},
		{"the machine was started again", known, "second", false},
		{"the machine was started again after a clean stop", with(func(r *Run) { r.Stopped = true }), "second", true},
		{"the machine was started again, and its disk had everything", with(func(r *Run) { r.Fsync = "always" }), "second", true},
		{"kill -9, and nothing says that the system had everything", with(func(r *Run) { r.Fsync = "no" }), "first", false},
		{"a clean stop with what the system had", with(func(r *Run) { r.Fsync, r.Stopped = "no", true }), "second", true},
		{"the machine has no id", with(func(r *Run) { r.Boot = "" }), "", false},
		{"kill -9 where the place is not moved", with(func(r *Run) { r.Place = "here" }), "first", true},
		{"a copy of a directory that was in use", with(func(r *Run) { r.Place = "there" }), "first", false},
		{"the same, and its disk had everything", with(func(r *Run) { r.Place, r.Fsync = "there", "always" }), "first", false},
		{"a copy of a directory after a clean stop", with(func(r *Run) { r.Place, r.Stopped = "there", true }), "second", true},
		{"something was lost before a start that the cluster has not heard of", with(func(r *Run) { r.Lost = true }), "first", false},
	} {
		check(test, Conditions{test.boot, "here", false})
	}
}

// A start that ends before the cluster hears of it neither hides a loss nor is one.
func TestStartsBetweenRegistrationsAreNoGap(t *testing.T) {
	dir := t.TempDir()
	r := Run{Format: Format, Boot: "first", Fsync: "everysec", Registered: 7}
	for _, step := range []struct {
		boot   string
		intact bool
	}{{"first", true}, {"first", true}, {"second", false}, {"second", false}} {
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
		last, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		r = last.Next(time.Now(), Conditions{Boot: step.boot}, store.FsyncEverySec)
		if intact, after := r.Intact(); intact != step.intact || after != 7 {
			t.Errorf("boot %s: %v, after %d", step.boot, intact, after)
		}
	}
}

func TestRunThatCannotBeReadProvesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", `{"format":2,"stopped":true,"registered":"7"}`} {
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		last, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		next := last.Next(time.Now(), Conditions{Boot: "first"}, store.FsyncAlways)
		if intact, _ := next.Intact(); intact {
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
		last, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(step.by)
		r := last.Next(now, Conditions{Boot: "first"}, store.FsyncEverySec)
		if r.Incarnation <= highest {
			t.Errorf("%s: %d, after %d", step.name, r.Incarnation, highest)
		}
		highest = r.Incarnation
		if step.registered {
			r.Registered = r.Incarnation
		}
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
	}
}
