package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Clear deletes keys 0 to keys-1, and repeats deletions that fail until ctx ends or none has
// succeeded for some time. Call it after [Load.Stop], or instead of [Load.Start]. The error says how
// many keys may be left.
func (l *Load) Clear(ctx context.Context, keys int64) error {
	s := sweep{keys: keys, parts: l.sweepers(), op: l.plain("DEL", check.Set)}
	s.judge = func(_ int64, seen result.Outcome, _ *wire.Reply) (bool, error) { return !seen.Failed(), nil }
	if err := l.sweep(ctx, &s); err != nil {
		return fmt.Errorf("client: up to %d of %d keys are not removed: %w", s.left.Load(), keys, err)
	}
	return nil
}

var errFound = errors.New("a key is there")

// FindKey returns the first of the load's keys that the servers hold already, nil if there is none. Call it instead of
// [Load.Start].
func (l *Load) FindKey(ctx context.Context) (found []byte, err error) {
	all := l.cfg.Workload.Keys
	if names := l.cfg.Workload.Names; len(names) > 0 {
		all = int64(len(names))
	}
	s := sweep{keys: all, parts: 1, op: l.plain("EXISTS", check.Exists)}
	s.judge = func(key int64, _ result.Outcome, r *wire.Reply) (bool, error) {
		switch {
		case found != nil:
			return true, nil
		case r == nil:
			return false, errors.New("no reply")
		case r.Kind != ':':
			return false, fmt.Errorf("%.100q", r.Text)
		case r.Int > 0:
			found = l.cfg.Workload.AppendKey(nil, key)
			return false, errFound
		}
		return true, nil
	}
	if err := l.sweep(ctx, &s); err != nil && !errors.Is(err, errFound) {
		return nil, fmt.Errorf("client: EXISTS: %w", err)
	}
	return found, nil
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
