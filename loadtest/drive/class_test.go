package drive

import (
	"testing"

	"github.com/ringside-kv/ringside/loadtest/series"
	"github.com/ringside-kv/ringside/loadtest/verify"
)

func TestErrorsMeanWhatTheySay(t *testing.T) {
	for text, want := range map[string]struct{ read, write series.Outcome }{
		"UNKNOWN The write is made here, but not on all copies yet": {series.Refused, series.Unknown},
		"TRYAGAIN not all copies have what was written last":        {series.Refused, series.Refused},
		"CLUSTERDOWN Hash slot not served":                          {series.Refused, series.Refused},
		"LOADING Redis is loading the dataset in memory":            {series.Refused, series.Refused},
		"MOVED 1 127.0.0.1:7000":                                    {series.Refused, series.Refused},
		"ASK 1 127.0.0.1:7000":                                      {series.Refused, series.Refused},
		"OOM command not allowed":                                   {series.Refused, series.Refused},
		"WRONGTYPE Operation against a key":                         {series.Wrong, series.Wrong},
		"CROSSSLOT Keys in request":                                 {series.Wrong, series.Wrong},
		"ERR value is not an integer or out of range":               {series.Wrong, series.Wrong},
		"ERR unknown command 'x'":                                   {series.Wrong, series.Wrong},
		"ERR Connection timed out":                                  {series.Refused, series.Unknown},
		"":                                                          {series.Refused, series.Unknown},
	} {
		for writes, seen := range map[bool]series.Outcome{false: want.read, true: want.write} {
			c := classify([]byte(text), writes)
			if c.seen != seen || (c.written == verify.Unknown) != (seen == series.Unknown) {
				t.Errorf("%q, writes %v: %+v", text, writes, c)
			}
			if redirected := text[:min(3, len(text))] == "MOV" || text[:min(3, len(text))] == "ASK"; (c.redirected == 1) != redirected {
				t.Errorf("%q: %d redirects", text, c.redirected)
			}
		}
	}
}
