package vnode

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/ring/ringtest"
)

func TestConformance(t *testing.T) {
	for _, cfg := range []Config{{}, {Slots: true}, {VNodes: 1}, {VNodes: 64}} {
		t.Run(fmt.Sprintf("%d vnodes, slots=%v", cfg.VNodes, cfg.Slots), func(t *testing.T) {
			ringtest.Suite{
				Strategy: mustNew(t, cfg),
				Slots:    cfg.Slots,
				// Few points are as uneven as chance makes them: what one of n owns is at
				// most everything, and with many points within six standard deviations.
				MaxToMean: func(n int) float64 {
					if cfg.VNodes < 64 {
						return 4 * float64(n)
					}
					return 2.5
				},
			}.Run(t)
		})
	}
}
