package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// A contest measures who forwards requests to several backends: nutcracker before
// redis-servers, a Ringside proxy before stand-ins of their speed that speak Ringside's
// protocol, and a Ringside proxy before Ringside nodes. All get the same load in turn.
type contest struct {
	opt      options
	driver   driver
	dir      string
	ringside string // binary
	progress *progress
	rows     io.Writer
}

// The contenders, in the order in which they are shown. The first is what the others are
// compared with.
const (
	asNutcracker = "nutcracker"
	asProxy      = "proxy"
	asCluster    = "cluster"
)

// Ratios that the proxy before stand-ins is to reach.
const (
	minForwardDeep = 1.6
	minForwardOne  = 0.8
)

// A contender is a group of processes with one that clients talk to.
type contender struct {
	name    string
	front   *server
	servers []*server // in the order of their start, front among them
}

func (c *contender) stop() {
	for _, s := range slices.Backward(c.servers) {
		s.stop()
	}
}

// died returns why one of the processes has ended, if one has.
func (c *contender) died() error {
	for _, s := range c.servers {
		if err := s.died(); err != nil {
			return err
		}
	}
	return nil
}

// forwardWorkloads are what each contender is given.
func forwardWorkloads(opt options) []workload {
	p := pairing{mode: "forward", valueSize: 64}
	for _, command := range []string{"SET", "GET"} {
		for _, pipeline := range []int{16, 1} {
			p.add(opt, command, pipeline)
			w := &p.workloads[len(p.workloads)-1]
			w.maxP99, w.minRatio = 0, minForwardDeep
			if pipeline == 1 {
				w.minRatio = minForwardOne
			}
		}
	}
	var chosen []workload
	for _, w := range p.workloads {
		if opt.only == nil || opt.only.MatchString(w.name) {
			chosen = append(chosen, w)
		}
	}
	return chosen
}

// run measures all workloads. Contenders that cannot be started are left out, and the
// reason is printed.
func (c *contest) run(ctx context.Context) (result forwardResult, err error) {
	result.Backends = c.opt.backends
	starts := []struct {
		name  string
		start func(ctx context.Context, dir string) (*contender, error)
	}{
		{asNutcracker, c.startNutcracker},
		{asProxy, c.startProxy},
		{asCluster, c.startCluster},
	}
	var contenders []*contender
	defer func() {
		c.progress.show("stopping")
		for _, one := range contenders {
			one.stop()
		}
		c.progress.clear()
	}()
	for _, s := range starts {
		c.progress.show("forwarding: starting %s", s.name)
		dir := filepath.Join(c.dir, s.name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return result, err
		}
		one, err := s.start(ctx, dir)
		if one != nil {
			one.name = s.name
			contenders = append(contenders, one)
		}
		c.progress.clear()
		if errors.Is(err, errLeftOut) {
			fmt.Fprintf(c.rows, "%s is left out: %v\n", s.name, err)
			continue
		}
		if err != nil {
			return result, fmt.Errorf("%s: %w", s.name, err)
		}
		c.progress.show("forwarding: filling %s with %d keys", s.name, c.opt.keys)
		limited, cancel := one.front.guard(ctx, timeLimit(2*c.opt.keys))
		err = fill(limited, one.front.addr, c.opt.keys, 64)
		cancel()
		if err != nil {
			return result, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	c.progress.clear()
	printForwardHead(c.rows, c.opt.backends)
	for _, w := range forwardWorkloads(c.opt) {
		r, err := c.measure(ctx, w, contenders)
		c.progress.clear()
		if err != nil {
			return result, fmt.Errorf("%s: %w", w.name, err)
		}
		result.Workloads = append(result.Workloads, r)
		printForwardRows(c.rows, r)
	}
	printForwardFoot(c.rows)
	return result, nil
}

// measure lets the contenders take turns, each time another one first.
func (c *contest) measure(ctx context.Context, w workload, contenders []*contender) (forwardWorkload, error) {
	r := forwardWorkload{Name: w.name, Command: w.command, Pipeline: w.pipeline, Requests: w.requests, MinRatio: w.minRatio}
	for _, one := range contenders {
		r.Contenders = append(r.Contenders, forwardSamples{Name: one.name})
	}
	for round := range c.opt.rounds {
		for turn := range contenders {
			i := (turn + round) % len(contenders)
			c.progress.show("%s: %s, round %d of %d", w.name, contenders[i].name, round+1, c.opt.rounds)
			s, err := c.sample(ctx, w, contenders[i])
			if err != nil {
				return r, fmt.Errorf("%s: %w", contenders[i].name, err)
			}
			r.Contenders[i].Samples = append(r.Contenders[i].Samples, s)
		}
	}
	r.summarize()
	return r, nil
}

func (c *contest) sample(ctx context.Context, w workload, one *contender) (forwardSample, error) {
	for _, s := range one.servers {
		settle(ctx, s, settleMost)
	}
	limited, cancel := one.front.guard(ctx, timeLimit(w.requests))
	defer cancel()
	before := one.cpu()
	f, err := c.driver.drive(limited, load{addr: one.front.addr, command: w.command, valueSize: 64,
		pipeline: w.pipeline, requests: w.requests, clients: c.opt.clients, keys: c.opt.keys})
	if err == nil {
		err = one.died()
	}
	if err != nil {
		return forwardSample{}, err
	}
	after := one.cpu()
	s := forwardSample{figures: f}
	for i := range after {
		used := (after[i] - before[i]).Seconds() * 1e6 / float64(w.requests)
		s.AllCPU += used
		if one.servers[i] == one.front {
			s.FrontCPU = used
		}
	}
	return s, nil
}

// errLeftOut says why a contender does not take part.
var errLeftOut = errors.New("not measured")

func lookFor(binary string) (string, error) {
	path, err := exec.LookPath(binary)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLeftOut, err)
	}
	return path, nil
}
