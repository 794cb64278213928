package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

const (
	fewElements = 1000
	largeProbes = 2000 // of each command on each size, alternating
)

// Placeholders of probes and elements, beside those of loads.
const (
	nextMark   = "<i+1>"
	endMark    = "<i+9>"
	middleMark = "<n/4+i/2>" // an index in the middle half of n elements
	cursorMark = "<cursor>"  // of the reply before, to continue a scan
)

// A largeKind is one type of collection and what is asked of it.
type largeKind struct {
	collection
	Name   string
	Probes []probe
}

// A probe is a command that is timed, on a collection of n elements.
type probe struct {
	Name    string
	Request []string
}

// A prober times probes over one connection, one request at a time.
type prober struct {
	conn    *cluster.Conn
	rng     *rand.Rand
	cursors map[string]string // by key
}

// time sends the request for a random one of n elements of key.
func (p *prober) time(h *hdrhistogram.Histogram, request []string, key string, n int) error {
	i := p.rng.IntN(n)
	words := expand(request, keyMark, key, indexMark, strconv.Itoa(i), numberMark, digits(i), nextMark, strconv.Itoa(i+1),
		endMark, strconv.Itoa(i+9), middleMark, strconv.Itoa(n/4+i/2), cursorMark, cmp.Or(p.cursors[key], "0"))
	start := time.Now()
	p.conn.AddWords(words...)
	if err := p.conn.Flush(); err != nil {
		return err
	}
	reply, err := p.conn.Strings()
	if err != nil {
		return err
	}
	if err := record(h, start, 1); err != nil {
		return err
	}
	if slices.Contains(request, cursorMark) {
		p.cursors[key] = reply[0]
	}
	return nil
}

// A largeRow is one command, on few and on many elements.
type largeRow struct {
	Name  string  `json:"name"`
	Few   figures `json:"few"`
	Many  figures `json:"many"`
	Ratio float64 `json:"p50_ratio"`
}

// A largeDelete is what a DEL of a large collection takes.
type largeDelete struct {
	Kind   string  `json:"kind"`
	Millis float64 `json:"del_ms"`
}

type largeResult struct {
	Elements int           `json:"elements"`
	Rows     []largeRow    `json:"rows"`
	Deletes  []largeDelete `json:"deletes"`
	// Before and Purge are SET and GET of small keys by one client, without a pipeline: before the
	// deletion, and while the deleted collections are removed.
	Before figures `json:"before"`
	Purge  figures `json:"purge"`
	// PurgeMost is the slowest of them, in milliseconds.
	PurgeMost  float64 `json:"purge_most_ms"`
	BeforeMost float64 `json:"before_most_ms"`
}

// runLarge measures what commands on collections of many elements take beside what they take on
// collections of a thousand, and what it costs others when the many are deleted.
func (s *session) runLarge(ctx context.Context) (r largeResult, err error) {
	r.Elements = s.opt.large
	one := newSide(ctx, asRingside)
	defer one.stop()
	if err := one.start(ringsideLaunch(s.ringside, filepath.Join(s.dir, "large"))); err != nil {
		return r, err
	}
	ctx, cancel := one.within(2*time.Minute + time.Duration(s.opt.large)*time.Millisecond)
	defer cancel()
	c, err := cluster.DialContext(ctx, one.front().addr)
	if err != nil {
		return r, err
	}
	defer c.Close()
	defer s.progress.clear()
	for _, k := range rows.Large {
		s.progress.show("%s: %d elements", k.Name, s.opt.large)
		for key, n := range map[string]int{k.Name + ":few": fewElements, k.Name + ":many": s.opt.large} {
			if err := k.fill(c, key, n, ""); err != nil {
				return r, fmt.Errorf("fill the %s: %w", k.Name, err)
			}
		}
	}
	one.settle(s.opt.settleLimit())
	s.progress.clear()
	fmt.Fprintf(s.out, "\nCollections of %d elements beside those of %d, one client, no pipeline\n", s.opt.large, fewElements)
	largeTable.row(s.out, largeTable.head...)
	p := &prober{c, rand.New(rand.NewPCG(uint64(s.opt.large), 0)), make(map[string]string)}
	for _, k := range rows.Large {
		for _, probe := range k.Probes {
			row, err := p.compare(&probe, k.Name, s.opt.large)
			if err != nil {
				return r, fmt.Errorf("%s: %w", probe.Name, err)
			}
			r.Rows = append(r.Rows, row)
			largeTable.row(s.out, row.Name, fixed(row.Few.P50, 3), fixed(row.Few.P99, 3), fixed(row.Many.P50, 3),
				fixed(row.Many.P99, 3), fixed(row.Ratio, 2))
		}
	}
	s.progress.show("before the deletion")
	if r.Before, r.BeforeMost, err = p.others(ctx, s.opt.watchTime()); err != nil {
		return r, err
	}
	for _, k := range rows.Large {
		start := time.Now()
		if _, err := c.Do("DEL", k.Name+":many"); err != nil {
			return r, fmt.Errorf("DEL: %w", err)
		}
		r.Deletes = append(r.Deletes, largeDelete{k.Name, float64(time.Since(start).Microseconds()) / 1000})
	}
	s.progress.show("while all of it is purged")
	if r.Purge, r.PurgeMost, err = p.others(ctx, s.opt.watchTime()); err != nil {
		return r, err
	}
	s.progress.clear()
	r.printFoot(s.out)
	return r, context.Cause(one.alive)
}

// compare asks both sizes in turn, so that both get the same of what else the machine does.
func (p *prober) compare(probe *probe, kind string, n int) (row largeRow, err error) {
	few, many := newHistogram(), newHistogram()
	for range largeProbes {
		if err := p.time(few, probe.Request, kind+":few", fewElements); err != nil {
			return row, err
		}
		if err := p.time(many, probe.Request, kind+":many", n); err != nil {
			return row, err
		}
	}
	row = largeRow{Name: probe.Name, Few: figuresOf(few), Many: figuresOf(many)}
	row.Ratio = row.Many.P50 / row.Few.P50
	return row, nil
}

// others sets and gets small keys for a while, as other clients would.
func (p *prober) others(ctx context.Context, d time.Duration) (f figures, most float64, err error) {
	h := newHistogram()
	for end := time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil; {
		for _, request := range [][]string{{"SET", "small:" + indexMark, "value"}, {"GET", "small:" + indexMark}} {
			if err := p.time(h, request, "", fewElements); err != nil {
				return f, 0, err
			}
		}
	}
	return figuresOf(h), float64(h.Max()) / 1000, context.Cause(ctx)
}

func (r *largeResult) printFoot(w io.Writer) {
	var deletes []string
	for _, d := range r.Deletes {
		deletes = append(deletes, d.Kind+" "+fixed(d.Millis, 2))
	}
	fmt.Fprintln(w)
	wrap(w, "DEL, ms  ", "%s", strings.Join(deletes, ", "))
	wrap(w, "others   ", "SET and GET of small keys: p50 %s ms, p99 %s, at most %s; while all that is purged: p50 %s, p99 %s, at most %s",
		fixed(r.Before.P50, 3), fixed(r.Before.P99, 3), fixed(r.BeforeMost, 2),
		fixed(r.Purge.P50, 3), fixed(r.Purge.P99, 3), fixed(r.PurgeMost, 2))
}
