package cluster

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// launchShell runs a script until it has written a line.
func launchShell(t *testing.T, script string) *Child {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(sh, "-c", script)
	written := make(firstWrite, 1)
	cmd.Stdout = written
	c, err := Launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	select {
	case <-written:
	case <-time.After(time.Minute):
		t.Fatal("nothing was written")
	}
	return c
}

// firstWrite gets a value with the first write.
type firstWrite chan struct{}

func (w firstWrite) Write(b []byte) (int, error) {
	select {
	case w <- struct{}{}:
	default:
	}
	return len(b), nil
}

func TestStopEndsChildInOrder(t *testing.T) {
	c := launchShell(t, "trap 'exit 7' TERM; echo; while :; do sleep 0.01; done")
	if !c.Runs() {
		t.Fatal(context.Cause(c.Gone))
	}
	if err := c.Stop(time.Minute); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 || c.Runs() {
		t.Errorf("%v", err)
	}
	if err := c.Stop(time.Minute); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func TestStopKillsChildThatIgnoresTheSignal(t *testing.T) {
	c := launchShell(t, "trap '' TERM; echo; exec sleep 600")
	if err := c.Stop(20 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Error(err)
	}
	if err := c.Wait(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Error(err)
	}
}

func TestAwaitTellsWhyItGaveUp(t *testing.T) {
	errClosed := errors.New("no answer")
	never := func(context.Context) error { return errClosed }
	c := launchShell(t, "echo; exec sleep 600")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("too late"))
	defer cancel()
	if err := c.Await(ctx, time.Millisecond, never); !errors.Is(err, errClosed) || !strings.Contains(err.Error(), "too late") {
		t.Error(err)
	}
	c.Kill()
	if err := c.Await(t.Context(), time.Millisecond, never); err == nil || !strings.Contains(err.Error(), "ended: signal: killed") {
		t.Error(err)
	}
	if err := launchShell(t, "echo").Await(t.Context(), time.Millisecond, never); err == nil || !strings.Contains(err.Error(), "ended: exit status 0") {
		t.Error(err)
	}
}
