package loadtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/client"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

const (
	// clearWithin is how long the removal of keys may take.
	clearWithin = 5 * time.Minute
	// startWithin is how long a cluster may take to start, and clients to connect.
	startWithin = 3 * time.Minute
	// settleWithin is how long a cluster may take to be whole after the load.
	settleWithin = 2 * time.Minute
	// endWithin is how long what ends may take: clients that end what they are at.
	endWithin = 20 * time.Second
	// recheckWithin is for how long keys are read once more in the end.
	recheckWithin = 2 * time.Minute
	// eventWithin is how long an event may take, and balanceWithin how long one waits for
	// balance where the script says so.
	eventWithin   = time.Minute
	balanceWithin = 10 * time.Minute
)

var errInterrupted = errors.New("interrupted")

// A play is the script, played once for one contestant.
type play struct {
	cfg   *Config
	one   *Contestant
	board *line
	run   result.Run

	fleet   *cluster.Cluster // nil for what runs already
	model   *check.Model
	load    *client.Load
	hot     workload.Hotspot
	watch   *cluster.Watch // nil if nobody knows the nodes
	watched bool
	began   time.Time // when clients did
	events  *events
}

// do plays, and leaves what there is in run.
func (p *play) do(ctx context.Context) {
	err := p.play(ctx)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		p.run.Failure = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	p.board.done(p.run.Failure)
}

func (p *play) play(ctx context.Context) (err error) {
	p.board.phase("start")
	if err := p.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	rest := p.cfg.Script
	for len(rest) > 0 && rest[0].Kind == StepLoad {
		if err := p.fill(ctx, rest[0].Keys); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if err := p.settle(ctx); err != nil {
		return err
	}
	if err := p.begin(ctx); err != nil {
		return err
	}
	playing, stop := context.WithCancelCause(ctx)
	var minding sync.WaitGroup
	minding.Go(func() { p.mind(playing, stop) })
	for i := range rest {
		if err = p.step(playing, &rest[i]); err != nil {
			if gone := context.Cause(playing); errors.Is(gone, errGone) {
				err = gone
			}
			err = fmt.Errorf("%v: %w", rest[i], err)
			break
		}
	}
	stop(nil)
	minding.Wait()
	return errors.Join(err, p.end(ctx, err == nil))
}

// start makes the cluster, if one is to be made, and connects clients.
func (p *play) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	targets := func() []string { return p.one.Addrs }
	if !p.one.runsAlready() {
		f, err := cluster.Start(ctx, p.cfg.fleet(p.one))
		if err != nil {
			return err
		}
		p.fleet = f
		targets = f.Addrs
	}
	load := p.cfg.load(targets)
	load.Workload.Hotspot = &p.hot
	if p.fleet != nil {
		load.Password = p.cfg.Fleet.Password
	}
	var err error
	if p.cfg.Verify {
		name := func(key int64) string { return string(load.Workload.AppendKey(nil, key)) }
		p.model, err = check.NewModel(check.Config{Clients: load.Writers(), Fresh: p.fleet != nil, Name: name})
		load.Check = p.model
	}
	if err == nil {
		p.load, err = client.Open(ctx, load)
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	return nil
}

// load is what clients do with targets.
func (c *Config) load(targets func() []string) client.Config {
	load := c.Config
	load.Targets = targets
	load.Workload.Stamped = load.Workload.Stamped || c.Verify
	if len(load.Workload.Names) == 0 {
		load.Workload.Keys = c.keys()
	}
	return load
}

func (p *play) fill(ctx context.Context, keys int64) error {
	p.board.phase(Step{Kind: StepLoad, Keys: keys}.String())
	p.board.fills(p.load, keys)
	defer p.board.rests()
	began := time.Now()
	if err := p.load.Fill(ctx, keys); err != nil {
		return err
	}
	p.run.LoadKeys += keys
	p.run.LoadSeconds += time.Since(began).Seconds()
	return nil
}

// settle waits until a cluster is whole after the load: a backup that fell behind would be
// copied again later, and be put down to an event.
func (p *play) settle(ctx context.Context) error {
	if p.fleet == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	if err := p.fleet.Balanced(ctx); err != nil {
		return fmt.Errorf("it is not whole after the load: %w", err)
	}
	return nil
}

// begin lets clients begin.
func (p *play) begin(ctx context.Context) error {
	p.began = time.Now()
	p.load.Start()
	cfg := cluster.WatchConfig{Began: p.began, Sample: p.board.sample, Profile: true}
	var err error
	if p.fleet != nil {
		p.watch, err = p.fleet.Watch(ctx, cfg)
	} else {
		cfg.Addrs, cfg.Username, cfg.Password, cfg.TLS = p.one.Addrs, p.cfg.Username, p.cfg.Password, p.cfg.TLS
		if p.watch, err = cluster.StartWatch(ctx, cfg); err != nil {
			p.watch, err = nil, nil // it is none of ours: clients are all that is seen
		}
	}
	p.watched = p.watch != nil
	p.events = &events{p: p}
	p.board.runs(p.load, p.cfg.Script.Takes())
	return err
}

// step plays one.
func (p *play) step(ctx context.Context, s *Step) error {
	p.load.Phase(s.String())
	p.board.phase(s.String())
	switch s.Kind {
	case StepRun:
		return cluster.Sleep(ctx, s.For)
	case StepBalance:
		ctx, cancel := context.WithTimeout(ctx, balanceWithin)
		defer cancel()
		err := p.fleet.Balanced(ctx)
		if err == nil {
			p.events.balanced()
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, eventWithin)
	defer cancel()
	return p.events.happens(ctx, s)
}

// end ends clients, reads everything once more if the script was played as a whole, and
// gathers what there is. It does so also when ctx has ended.
func (p *play) end(ctx context.Context, whole bool) error {
	bare := context.WithoutCancel(ctx)
	p.events.last(bare)
	p.board.rests()
	ending, cancel := context.WithTimeout(bare, endWithin)
	defer cancel()
	result, err := p.load.Stop(ending)
	if p.watch != nil {
		p.run.Samples, p.run.Layouts = p.watch.Stop()
	}
	if err != nil {
		return err
	}
	p.run.GeneratorCores, p.run.GeneratorSaturated = result.Cores, result.Saturated
	if cores, ok := generatorCores(p.run.Samples); ok {
		p.run.GeneratorCores = cores // without the nodes', in whose process it is
	}
	p.run.All, p.run.Phases, p.run.Windows = result.Series.All(), result.Series.Phases(), result.Series.Windows()
	p.run.Events = p.events.figures(result.Series, result.Took)
	if p.model != nil {
		if whole && ctx.Err() == nil {
			p.board.phase("check")
			within, cancel := context.WithTimeout(ctx, recheckWithin)
			defer cancel()
			err = p.load.Recheck(within)
		}
		checked := p.model.Checked()
		p.run.Checked = &checked
	}
	return err
}

// generatorCores is the mean of what samples say of the generator.
func generatorCores(samples []result.Sample) (cores float64, ok bool) {
	n := 0
	for i := range samples {
		if c := samples[i].GeneratorCores; c != nil {
			cores += *c
			n++
		}
	}
	return cores / float64(max(n, 1)), n > 0
}

func (p *play) close() error {
	var faults []error
	if p.load != nil {
		faults = append(faults, p.clear(), p.load.Close())
	}
	if p.fleet != nil {
		faults = append(faults, p.fleet.Close())
	}
	return errors.Join(faults...)
}

// clear removes the keys of a run from servers that go on.
func (p *play) clear() error {
	if !p.cfg.Clear || !p.one.runsAlready() {
		return nil
	}
	p.board.phase("remove keys")
	ctx, cancel := context.WithTimeout(context.Background(), clearWithin)
	defer cancel()
	return p.load.Clear(ctx, p.cfg.keys())
}

// spareNames refuses a load that would write keys which a server that runs already holds under their names.
func (c *Config) spareNames(ctx context.Context) error {
	if c.Overwrite || len(c.Workload.Names) == 0 || !c.writes() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clearWithin)
	defer cancel()
	for i := range c.Contestants {
		one := &c.Contestants[i]
		if !one.runsAlready() {
			continue
		}
		cfg := c.load(func() []string { return one.Addrs })
		cfg.Workload.Clients = 1
		load, err := client.Open(ctx, cfg)
		if err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		key, err := load.FindKey(ctx)
		if err = errors.Join(err, load.Close()); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		if key != nil {
			return fmt.Errorf("%s: %.100q: %w", one.Name, key, ErrInUse)
		}
	}
	return nil
}

// ErrInUse says that a load would write keys which are there already.
var ErrInUse = errors.New("a key of this name is there already, and its value would be lost: the load writes to all named keys and does not remove them")

// writes reports whether the load changes any key.
func (c *Config) writes() bool {
	return slices.ContainsFunc(c.Script, func(s Step) bool { return s.Kind == StepLoad }) ||
		slices.ContainsFunc(c.Workload.Mix.Commands, func(m workload.Command) bool { return m.Writes })
}

// lookBefore says which servers that run already hold keys.
func (c *Config) lookBefore(ctx context.Context) {
	if c.Notice == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	for i := range c.Contestants {
		one := &c.Contestants[i]
		if !one.runsAlready() {
			continue
		}
		n, err := client.Size(ctx, c.load(nil), one.Addrs[0])
		if err != nil || n == 0 {
			continue // a fault is that of the run
		}
		text := fmt.Sprintf("%s holds %d keys already, and this load is put on it beside what it does; keys of the load ", one.Name, n)
		switch {
		case len(c.Workload.Names) > 0:
			text += "have names of their own"
		default:
			text += fmt.Sprintf("begin with %q", c.Workload.Prefix)
		}
		switch {
		case c.Clear:
			text += ", and are removed at the end"
		case c.writes():
			text += ", take the place of keys of the same names, and are not removed"
		}
		c.Notice(text)
	}
}
