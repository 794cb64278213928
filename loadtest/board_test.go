package loadtest

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/loadtest/report"
)

// While keys are loaded it is told how fast that goes and when it will have ended, and
// nothing of that stays afterwards.
func TestBoardTellsHowKeysAreLoaded(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var now report.State
		b := newBoard(&Config{Contestants: []Contestant{{Name: "first"}, {Name: "second"}}})
		b.show = func(all []report.State) { now = all[1] }
		l := b.of(1, 1)
		l.phase("load 1000")
		done := int64(0)
		b.at, b.fill = l.i, &filling{keys: 1000, began: time.Now(), done: func() int64 { return done }}
		b.tell()
		if now.Phase != "load 1000" || now.PerSecond != 0 || now.Left != 0 {
			t.Errorf("before any is written: %+v", now)
		}
		done = 250
		time.Sleep(2 * time.Second)
		b.tell()
		if now.PerSecond != 125 || now.Left != 6*time.Second {
			t.Errorf("after 250 of 1000 in 2 s: %+v", now)
		}
		l.rests()
		b.tell()
		if now.PerSecond != 0 || now.Left != 0 {
			t.Errorf("afterwards: %+v", now)
		}
	})
}
