package report

import (
	"testing"
)

func TestPageFitsPhonePaperAndDesk(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	t.Run("usual", func(t *testing.T) {
		checkFits(t, pageOf(t, odd()["usual"]), phoneWidth, paperWidth, deskWidth)
	})
	t.Run("hostile", func(t *testing.T) { checkFits(t, pageOf(t, odd()["hostile"]), phoneWidth, deskWidth) })
}

func TestSimulationPageFitsPhoneAndDesk(t *testing.T) {
	reports := oddSims(t)
	for _, name := range []string{"recorded", "long names", "many"} {
		t.Run(name, func(t *testing.T) { checkFits(t, simPageOf(t, reports[name]), phoneWidth, deskWidth) })
	}
}
