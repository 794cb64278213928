package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uber-go/tally/v4"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/wire"
)

// openRing opens Ringside's routing client.
func (s *shared) openRing(ctx context.Context, cfg *Config) error {
	counter := &redirectCounter{tally.NullStatsReporter, s}
	scope, closer := tally.NewRootScope(tally.ScopeOptions{Reporter: counter}, 50*time.Millisecond)
	ring, err := client.Open(ctx, client.Config{
		Addrs: cfg.Targets(), Username: cfg.Username, Password: cfg.Password, TLS: cfg.TLS, Name: clientName,
		Timeout: cfg.Timeout, DialTimeout: cfg.dialTimeout(), RetryFor: cfg.Timeout, Metrics: scope,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("connect: %w", err), closer.Close())
	}
	s.newBatch = func() batch { return &ringBatch{pipe: ring.Pipeline()} }
	s.close = func() {
		ring.Close()
		_ = closer.Close()
	}
	return nil
}

// A redirectCounter hears of the redirects that the routing client follows.
type redirectCounter struct {
	tally.StatsReporter
	shared *shared
}

// ReportCounter implements [tally.StatsReporter].
func (r *redirectCounter) ReportCounter(name string, _ map[string]string, value int64) {
	if strings.HasSuffix(name, "redirects") {
		r.shared.redirects.Add(value)
	}
}

// A ringBatch is a batch for Ringside's routing client.
type ringBatch struct {
	pipe    *client.Pipeline
	replies []client.Reply
}

func (b *ringBatch) add(op *workload.Op) { b.pipe.DoBytes(op.Args...) }

func (b *ringBatch) exec(ctx context.Context) int {
	b.replies, _ = b.pipe.Exec(ctx) // each reply has its own error
	return len(b.replies)
}

func (b *ringBatch) reply(i int, to *wire.Reply) (answered, sent bool) {
	r := b.replies[i]
	if err := r.Err(); err != nil {
		var said *client.ServerError
		if !errors.As(err, &said) {
			return false, !errors.Is(err, client.ErrNotSent)
		}
		to.Kind, to.Text = '-', []byte(said.Text)
		return true, true
	}
	switch r.Kind() {
	case client.Integer, client.Boolean:
		setValue(to, ':', nil)
		to.Int, _ = r.Int()
	case client.List, client.Map:
		to.Kind = '*'
		elements, _ := r.List()
		for _, e := range elements {
			text, _ := e.Bytes() // nil for null
			addElement(to, text)
		}
	default:
		text, _ := r.Bytes() // nil for null
		setValue(to, '$', text)
	}
	return true, true
}
