package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"github.com/uber-go/tally/v4"

	"github.com/ringside-kv/ringside/resp/client"
)

// shared is the client that all clients of a load have together, if they do.
type shared struct {
	ring      *client.Ring
	cluster   rueidis.Client
	redirects atomic.Int64 // that were followed, and are not counted yet
	closers   []func()
}

// share opens it.
func (l *Load) share(ctx context.Context) error {
	targets := l.cfg.Targets()
	switch l.cfg.Route {
	case Ring:
		return l.shared.openRing(ctx, &l.cfg, targets)
	case Cluster:
		return l.shared.openCluster(&l.cfg, targets)
	}
	return nil
}

func (s *shared) openRing(ctx context.Context, cfg *Config, targets []string) error {
	scope, closer := tally.NewRootScope(tally.ScopeOptions{Reporter: &redirectCounter{n: &s.redirects}}, 50*time.Millisecond)
	ring, err := client.Open(ctx, client.Config{
		Addrs: targets, Username: cfg.Username, Password: cfg.Password, TLS: cfg.TLS, Name: "ringside-loadtest",
		Timeout: cfg.Timeout, DialTimeout: min(cfg.Timeout, 5*time.Second), RetryFor: cfg.Timeout, Metrics: scope,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("connect: %w", err), closer.Close())
	}
	s.ring = ring
	s.closers = append(s.closers, ring.Close, func() { _ = closer.Close() })
	return nil
}

func (s *shared) openCluster(cfg *Config, targets []string) error {
	opt := rueidis.ClientOption{
		InitAddress: targets, Username: cfg.Username, Password: cfg.Password, TLSConfig: cfg.TLS, ClientName: "ringside-loadtest",
		DisableCache: true, DisableRetry: true, ConnWriteTimeout: cfg.Timeout, DialCtxFn: s.dialCounted,
	}
	opt.Dialer.Timeout = min(cfg.Timeout, 5*time.Second)
	c, err := rueidis.NewClient(opt)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.cluster = c
	s.closers = append(s.closers, c.Close)
	return nil
}

func (s *shared) close() {
	for _, c := range s.closers {
		c()
	}
	s.closers = nil
}

// A redirectCounter hears of the redirects that the routing client follows.
type redirectCounter struct{ n *atomic.Int64 }

func (r *redirectCounter) ReportCounter(name string, _ map[string]string, value int64) {
	if strings.HasSuffix(name, "redirects") {
		r.n.Add(value)
	}
}
func (*redirectCounter) ReportGauge(string, map[string]string, float64)       {}
func (*redirectCounter) ReportTimer(string, map[string]string, time.Duration) {}
func (*redirectCounter) ReportHistogramValueSamples(string, map[string]string, tally.Buckets, float64, float64, int64) {
}
func (*redirectCounter) ReportHistogramDurationSamples(string, map[string]string, tally.Buckets, time.Duration, time.Duration, int64) {
}
func (r *redirectCounter) Capabilities() tally.Capabilities { return r }
func (*redirectCounter) Reporting() bool                    { return true }
func (*redirectCounter) Tagging() bool                      { return false }
func (*redirectCounter) Flush()                             {}
