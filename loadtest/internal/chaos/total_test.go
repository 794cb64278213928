package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// remembered is of how many keys of earlier rounds the values are known.
const remembered = 2000

// A total is what all rounds were.
type total struct {
	result
	rounds    int
	slowest   time.Duration // until all was in sync
	undecided int           // rounds in which not every key could be judged
	wrong     int           // rounds with an answer that no one server gives
	fell      int           // processes that ended by themselves
	values    map[string]string
}

func newTotal() *total { return &total{values: map[string]string{}} }

func (t *total) add(r result) {
	t.rounds++
	t.Done, t.Refused, t.Unknown = t.Done+r.Done, t.Refused+r.Refused, t.Unknown+r.Unknown
	t.LongestRead, t.LongestWrite = max(t.LongestRead, r.LongestRead), max(t.LongestWrite, r.LongestWrite)
	t.LongestCalm = max(t.LongestCalm, r.LongestCalm)
	t.typed, t.failed = t.typed+r.typed, t.failed+r.failed
	t.verdict.add(r.verdict)
	t.faults += r.faults
	t.slowest = max(t.slowest, r.settled)
}

// remember keeps values that nothing changes any more, so that later rounds find out
// whether they stay.
func (t *total) remember(r *nodetest.Recorder) {
	for key, value := range r.Final() {
		if len(t.values) >= remembered {
			for old := range t.values { // any
				delete(t.values, old)
				break
			}
		}
		t.values[key] = value
	}
}

// verify reads the keys of earlier rounds, each through one node.
func (t *total) verify(ctx context.Context, c *testCluster, doers map[string]nodetest.Doer) error {
	names := slices.Sorted(maps.Keys(doers))
	var faults []error
	for i, key := range slices.Sorted(maps.Keys(t.values)) {
		at := names[i%len(names)]
		for {
			got, err := doers[at](ctx, "GET", key)
			if err == nil {
				if got != t.values[key] {
					faults = append(faults, fmt.Errorf("%s of an earlier round is %.60q through %s, was %.60q", key, got, at, t.values[key]))
				}
				break
			}
			if ctx.Err() != nil {
				return errors.Join(append(faults, fmt.Errorf("%s is not read through %s: %w", key, at, err))...)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return errors.Join(faults...)
}

func (t *total) print(c *testCluster) {
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(c.counts)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", name, c.counts[name]))
	}
	fmt.Printf(`
time                 %v, %d rounds, seed %d
commands answered    %d
  refused            %d
  of unknown outcome %d
of all types         %d
  not answered       %d
key events heard     %d
  missing            %d, of which %d gaps told; %d connections were lost
  overtaken          %d
faults               %d: %s
ended by themselves  %d
not judged in time   %d rounds
lost or wrong        %d
unavailable at most  %.1f s to writes, %.1f s to reads (one key), while faults went on
                     %.1f s after them
in sync again after  %.1f s at most
`, time.Since(c.began).Round(time.Second), t.rounds, c.o.seed, t.Done, t.Refused, t.Unknown, t.typed, t.failed,
		t.heard, t.missed, t.gaps, t.verdict.lost, t.early,
		t.faults, strings.Join(kinds, ", "), t.fell, t.undecided, t.wrong, t.LongestWrite.Seconds(), t.LongestRead.Seconds(), t.LongestCalm.Seconds(), t.slowest.Seconds())
}
