package acts

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// options holds the flags of the test binary.
var options cluster.ProcessOptions

func init() { options.Flags(flag.CommandLine) }

func TestAcknowledgedWritesSurviveOperations(t *testing.T) {
	if os.Getenv("RINGSIDE_LONG") == "" {
		t.Skip("RINGSIDE_LONG is not set")
	}
	err := performAll(t.Context(), &options, acts, func(a act, perform func() ([]string, error)) bool {
		return t.Run(a.name, func(t *testing.T) {
			figures, err := perform()
			for _, figure := range figures {
				t.Log(figure)
			}
			if errors.As(err, new(unable)) {
				t.Skipf("%s: %v", a.what, err)
			}
			if err != nil {
				t.Fatalf("%s: %v", a.what, err)
			}
		})
	})
	if err != nil {
		t.Error(err)
	}
	if t.Failed() && options.Dir != "" {
		if _, err := os.Stat(options.Dir); err == nil {
			t.Logf("data and logs are kept in %s", options.Dir)
		}
	}
}

// performAll gives each act to try, which performs it and reports whether it succeeded. Files are kept if an act
// failed. A signal ends the act and all others; nothing is kept then.
func performAll(ctx context.Context, o *cluster.ProcessOptions, list []act, try func(a act, perform func() ([]string, error)) bool) (err error) {
	ctx, end := loadtest.StopContext(ctx)
	defer end()
	tidy, err := o.Prepare(ctx, "acts")
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept || ctx.Err() != nil {
			err = errors.Join(err, tidy())
		}
	}()
	for _, a := range list {
		if ctx.Err() != nil {
			return errStopped
		}
		if !try(a, func() ([]string, error) { return perform(ctx, o, a) }) {
			kept = true
		}
	}
	if ctx.Err() != nil {
		return errStopped
	}
	return nil
}

var errStopped = errors.New("stopped by a signal")

// perform runs one act on a stage of its own, undoes what it did to the machine, and removes its files unless it failed. It
// returns the figures that the act noted.
func perform(ctx context.Context, o *cluster.ProcessOptions, a act) (figures []string, err error) {
	s := &stage{options: o, dir: filepath.Join(o.Dir, a.name), acknowledged: map[string]string{}}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		return nil, err
	}
	err = a.run(ctx, s)
	if undone := s.end(); undone != nil {
		return s.figures, errors.Join(err, undone)
	}
	if ctx.Err() != nil {
		err = errors.Join(errStopped, err)
	}
	if err == nil || ctx.Err() != nil {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return s.figures, err
}

// A signal ends an act. What it did to the machine is undone, and no file is left, whoever chose the directory.
func TestSignalUndoesActAndRemovesItsFiles(t *testing.T) {
	for _, sig := range loadtest.StopSignals() {
		for _, given := range []bool{false, true} {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			o := &cluster.ProcessOptions{Binary: "none"}
			if given {
				o.Dir = temporary
			}
			undone, later := false, false
			signalled := act{"signal", "a signal comes", func(ctx context.Context, s *stage) error {
				s.undo = append(s.undo, func() error { undone = true; return nil })
				if err := os.WriteFile(s.path("data"), []byte("data"), 0o600); err != nil {
					return err
				}
				if err := syscall.Kill(os.Getpid(), sig.(syscall.Signal)); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			}}
			next := act{"next", "it does not happen", func(context.Context, *stage) error { later = true; return nil }}
			err := performAll(t.Context(), o, []act{signalled, next}, func(_ act, perform func() ([]string, error)) bool { _, err := perform(); return err == nil })
			if !errors.Is(err, errStopped) || !undone || later {
				t.Errorf("%v: %v, the act was undone: %v, the next one was performed: %v", sig, err, undone, later)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("%v: %v, %v is left", sig, err, left)
			}
		}
	}
}
