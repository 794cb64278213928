package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/ring/strategy"
)

// Run simulates and returns the report. It computes on all cores, keeps no goroutine
// and may be called many times at once. If the context ends before it is done, it
// returns what is done with Report.Stopped set, and no error; this takes no longer than
// what is computed as a whole: one placement, or one read from the key source.
//
// A key that is lost in a crash is there again afterwards, at its new owners.
func Run(ctx context.Context, c Config) (*Report, error) {
	began := time.Now()
	r, err := c.prepare()
	if err != nil {
		return nil, err
	}
	r.crew = newCrew(ctx, c.Progress)
	err = r.all()
	if err != nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) {
		return nil, err
	}
	report := r.report()
	report.Took = time.Since(began)
	return report, nil
}

// A run is a valid configuration, and what is known of it so far.
type run struct {
	*Config
	script     *script
	contenders []entry

	crew     *crew
	keys     keyspace
	fair     []shares    // of each scene
	outcomes [][]Outcome // of each contender in each scene
	leasts   [][]Amount  // of each contender in each scene
	tidied   time.Time
}

// all does the contenders one after the other, so that only one needs memory: first
// those with a field, which is made once for each token function, and then the
// yardsticks, which share the hashes of keys.
func (r *run) all() error {
	r.outcomes = make([][]Outcome, len(r.contenders))
	r.leasts = make([][]Amount, len(r.contenders))
	r.crew.tasks = 1 + len(r.contenders)*(1+len(r.script.scenes))
	r.crew.begin("keys")
	if err := r.makeKeys(); err != nil {
		return err
	}
	for i := range r.script.scenes {
		r.fair = append(r.fair, fairShares(r.script.scenes[i].members, r.Backups))
	}
	r.crew.finish()
	if err := r.strategies(); err != nil {
		return err
	}
	return r.yardsticks()
}

func (r *run) makeKeys() error {
	r.keys = keyspace{count: r.Keys, sizes: r.ValueSize, seed: r.Seed, bySlot: r.Base.Hash == strategy.Slot}
	if r.KeySource != nil {
		var err error
		r.keys.read, r.keys.count, err = readKeys(r.crew.ctx, r.KeySource)
		if err != nil {
			return fmt.Errorf("keys: %s: %w", cmp.Or(r.KeyFile, "input"), err)
		}
	}
	return r.keys.weigh(r.crew, r.Config)
}

func (r *run) strategies() error {
	var order []int // those with the same token function next to each other
	for i := range r.contenders {
		if r.contenders[i].strategy != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.tokenFunc(a), r.tokenFunc(b)) })
	var field field
	var filled string
	sample := r.keys.sample(sampleKeys)
	for _, i := range order {
		e := &r.contenders[i]
		r.crew.begin(e.Name + ": tokens")
		if tokens := r.tokenFunc(i); tokens != filled {
			if err := field.fill(r.crew, &r.keys, e.strategy.Token); err != nil {
				return err
			}
			filled = tokens
		}
		r.crew.finish()
		if err := r.through(i, newRanged(r, e, &field, sample)); err != nil {
			return err
		}
	}
	return nil
}

// tokenFunc names the token function of a strategy: strategies of one name have the
// same, and under slots all have.
func (r *run) tokenFunc(contender int) string {
	if r.keys.bySlot {
		return strategy.Slot
	}
	return r.contenders[contender].strategy.Name()
}

func (r *run) yardsticks() error {
	var hashes []uint64
	for i := range r.contenders {
		e := &r.contenders[i]
		if e.strategy != nil {
			continue
		}
		r.crew.begin(e.Name + ": hashes")
		if hashes == nil {
			hashes = make([]uint64, r.keys.count)
			hash := func(key []byte) uint64 { return wideKeyHash(key, r.keys.bySlot) }
			if err := ofEachKey(r.crew, &r.keys, hash, hashes); err != nil {
				return err
			}
		}
		r.crew.finish()
		if err := r.through(i, &keywise{run: r, hashes: hashes, rule: newRule(e), sample: r.keys.sample(timedKeys)}); err != nil {
			return err
		}
	}
	return nil
}

// through takes a contender through all scenes.
func (r *run) through(contender int, c contestant) error {
	name := r.contenders[contender].Name
	t := &tally{nodes: make([]nodeTally, len(r.script.nodes)), zones: r.script.zones}
	for i := range r.script.scenes {
		scene := &r.script.scenes[i]
		r.crew.begin(name + ": " + scene.event)
		t.begin()
		had := slices.Clone(t.nodes)
		err := c.step(i, t)
		if err == nil {
			err = r.crew.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, scene.event, err)
		}
		least := r.least(i)
		if scene.switched != "" {
			least = gained(had, t.nodes)
		}
		r.outcomes[contender] = append(r.outcomes[contender], outcome(t, scene, r.fair[i], least, &r.keys))
		r.leasts[contender] = append(r.leasts[contender], least)
		r.tidy()
		r.crew.finish()
	}
	return nil
}

// tidy collects the placements of past steps now and then. The collector by itself would
// let them become as much as all keys take before it looks.
func (r *run) tidy() {
	const largeKeys, often = 1 << 20, time.Second / 4
	if r.keys.count >= largeKeys && time.Since(r.tidied) > often {
		runtime.GC()
		r.tidied = time.Now()
	}
}

// report puts together what is done.
func (r *run) report() *Report {
	listed, steps := r.listed()
	report := &Report{
		Version: ReportVersion,
		Settings: Settings{
			Scenario:  r.Scenario,
			Order:     r.Order,
			Seed:      r.Seed,
			Nodes:     len(r.Members),
			Backups:   r.Backups,
			Zones:     r.Zones,
			Keys:      r.keys.count,
			Bytes:     r.keys.bytes,
			ValueSize: r.ValueSize.String(),
			Hash:      r.Base.Hash,
			ZipfTheta: r.ZipfTheta,
			HotKeys:   r.HotKeys,
			HotShare:  r.HotShare,
			Machine:   r.Machine,
			Go:        runtime.Version(),
		},
		Contenders: make([]Contender, 0, len(listed)),
		Steps:      make([]Step, 0, steps),
		Stopped:    len(listed) < len(r.contenders) || steps < len(r.script.scenes),
	}
	if r.KeySource != nil {
		report.Settings.KeyFile = cmp.Or(r.KeyFile, "input")
	}
	for _, i := range listed {
		report.Contenders = append(report.Contenders, r.contenders[i].Contender)
	}
	for i := range steps {
		scene := &r.script.scenes[i]
		step := Step{Event: scene.event, Least: r.least(i)}
		for _, m := range scene.members {
			step.Nodes = append(step.Nodes, Node{ID: m.ID, Weight: m.Weight, Zone: m.Zone})
		}
		for _, contender := range listed {
			step.Outcomes = append(step.Outcomes, r.outcomes[contender][i])
			if scene.switched != "" {
				step.LeastEach = append(step.LeastEach, r.leasts[contender][i])
			}
		}
		report.Steps = append(report.Steps, step)
	}
	return report
}

// listed are the contenders that the report has, and how many steps of each: all
// that are through, or else the one that has begun.
func (r *run) listed() (contenders []int, steps int) {
	for i := range r.outcomes {
		if len(r.outcomes[i]) == len(r.script.scenes) {
			contenders = append(contenders, i)
		}
	}
	if len(contenders) > 0 {
		return contenders, len(r.script.scenes)
	}
	for i := range r.outcomes {
		if n := len(r.outcomes[i]); n > 0 {
			return []int{i}, n
		}
	}
	return nil, 0
}
