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

// Recheck reads every key that somebody has written once more, after Stop, and judges what
// is there. What fails is tried again until ctx ends; the error says how many keys have not
// been read by then.
func (l *Load) Recheck(ctx context.Context) error {
	if l.cfg.Check == nil {
		return errors.New("client: nothing is verified")
	}
	keys := l.cfg.Check.Keys()
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(keys)))
	readers := min(maxFillers, l.cfg.Workload.Clients)
	l.labelled(ctx, func(ctx context.Context) {
		for i := range readers {
			wg.Go(func() { l.recheckPart(ctx, i, keys[len(keys)*i/readers:len(keys)*(i+1)/readers], &left) })
		}
	})
	wg.Wait()
	unread := left.Load()
	l.cfg.Check.Final(int64(len(keys)), unread)
	if unread > 0 {
		return fmt.Errorf("client: %d of %d keys are not read: %w", unread, len(keys), context.Cause(ctx))
	}
	return nil
}

func (l *Load) recheckPart(ctx context.Context, part int, keys []int64, left *atomic.Int64) {
	w := l.newWorker(l.newLink(ctx, ctx.Done(), part))
	defer w.link.close()
	w.chk = l.cfg.Check.Client(0)
	var again []int64
	w.heard = func(f *flight, seen result.Outcome, _ *wire.Reply) {
		if seen == result.Refused {
			again = append(again, f.keys[0])
			return
		}
		// One of another type will not be readable later on either.
		left.Add(-1)
	}
	get := []byte("GET")
	var name []byte
	for len(keys) > 0 || len(again) > 0 {
		if !w.link.ready() || over(ctx.Done()) {
			return
		}
		batch := again
		again = nil
		if n := fillPipeline - len(batch); n > 0 {
			n = min(n, len(keys))
			batch = append(batch, keys[:n]...)
			keys = keys[n:]
		}
		failed := len(batch)
		now := l.now()
		for _, key := range batch {
			name = l.cfg.Workload.AppendKey(name[:0], key)
			w.begin(&workload.Op{Args: [][]byte{get, name}, Keys: []int64{key}}, check.Get, now, now)
		}
		w.exchange()
		if len(again) == failed && !sleep(ctx.Done(), minBackoff) {
			return
		}
	}
}
