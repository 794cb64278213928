package cells

import (
	"os"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ringtest"
)

// always is for algorithms in which a change of members may move keys between others.
func always(_, _ []ring.Member) bool { return true }

func TestConformance(t *testing.T) {
	for _, tt := range []struct {
		name       string
		algorithm  Algorithm
		reshuffles func(before, after []ring.Member) bool
		maxToMean  float64
	}{
		{"rendezvous", Rendezvous, nil, 1.5},
		{"multiprobe", MultiProbe(DefaultProbes), nil, 2.5},
		{"jump", Jump, always, 1.5},
		{"maglev", Maglev, always, 1.5},
		{"lrh", LocalRendezvous, always, 2},
		{"bounded", Bounded(DefaultSlack), always, 1.2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ringtest.Suite{
				Strategy:   New(tt.name, tt.algorithm, false),
				Slots:      true, // all bounds are those of cells
				Short:      os.Getenv("RINGSIDE_LONG") == "",
				Reshuffles: tt.reshuffles,
				MaxToMean:  func(int) float64 { return tt.maxToMean },
			}.Run(t)
		})
	}
}
