package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Child is a process that this program has started: every process of a load test, a bench program
// or a chaos test is one. Its methods may be called from any goroutine.
type Child struct {
	// Gone ends with the process. Its cause says how the process ended.
	Gone context.Context

	cmd  *exec.Cmd
	exit error // of exec.Cmd.Wait; valid once Gone is done
}

var errExitStatus0 = errors.New("exit status 0")

// Launch starts a command.
func Launch(cmd *exec.Cmd) (*Child, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	gone, end := context.WithCancelCause(context.Background())
	c := &Child{Gone: gone, cmd: cmd}
	go func() {
		c.exit = cmd.Wait()
		end(cmp.Or(c.exit, errExitStatus0))
	}()
	return c, nil
}

// PID returns the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Runs reports whether the process has not ended.
func (c *Child) Runs() bool { return c.Gone.Err() == nil }

// Wait waits until the process has ended. The error is nil for exit status 0.
func (c *Child) Wait() error {
	<-c.Gone.Done()
	return c.exit
}

// Signal sends a signal. The error is [os.ErrProcessDone] if the process has ended.
func (c *Child) Signal(s os.Signal) error { return c.cmd.Process.Signal(s) }

// Kill ends the process at once, if it runs, and waits for its end.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // fails if the process has ended
	<-c.Gone.Done()
}

// Stop sends SIGTERM and waits for the end of the process. After patience it kills the process,
// which is an error.
func (c *Child) Stop(patience time.Duration) error { return c.End(syscall.SIGTERM, patience) }

// End is [Child.Stop] with another signal.
func (c *Child) End(s os.Signal, patience time.Duration) error {
	if err := c.Signal(s); err != nil { // the process has ended, or the system has no such signal
		c.Kill()
		return nil
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-c.Gone.Done():
		return nil
	case <-late.C:
		c.Kill()
		return fmt.Errorf("killed, since it did not end within %v of signal %v", patience, s)
	}
}

// Await polls until holds returns nil. It gives up when ctx or the process ends; the error includes
// the last one of holds.
func (c *Child) Await(ctx context.Context, every time.Duration, holds func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(c.Gone, func() { cancel(fmt.Errorf("ended: %w", context.Cause(c.Gone))) })
	defer stop()
	return poll(ctx, every, holds)
}

// poll calls holds until it returns nil, or ctx ends; the error includes the last one of holds.
func poll(ctx context.Context, every time.Duration, holds func(context.Context) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last error
	for {
		err := holds(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // an error of ctx explains nothing
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if last == nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		}
	}
}

// Sleep waits for some time, or until ctx ends, which is an error.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CleanEnvironment returns the variables without those that would configure a node. Variables that
// begin with RINGSIDE_TEST_ are for tests; a node ignores them.
func CleanEnvironment(variables []string) []string {
	var clean []string
	for _, v := range variables {
		if !strings.HasPrefix(v, "RINGSIDE_") || strings.HasPrefix(v, "RINGSIDE_TEST_") {
			clean = append(clean, v)
		}
	}
	return clean
}
