package cells

import (
	"os"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ringtest"
)

// always is for algorithms in which a change of members may move keys, or copies of them, between others.
func always(_, _ []ring.Member) bool { return true }

func TestConformance(t *testing.T) {
	randomtest.Draw(t, 4)
	for _, tt := range []struct {
		name       string
		strategy   *Strategy
		reshuffles func(before, after []ring.Member) bool
		maxToMean  float64
	}{
		{"rendezvous", New("", Rendezvous, false), nil, 1.5},
		{"multiprobe", New("", MultiProbe(defaultProbes), false), nil, 2.5},
		{"jump", New("", Jump, false), always, 1.5},
		{"maglev", New("", Maglev, false), always, 1.5},
		{"lrh", New("", LocalRendezvous(defaultCandidates), false), always, 2},
		{"bounded", New("", Bounded(defaultSlack), false), always, 1.2},
		{"anchor", NewSeated("", Anchor, false), always, 1.5},
		{"memento", NewSeated("", Memento, false), always, 1.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ringtest.Suite{
				Strategy:   tt.strategy,
				Slots:      true, // all bounds are those of cells
				Short:      os.Getenv("RINGSIDE_LONG") == "",
				Reshuffles: tt.reshuffles,
				MaxToMean:  func(int) float64 { return tt.maxToMean },
			}.Run(t)
		})
	}
}
