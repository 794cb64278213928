package report

import (
	"testing"

	"github.com/ringside-kv/ringside/loadtest/report/pagetest"
)

func TestPageFitsPhonePaperAndDesk(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	t.Run("usual", func(t *testing.T) {
		pagetest.Fits(t, pageOf(t, odd()["usual"]), pagetest.Phone, pagetest.Paper, pagetest.Desk)
	})
	t.Run("hostile", func(t *testing.T) { pagetest.Fits(t, pageOf(t, odd()["hostile"]), pagetest.Phone, pagetest.Desk) })
}
