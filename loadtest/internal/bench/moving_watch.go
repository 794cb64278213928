package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// moveQuiet is how long nothing has moved when a move is over.
const moveQuiet = 3 * time.Second

// watchMove waits until the newest of the nodes has its share, and prints how fast it came.
func watchMove(ctx context.Context, o *movingOptions, crew []*cluster.Process, load *moveLoad) error {
	var conns []*cluster.Conn
	for _, n := range crew {
		c, err := cluster.Dial(n.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		conns = append(conns, c)
	}
	var began, changed time.Time
	spent := make([]time.Duration, len(crew))
	used := make([]time.Duration, len(crew))
	var profiles sync.WaitGroup
	defer profiles.Wait()
	last, moved, all := "", int64(0), int64(0)
	for {
		figures, state := make([]map[string]int64, len(conns)), ""
		pending := int64(0)
		for i, c := range conns {
			var err error
			if figures[i], err = c.Info(); err != nil {
				return fmt.Errorf("%s: RING INFO: %w", crew[i].ID, err)
			}
			pending += figures[i]["pending"]
			state += fmt.Sprint(figures[i]["primaries"], " ")
		}
		newest := figures[len(figures)-1]
		now := time.Now()
		if began.IsZero() && (pending > 0 || newest["primaries"] > 0) {
			began = now
			for i, n := range crew {
				used[i] = n.CPU()
				if o.Profile != "" && len(crew) == o.nodes {
					profiles.Go(func() {
						if err := n.Profile(filepath.Join(o.Profile, n.ID+".pprof"), 3); err != nil {
							fmt.Println("profile:", err)
						}
					})
				}
			}
		}
		if state != last || pending > 0 {
			last, changed = state, now
			for i, n := range crew {
				spent[i] = n.CPU() - used[i]
			}
			moved, all = newest["own_bytes_estimate"], 0
			for _, f := range figures {
				all += f["own_bytes_estimate"]
			}
		}
		if !began.IsZero() && newest["primaries"] > 0 && now.Sub(changed) > moveQuiet {
			break
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	took := changed.Sub(began)
	fmt.Printf("%s: %s ranges, %.1f MB in %v: %.1f MB/s\n", crew[len(crew)-1].ID, last,
		float64(moved)/1e6, took.Round(time.Millisecond), float64(moved)/1e6/took.Seconds())
	least := float64(all) / float64(len(crew))
	fmt.Printf("  that is %+.2f %% of the least that gives every node its share\n", 100*(float64(moved)/least-1))
	fmt.Printf("  processor time of each node: %v\n", spent)
	if load != nil {
		return load.report(began, changed)
	}
	return nil
}
