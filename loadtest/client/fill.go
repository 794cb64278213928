package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A filler writes the keys of one connection of [Load.Fill].
type filler struct {
	*workload.Filler
	chk *check.Client // nil: nothing is verified
}

// Fill writes keys 0 to keys-1, as fast as it goes, until each is written: where a write
// fails, there is another. It may be called again, also while clients run. Nothing of it is
// in the series. The error says how many keys are not written when ctx ends, no write has succeeded
// for some time, or a server will never write them.
func (l *Load) Fill(ctx context.Context, keys int64) error {
	w := &l.cfg.Workload
	if len(w.Names) > 0 && keys > int64(len(w.Names)) {
		return fmt.Errorf("client: %d keys cannot be written, there are %d names", keys, len(w.Names))
	}
	for i := len(l.fillers); i < l.sweepers(); i++ {
		f := filler{Filler: w.Filler(i)}
		if l.cfg.Check != nil {
			f.chk = l.cfg.Check.Client(w.Clients + i)
		}
		l.fillers = append(l.fillers, f)
	}
	s := sweep{keys: keys, parts: len(l.fillers)}
	s.check = func(part int) *check.Client { return l.fillers[part].chk }
	s.op = func(part int, key int64) (*workload.Op, check.Kind) {
		op := l.fillers[part].Write(key)
		if string(op.Args[2]) == "0" {
			return op, check.Zero
		}
		return op, check.Set
	}
	s.judge = func(key int64, seen result.Outcome, r *wire.Reply) (bool, error) {
		switch {
		case !seen.Failed():
			l.filled.Add(1)
			return true, nil
		case seen == result.Wrong, r != nil && bytes.HasPrefix(r.Text, []byte("OOM")):
			return false, fmt.Errorf("fill key %s: %s", l.keyName(key), r.Text)
		}
		return false, nil
	}
	if err := l.sweep(ctx, &s); err != nil {
		return fmt.Errorf("client: %d of %d keys are not written: %w", s.left.Load(), keys, err)
	}
	return nil
}

// Filled is how many writes of [Load.Fill] have succeeded so far, in all calls together. It
// may be called at any time.
func (l *Load) Filled() int64 { return l.filled.Load() }

// Recheck reads every written key once more, after Stop, and judges what
// is there. What fails is tried again until ctx ends or no read has succeeded for some time; the error
// says how many keys have not been read by then.
func (l *Load) Recheck(ctx context.Context) error {
	if l.cfg.Check == nil {
		return errors.New("client: nothing is verified")
	}
	keys := l.cfg.Check.Keys()
	s := sweep{
		keys: int64(len(keys)), list: keys, parts: l.sweepers(), op: l.plain("GET", check.Get),
		check: func(int) *check.Client { return l.cfg.Check.Client(0) },
		// A value of another type will not be readable later on either.
		judge: func(_ int64, seen result.Outcome, _ *wire.Reply) (bool, error) { return seen != result.Refused, nil },
	}
	err := l.sweep(ctx, &s)
	unread := s.left.Load()
	l.cfg.Check.Final(int64(len(keys)), unread)
	if unread > 0 {
		return fmt.Errorf("client: %d of %d keys are not read: %w", unread, len(keys), err)
	}
	return nil
}
