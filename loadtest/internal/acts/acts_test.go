package acts

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// options holds the flags of the test binary.
var options cluster.ProcessOptions

func init() { options.Flags(flag.CommandLine) }

func TestAcknowledgedWritesSurviveOperations(t *testing.T) {
	if os.Getenv("RINGSIDE_LONG") == "" {
		t.Skip("RINGSIDE_LONG is not set")
	}
	tidy, err := options.Prepare(t.Context(), "acts")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			t.Logf("data and logs are kept in %s", options.Dir)
		} else if err := tidy(); err != nil {
			t.Error(err)
		}
	}()
	for _, a := range acts {
		t.Run(a.name, func(t *testing.T) { perform(t, a) })
	}
}

// perform runs one act on a stage of its own.
func perform(t *testing.T, a act) {
	s := &stage{options: &options, dir: filepath.Join(options.Dir, a.name), acknowledged: map[string]string{}}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(a.run(t.Context(), s), s.end())
	if errors.As(err, new(unable)) {
		t.Skipf("%s: %v", a.what, err)
	}
	if err == nil {
		err = os.RemoveAll(s.dir)
	}
	if err != nil {
		t.Fatalf("%s: %v", a.what, err)
	}
}
