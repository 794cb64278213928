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

const (
	// sweepPipeline is how many operations of a connection of a sweep are in flight, at least.
	sweepPipeline = 64
	// sweepPatience is for how long a sweep goes on in which no operation succeeds, at least.
	sweepPatience = 15 * time.Second
)

// errStuck says that a sweep has ended since no operation of it succeeded.
var errStuck = errors.New("no operation has succeeded for ")

// A sweep sends an operation for each of some keys, over several connections, and repeats those that
// fail, until none has succeeded for some time.
type sweep struct {
	keys  int64   // keys 0 to keys-1, or
	list  []int64 // these, if keys is their number
	parts int     // connections; each takes every parts-th key

	// op makes the operation for a key. Each connection calls it from a goroutine of its own.
	op func(part int, key int64) (*workload.Op, check.Kind)
	// check, if not nil, returns what verifies the replies over a connection.
	check func(part int) *check.Client
	// judge reports whether a key is done, and an error if the sweep must end.
	judge func(key int64, seen result.Outcome, r *wire.Reply) (done bool, err error)

	left    atomic.Int64          // keys that are not done
	idle    *time.Timer           // ends the sweep, unless a key is done
	refusal atomic.Pointer[error] // the last error reply since a key was done
}

// sweep runs a sweep. The error says why keys are left.
func (l *Load) sweep(ctx context.Context, s *sweep) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.left.Store(s.keys)
	s.idle = time.AfterFunc(l.patience, func() { cancel(l.stuck(s)) })
	defer s.idle.Stop()
	var wg sync.WaitGroup
	l.labelled(ctx, func(ctx context.Context) {
		for part := range s.parts {
			wg.Go(func() {
				if err := l.sweepPart(ctx, s, part); err != nil {
					cancel(err)
				}
			})
		}
	})
	wg.Wait()
	if s.left.Load() > 0 {
		return context.Cause(ctx)
	}
	return nil
}

// stuck is the error of a sweep in which no operation succeeds.
func (l *Load) stuck(s *sweep) error {
	why := s.refusal.Load()
	if why == nil {
		why = l.why.Load()
	}
	if why == nil {
		return fmt.Errorf("%w%v", errStuck, l.patience)
	}
	return fmt.Errorf("%w%v: %w", errStuck, l.patience, *why)
}

// sweepPart handles the keys of one connection until all are done, ctx ends, or judge returns an error.
func (l *Load) sweepPart(ctx context.Context, s *sweep, part int) (fault error) {
	w := l.newWorker(l.newLink(ctx, ctx, part))
	defer w.link.close()
	if s.check != nil {
		w.chk = s.check(part)
	}
	var again []int64
	w.heard = func(f *flight, seen result.Outcome, r *wire.Reply) {
		done, err := s.judge(f.keys[0], seen, r)
		if done {
			s.left.Add(-1)
		} else {
			again = append(again, f.keys[0])
			if r != nil && r.Kind == '-' {
				refusal := errors.New(string(r.Text))
				s.refusal.Store(&refusal)
			}
		}
		if err != nil {
			fault = err
		}
	}
	for next := int64(part); fault == nil && (next < s.keys || len(again) > 0); {
		if !w.link.ready() || ctx.Err() != nil {
			return nil
		}
		batch := again
		again = nil
		for ; len(batch) < max(l.cfg.Pipeline, sweepPipeline) && next < s.keys; next += int64(s.parts) {
			key := next
			if s.list != nil {
				key = s.list[next]
			}
			batch = append(batch, key)
		}
		now := l.now()
		for _, key := range batch {
			op, kind := s.op(part, key)
			w.begin(op, kind, now, now)
		}
		w.exchange()
		if len(again) < len(batch) {
			s.idle.Reset(l.patience)
			s.refusal.Store(nil)
		}
		if len(again) > 0 && !sleep(ctx, minBackoff) {
			return nil
		}
	}
	return fault
}

// sweepers is how many connections sweep at a time.
func (l *Load) sweepers() int { return min(maxFillers, l.cfg.Workload.Clients) }

// plain returns what makes operations of a command that has the key as its only argument.
func (l *Load) plain(command string, kind check.Kind) func(int, int64) (*workload.Op, check.Kind) {
	write := uint64(0)
	if kind == check.Set {
		write = 1
	}
	return func(_ int, key int64) (*workload.Op, check.Kind) {
		args := [][]byte{[]byte(command), l.cfg.Workload.AppendKey(nil, key)}
		return &workload.Op{Args: args, Keys: []int64{key}, Write: write}, kind
	}
}
