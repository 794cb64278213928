package loadtest

import (
	"context"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// Run plays the script for each contestant in each round. It returns what there is when ctx
// ends, too. What goes wrong for a contestant ends its run, and stands in the report; an
// error is for a Config that makes no sense, or that would overwrite the data of others.
func Run(ctx context.Context, cfg Config) (*result.Report, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("loadtest: %w", err)
	}
	began := time.Now()
	r := &result.Report{
		Version: result.Version, Ringside: cfg.Version, Command: cfg.Command, Began: began.UTC(),
		Machine: Machine(), Settings: cfg.Settings, Script: cfg.Script.String(),
		WindowMS: milliseconds(cfg.Window), Rounds: cfg.Rounds,
	}
	for _, one := range cfg.Contestants {
		r.Contestants = append(r.Contestants, result.Contestant{Name: one.Name, Cluster: !one.runsAlready()})
	}
	if err := cfg.spareNames(ctx); err != nil {
		return nil, fmt.Errorf("loadtest: %w", err)
	}
	cfg.lookBefore(ctx)
	b := newBoard(&cfg)
	for round := 1; round <= cfg.Rounds && ctx.Err() == nil; round++ {
		for _, i := range order(len(cfg.Contestants), round) {
			if ctx.Err() != nil {
				break
			}
			p := &play{cfg: &cfg, one: &cfg.Contestants[i], board: b.of(i, round)}
			p.run.Round, p.run.Began = round, time.Since(began).Seconds()
			p.do(ctx)
			r.Contestants[i].Runs = append(r.Contestants[i].Runs, p.run)
			r.Contestants[i].Cluster = r.Contestants[i].Cluster || p.watched
		}
	}
	b.close()
	r.Interrupted = ctx.Err() != nil
	r.TookSeconds = time.Since(began).Seconds()
	r.Notes = notes(&cfg, r)
	return r, nil
}

// order is the order of contestants in a round. Each round begins with another one, so that no
// contestant always runs on the coolest or on the busiest machine.
func order(contestants, round int) []int {
	all := make([]int, contestants)
	for k := range all {
		all[k] = (round - 1 + k) % contestants
	}
	return all
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
