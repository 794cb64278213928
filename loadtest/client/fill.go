package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// fillPipeline is how many writes of a connection that fills are in flight, at least.
const fillPipeline = 64

// A filler writes a part of the keys.
type filler struct {
	source *workload.Filler
	chk    *check.Client
}

// Fill writes keys 0 to keys-1, as fast as it goes, until each is written: where a write
// fails, there is another. It may be called again, also while clients run. Nothing of it is
// in the series. The error says how many keys are not written when ctx ends, or that a
// server will never write them.
func (l *Load) Fill(ctx context.Context, keys int64) error {
	if names := l.cfg.Workload.Names; len(names) > 0 && keys > int64(len(names)) {
		return fmt.Errorf("client: %d keys cannot be written, there are %d names", keys, len(names))
	}
	for i := len(l.fillers); i < min(maxFillers, l.cfg.Workload.Clients); i++ {
		f := &filler{source: l.cfg.Workload.Filler(i)}
		if l.cfg.Check != nil {
			f.chk = l.cfg.Check.Client(l.cfg.Workload.Clients + i)
		}
		l.fillers = append(l.fillers, f)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(keys)
	l.labelled(ctx, func(ctx context.Context) {
		for i, f := range l.fillers {
			wg.Go(func() {
				if err := l.fillPart(ctx, f, i, keys, &left); err != nil {
					cancel(err)
				}
			})
		}
	})
	wg.Wait()
	if n := left.Load(); n > 0 {
		err := context.Cause(ctx)
		if why := l.why.Load(); why != nil && errors.Is(err, ctx.Err()) {
			err = errors.Join(err, *why)
		}
		return fmt.Errorf("client: %d of %d keys are not written: %w", n, keys, err)
	}
	return nil
}

// Filled is how many writes of [Load.Fill] have succeeded so far, in all calls together. It
// may be called at any time.
func (l *Load) Filled() int64 { return l.filled.Load() }

// fillPart writes every so many-th key.
func (l *Load) fillPart(ctx context.Context, f *filler, part int, keys int64, left *atomic.Int64) error {
	w := l.newWorker(l.newLink(ctx, ctx.Done(), part))
	defer w.link.close()
	w.chk = f.chk
	var again []int64
	var refusal error
	w.heard = func(fl *flight, seen result.Outcome, r *wire.Reply) {
		switch {
		case !seen.Failed():
			left.Add(-1)
			l.filled.Add(1)
			return
		case seen == result.Wrong, r != nil && (string(r.Text[:min(3, len(r.Text))]) == "OOM"):
			refusal = fmt.Errorf("fill key %s: %s", l.keyName(fl.keys[0]), r.Text)
		}
		again = append(again, fl.keys[0])
	}
	next := int64(part)
	pipeline := max(l.cfg.Pipeline, fillPipeline)
	for refusal == nil && (next < keys || len(again) > 0) {
		if !w.link.ready() || over(ctx.Done()) {
			return nil
		}
		now := l.now()
		for range pipeline {
			key := next
			switch n := len(again); {
			case n > 0:
				key, again = again[n-1], again[:n-1]
			case next < keys:
				next += int64(len(l.fillers))
			}
			if key >= keys {
				break
			}
			op := f.source.Write(key)
			w.begin(op, fillKind(op), now, now)
		}
		w.exchange()
		if len(again) > 0 && !sleep(ctx.Done(), minBackoff) {
			return nil
		}
	}
	return refusal
}

func fillKind(op *workload.Op) check.Kind {
	if len(op.Args[2]) == 1 && op.Args[2][0] == '0' {
		return check.Zero
	}
	return check.Set
}
