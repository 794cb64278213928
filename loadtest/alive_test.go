package loadtest

import (
	"errors"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest/client"
)

// A contestant that nobody can connect to is gone soon; one that answers nothing, once
// that has been so for longer than a few time-outs.
func TestUnreachableContestantIsGoneSoon(t *testing.T) {
	live := func(done int64, connected int) (l client.Live) {
		l.Operations, l.Connected = done, connected
		return l
	}
	for name, c := range map[string]struct {
		direct bool
		after  func(i int) client.Live // at second i
		want   int                     // second at which it is gone; 0: never
	}{
		"answers":              {true, func(i int) client.Live { return live(int64(i), 3) }, 0},
		"unreachable":          {true, func(int) client.Live { return live(7, 0) }, 5},
		"unreachable now then": {true, func(i int) client.Live { return live(int64(i), i%4/3) }, 0},
		"silent":               {true, func(int) client.Live { return live(7, 3) }, 9},
		"only errors":          {true, func(i int) client.Live { l := live(int64(i), 3); l.Failed = l.Operations; return l }, 9},
		"routed, silent":       {false, func(int) client.Live { return live(7, 0) }, 9},
		"routed, answers":      {false, func(i int) client.Live { return live(int64(i), 0) }, 0},
		"silent for a while":   {true, func(i int) client.Live { return live(int64(i/8), 3) }, 0},
	} {
		p := pulse{direct: c.direct, silence: 9 * time.Second}
		began, gone := time.Now(), 0
		p.answered = c.after(0).Operations
		for i := range 30 {
			if err := p.look(began.Add(time.Duration(i)*time.Second), c.after(i)); err != nil {
				if !errors.Is(err, errGone) {
					t.Errorf("%s: %v", name, err)
				}
				gone = i
				break
			}
		}
		if gone != c.want {
			t.Errorf("%s: gone after %d s, want %d", name, gone, c.want)
		}
	}
}
