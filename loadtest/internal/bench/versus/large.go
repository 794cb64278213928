package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A giant measures what commands on collections of many elements take beside what they take
// on collections of a thousand, and what it costs others when the many are deleted.
type giant struct {
	opt      options
	dir      string
	ringside string // binary
	progress *progress
	rows     io.Writer
}

const (
	fewElements   = 1000
	largeProbes   = 2000 // of each command on each size, alternating
	largePipeline = 64   // commands, where a collection is filled
	purgeWatch    = 10 * time.Second
)

// A probe is a command that is timed, on a collection of n elements.
type probe struct {
	name string
	ask  func(c *conn, rng *rand.Rand, key string, n int) error
}

// asks is a probe with one command, which is answered with one reply.
func asks(name string, args func(key string, i, n int) []string) probe {
	return probe{name, func(c *conn, rng *rand.Rand, key string, n int) error {
		return c.exchange(wire.AppendRequest(nil, args(key, rng.IntN(n), n)...), 1)
	}}
}

// A largeKind is one type of collection: how it is filled, and what is asked of it.
type largeKind struct {
	name   string
	fill   func(key string) []string // a command, behind which elements come
	each   func(i int) []string
	batch  int // elements of one command
	probes []probe
}

func numbered(i int) string { return fmt.Sprintf("element:%0*d", keyDigits, i) }

var largeKinds = []largeKind{
	{"hash", func(key string) []string { return []string{"HSET", key} },
		func(i int) []string { return []string{numbered(i), "value"} }, stockElements, []probe{
			asks("HGET", func(key string, i, _ int) []string { return []string{"HGET", key, numbered(i)} }),
			{"HSCAN COUNT 10", scanOn},
		}},
	{"zset", func(key string) []string { return []string{"ZADD", key} },
		func(i int) []string { return []string{strconv.Itoa(i), numbered(i)} }, stockElements, []probe{
			asks("ZSCORE", func(key string, i, _ int) []string { return []string{"ZSCORE", key, numbered(i)} }),
			asks("ZRANK", func(key string, i, _ int) []string { return []string{"ZRANK", key, numbered(i)} }),
			asks("ZRANGE, 10 by rank", func(key string, i, _ int) []string {
				return []string{"ZRANGE", key, strconv.Itoa(i), strconv.Itoa(i + 9)}
			}),
			asks("ZRANGE BYSCORE LIMIT", func(key string, i, _ int) []string {
				return []string{"ZRANGE", key, strconv.Itoa(i), "+inf", "BYSCORE", "LIMIT", "0", "10"}
			}),
		}},
	{"list", func(key string) []string { return []string{"RPUSH", key} },
		func(i int) []string { return []string{numbered(i)} }, stockElements, []probe{
			asks("LINDEX, the middle", func(key string, i, n int) []string {
				return []string{"LINDEX", key, strconv.Itoa(n/4 + i/2)}
			}),
		}},
	{"set", func(key string) []string { return []string{"SADD", key} },
		func(i int) []string { return []string{numbered(i)} }, stockElements, []probe{
			asks("SISMEMBER", func(key string, i, _ int) []string { return []string{"SISMEMBER", key, numbered(i)} }),
		}},
	{"stream", func(key string) []string { return []string{"XADD", key} },
		func(i int) []string { return []string{fmt.Sprintf("%d-1", i+1), "field", "value"} }, 1, []probe{
			asks("XRANGE COUNT 10", func(key string, i, _ int) []string {
				return []string{"XRANGE", key, strconv.Itoa(i + 1), "+", "COUNT", "10"}
			}),
		}},
}

// scanOn takes one more step of a scan that begins anew where it ends.
func scanOn(c *conn, _ *rand.Rand, key string, _ int) error {
	if c.cursors == nil {
		c.cursors = make(map[string]string)
	}
	from := c.cursors[key]
	if from == "" {
		from = "0"
	}
	next, err := c.scan("HSCAN", key, from, "COUNT", "10")
	c.cursors[key] = next
	return err
}

// A largeRow is one command, in microseconds.
type largeRow struct {
	Name  string  `json:"name"`
	Few   figures `json:"few"`
	Many  figures `json:"many"`
	Ratio float64 `json:"p50_ratio"`
}

// A largeDelete is what a DEL of a large collection takes, and what others see meanwhile.
type largeDelete struct {
	Kind   string  `json:"kind"`
	Millis float64 `json:"del_ms"`
}

type largeResult struct {
	Elements int           `json:"elements"`
	Rows     []largeRow    `json:"rows"`
	Deletes  []largeDelete `json:"deletes"`
	// Before and Purge are SET and GET of small keys by one client, without a pipeline.
	Before figures `json:"before"`
	Purge  figures `json:"purge"`
	// PurgeMost is the slowest of them, in milliseconds.
	PurgeMost  float64 `json:"purge_most_ms"`
	BeforeMost float64 `json:"before_most_ms"`
}

func (g *giant) run(ctx context.Context) (r largeResult, err error) {
	r.Elements = g.opt.large
	s, err := startServer(ctx, ringsideLaunch(g.ringside, filepath.Join(g.dir, "large"), nil))
	if err != nil {
		return r, err
	}
	defer s.stop()
	limited, cancel := s.guard(ctx, 2*time.Minute+time.Duration(g.opt.large)*time.Millisecond)
	defer cancel()
	c, err := dial(limited, s.addr)
	if err != nil {
		return r, err
	}
	defer c.Close()
	defer context.AfterFunc(limited, func() { c.Close() })()
	for i := range largeKinds {
		k := &largeKinds[i]
		g.progress.show("%s: %d elements", k.name, g.opt.large)
		if err := errors.Join(k.make(c, k.name+":few", fewElements), k.make(c, k.name+":many", g.opt.large)); err != nil {
			return r, fmt.Errorf("fill the %s: %w", k.name, err)
		}
	}
	settle(limited, s, settleMost)
	g.progress.clear()
	printLargeHead(g.rows, g.opt.large)
	for i := range largeKinds {
		for _, p := range largeKinds[i].probes {
			row, err := p.measure(c, largeKinds[i].name, g.opt.large)
			if err != nil {
				return r, fmt.Errorf("%s: %w", p.name, err)
			}
			r.Rows = append(r.Rows, row)
			g.progress.clear()
			printLargeRow(g.rows, row)
		}
	}
	g.progress.show("before the deletion")
	if r.Before, r.BeforeMost, err = g.others(limited, s.addr); err != nil {
		return r, err
	}
	for i := range largeKinds {
		start := time.Now()
		if _, err := c.do("DEL", largeKinds[i].name+":many"); err != nil {
			return r, fmt.Errorf("DEL: %w", err)
		}
		r.Deletes = append(r.Deletes, largeDelete{largeKinds[i].name, float64(time.Since(start).Microseconds()) / 1000})
	}
	g.progress.show("while all of it is purged")
	if r.Purge, r.PurgeMost, err = g.others(limited, s.addr); err != nil {
		return r, err
	}
	g.progress.clear()
	printLargeFoot(g.rows, r)
	return r, s.died()
}

// make fills a collection with so many elements.
func (k *largeKind) make(c *conn, key string, n int) error {
	var requests []byte
	commands := 0
	for at := 0; at < n; {
		args := k.fill(key)
		for end := min(at+k.batch, n); at < end; at++ {
			args = append(args, k.each(at)...)
		}
		requests = wire.AppendRequest(requests, args...)
		if commands++; commands < largePipeline && at < n {
			continue
		}
		if err := c.SetDeadline(time.Now().Add(2 * callLimit)); err != nil {
			return err
		}
		if err := c.exchange(requests, commands); err != nil {
			return err
		}
		requests, commands = requests[:0], 0
	}
	return nil
}

// measure asks both sizes in turn, so that both get the same of what else the machine does.
func (p *probe) measure(c *conn, kind string, n int) (row largeRow, err error) {
	few, many := newHistogram(), newHistogram()
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	for range largeProbes {
		if err := errors.Join(p.time(c, rng, kind+":few", fewElements, few), p.time(c, rng, kind+":many", n, many)); err != nil {
			return row, err
		}
	}
	row = largeRow{Name: p.name, Few: figuresOf(few), Many: figuresOf(many)}
	row.Ratio = row.Many.P50 / row.Few.P50
	return row, nil
}

func (p *probe) time(c *conn, rng *rand.Rand, key string, n int, h *hdrhistogram.Histogram) error {
	start := time.Now()
	if err := c.SetDeadline(start.Add(callLimit)); err != nil {
		return err
	}
	if err := p.ask(c, rng, key, n); err != nil {
		return err
	}
	return h.RecordValue(min(max(time.Since(start).Microseconds(), 1), h.HighestTrackableValue()))
}

// others are one client that sets and gets small keys for a while.
func (g *giant) others(ctx context.Context, addr string) (f figures, most float64, err error) {
	c, err := dial(ctx, addr)
	if err != nil {
		return f, 0, err
	}
	defer c.Close()
	h := newHistogram()
	set := asks("SET", func(_ string, i, _ int) []string { return []string{"SET", "small:" + strconv.Itoa(i), "value"} })
	get := asks("GET", func(_ string, i, _ int) []string { return []string{"GET", "small:" + strconv.Itoa(i)} })
	rng := rand.New(rand.NewPCG(1, 2))
	for end := time.Now().Add(g.watch()); time.Now().Before(end) && ctx.Err() == nil; {
		if err := errors.Join(set.time(c, rng, "", fewElements, h), get.time(c, rng, "", fewElements, h)); err != nil {
			return f, 0, err
		}
	}
	return figuresOf(h), float64(h.Max()) / 1000, context.Cause(ctx)
}

func (g *giant) watch() time.Duration {
	if g.opt.quick {
		return time.Second
	}
	return purgeWatch
}

// figuresOf are those of latencies, one after the other, in microseconds.
func figuresOf(h *hdrhistogram.Histogram) figures {
	const perMs = 1000
	f := figures{P50: float64(h.ValueAtQuantile(50)) / perMs, P99: float64(h.ValueAtQuantile(99)) / perMs}
	if mean := h.Mean(); mean > 0 {
		f.OpsPerSec = 1e6 / mean
	}
	return f
}
