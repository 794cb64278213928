package loadtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/loadtest/client"
)

// errGone says that a contestant is not there any more.
var errGone = errors.New("it is gone")

const (
	aliveEvery = 200 * time.Millisecond
	// unreachableFor is for how long nobody may have a connection, and silentTimeouts
	// for how many times the timeout nobody may get an answer.
	unreachableFor = 5 * time.Second
	silentTimeouts = 3
)

// A pulse tells when a contestant is gone.
type pulse struct {
	direct            bool // clients have connections of their own
	silence           time.Duration
	answered          int64
	lastAnswer, there time.Time
}

// look reports whether the contestant is gone by what clients see at a time.
func (p *pulse) look(now time.Time, live client.Live) error {
	if p.there.IsZero() {
		p.there, p.lastAnswer = now, now
	}
	if done := live.Operations - live.Failed; done > p.answered {
		p.answered, p.lastAnswer = done, now
	}
	if live.Connected > 0 || !p.direct {
		p.there = now
	}
	if d := now.Sub(p.there); d >= unreachableFor {
		return fmt.Errorf("%w: no client could connect for %v", errGone, unreachableFor)
	}
	if now.Sub(p.lastAnswer) >= p.silence {
		return fmt.Errorf("%w: nothing was answered for %v", errGone, p.silence)
	}
	return nil
}

// mind ends ctx once the contestant is gone.
func (p *play) mind(ctx context.Context, end context.CancelCauseFunc) {
	load := p.load
	one := pulse{direct: p.cfg.Route == client.One || p.cfg.Route == client.Any, silence: silentTimeouts * p.cfg.Timeout}
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if err := one.look(now, load.Now()); err != nil {
				end(err)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
