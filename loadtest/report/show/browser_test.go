package show

import (
	"testing"

	"github.com/ringside-kv/ringside/loadtest/report/pagetest"
)

func TestPageFitsPhoneAndDesk(t *testing.T) {
	reports := odd(t)
	for _, name := range []string{"recorded", "long names", "many"} {
		t.Run(name, func(t *testing.T) { pagetest.Fits(t, pageOf(t, reports[name]), pagetest.Phone, pagetest.Desk) })
	}
}
