package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain makes the test binary the command itself when a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("RINGSIDE_TEST_AS_COMMAND") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestSignalRemovesDirectory(t *testing.T) {
	// A Go command that never ends, until it is told to.
	tools := t.TempDir()
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte("#!/bin/sh\nexec tail -f /dev/null\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, sig := range stopSignals() {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-packages", ".", "-load", "0")
			cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1", "TMPDIR="+dir, "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
			made := func() []os.DirEntry {
				entries, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				return entries
			}
			for end := time.Now().Add(time.Minute); len(made()) == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if len(made()) == 0 {
				t.Error("no directory was made")
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || !exit.Exited() {
				t.Errorf("it ended with %v", err)
			}
			if left := made(); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}
