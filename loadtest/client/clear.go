package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// clearPatience is how long [Load.Clear] goes on without having deleted a key.
const clearPatience = 15 * time.Second

var errNoProgress = errors.New("the server has deleted none for 15s")

// Clear deletes keys 0 to keys-1, and repeats deletions that fail until ctx ends or none
// succeeds for 15 s. Call it after [Load.Stop], or instead of [Load.Start]. The error says how
// many keys may be left.
func (l *Load) Clear(ctx context.Context, keys int64) error {
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(keys)
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	before := keys
	watch := time.NewTicker(clearPatience)
	defer watch.Stop()
	watching.Go(func() {
		for {
			select {
			case <-watch.C:
			case <-ctx.Done():
				return
			}
			now := left.Load()
			if now == before {
				cancel(errNoProgress)
			}
			before = now
		}
	})
	parts := min(maxFillers, l.cfg.Workload.Clients)
	for part := range parts {
		wg.Go(func() { l.clearPart(ctx, part, parts, keys, &left) })
	}
	wg.Wait()
	if n := left.Load(); n > 0 {
		return fmt.Errorf("client: up to %d of %d keys are not removed: %w", n, keys, context.Cause(ctx))
	}
	return nil
}

// clearPart deletes each parts-th key from part on.
func (l *Load) clearPart(ctx context.Context, part, parts int, keys int64, left *atomic.Int64) {
	w := l.newWorker(l.newLink(ctx, ctx.Done(), part))
	defer w.link.close()
	var again []int64
	w.heard = func(f *flight, seen result.Outcome, _ *wire.Reply) {
		if seen.Failed() {
			again = append(again, f.keys[0])
		} else {
			left.Add(-1)
		}
	}
	for next := int64(part); next < keys || len(again) > 0; {
		if !w.link.ready() || over(ctx.Done()) {
			return
		}
		batch := again
		again = nil
		for ; len(batch) < fillPipeline && next < keys; next += int64(parts) {
			batch = append(batch, next)
		}
		now := l.now()
		for _, key := range batch {
			op := workload.Op{Args: [][]byte{[]byte("DEL"), l.cfg.Workload.AppendKey(nil, key)}, Keys: []int64{key}, Write: 1}
			w.begin(&op, check.Set, now, now)
		}
		w.exchange()
		if len(again) > 0 && !sleep(ctx.Done(), minBackoff) {
			return
		}
	}
}

// FindKey returns the first of the load's keys that the servers hold already, nil if there is none. Call it instead of
// [Load.Start].
func (l *Load) FindKey(ctx context.Context) (found []byte, err error) {
	w := l.newWorker(l.newLink(ctx, ctx.Done(), 0))
	defer w.link.close()
	w.heard = func(f *flight, _ result.Outcome, r *wire.Reply) {
		switch {
		case r == nil:
			err = errors.New("client: EXISTS was not answered")
		case r.Kind != ':':
			err = fmt.Errorf("client: EXISTS: %.100q", r.Text)
		case r.Int > 0 && found == nil:
			found = l.cfg.Workload.AppendKey(nil, f.keys[0])
		}
	}
	all := l.cfg.Workload.Keys
	if names := l.cfg.Workload.Names; len(names) > 0 {
		all = int64(len(names))
	}
	for next := int64(0); next < all && found == nil && err == nil; {
		if !w.link.ready() || over(ctx.Done()) {
			return nil, fmt.Errorf("client: EXISTS: %w", context.Cause(ctx))
		}
		now := l.now()
		for range min(fillPipeline, all-next) {
			op := workload.Op{Args: [][]byte{[]byte("EXISTS"), l.cfg.Workload.AppendKey(nil, next)}, Keys: []int64{next}}
			w.begin(&op, check.Exists, now, now)
			next++
		}
		w.exchange()
	}
	return found, err
}

// Size returns how many keys a server says that it holds (DBSIZE). Only the addresses and
// credentials of the Config are used.
func Size(ctx context.Context, cfg Config, addr string) (int64, error) {
	cfg.EnsureDefaults()
	l := &Load{cfg: cfg}
	c, err := l.dial(ctx, addr)
	if err != nil {
		return 0, err
	}
	defer c.close()
	r, err := l.ask(c, [][]byte{[]byte("DBSIZE")})
	if err != nil {
		return 0, err
	}
	if r.Kind != ':' {
		return 0, fmt.Errorf("DBSIZE of %s: %.100q", addr, r.Text)
	}
	return r.Int, nil
}
