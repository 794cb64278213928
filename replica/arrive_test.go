package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A node receives so many handoffs at a time; a node that hands over again comes in the
// place of itself, once its earlier stream has ended.
func TestReceiversTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var as arrivals
		arrive := func(from string) (*arrival, error) {
			ctx, cancel := context.WithCancel(t.Context())
			a := &arrival{e: new(Engine), ctx: ctx, cancel: cancel, from: from}
			return a, as.admit(ctx, a, 1)
		}
		first, err := arrive("a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := arrive("b"); !errors.Is(err, ErrReceiving) {
			t.Error(err)
		}
		ended := false
		go func() {
			<-first.ctx.Done()
			time.Sleep(time.Second) // of the test's time, until what it was given is applied
			ended = true
			as.end(first)
		}()
		again, err := arrive("a")
		if err != nil || !ended {
			t.Errorf("%v; the earlier stream has ended: %v", err, ended)
		}
		as.end(first) // once more, which is not again's end
		if _, err := arrive("b"); !errors.Is(err, ErrReceiving) {
			t.Error(err)
		}
		as.end(again)
		if _, err := arrive("b"); err != nil {
			t.Error(err)
		}
	})
}
