package client

import (
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

func TestErrorsAreClassified(t *testing.T) {
	for text, want := range map[string]struct{ read, write result.Outcome }{
		"UNKNOWN The write is made here, but not on all copies yet": {result.Refused, result.Unknown},
		"TRYAGAIN not all copies have what was written last":        {result.Refused, result.Refused},
		"CLUSTERDOWN Hash slot not served":                          {result.Refused, result.Refused},
		"LOADING Redis is loading the dataset in memory":            {result.Refused, result.Refused},
		"MOVED 1 127.0.0.1:7000":                                    {result.Refused, result.Refused},
		"ASK 1 127.0.0.1:7000":                                      {result.Refused, result.Refused},
		"OOM command not allowed":                                   {result.Refused, result.Refused},
		"WRONGTYPE Operation against a key":                         {result.Wrong, result.Wrong},
		"CROSSSLOT Keys in request":                                 {result.Wrong, result.Wrong},
		"ERR value is not an integer or out of range":               {result.Wrong, result.Wrong},
		"ERR unknown command 'x'":                                   {result.Wrong, result.Wrong},
		"ERR Connection timed out":                                  {result.Refused, result.Unknown},
		"":                                                          {result.Refused, result.Unknown},
	} {
		for writes, seen := range map[bool]result.Outcome{false: want.read, true: want.write} {
			got, redirects := classify([]byte(text), writes)
			if got != seen {
				t.Errorf("%q, writes %v: %v", text, writes, got)
			}
			if redirected := text[:min(3, len(text))] == "MOV" || text[:min(3, len(text))] == "ASK"; (redirects == 1) != redirected {
				t.Errorf("%q: %d redirects", text, redirects)
			}
		}
	}
}
