package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

type evictingOptions struct {
	nodes
	rounds    int
	duration  time.Duration
	clients   int
	pipelines string
	size      int
	limit     int
	policies  string
	rest      time.Duration

	found map[string][]waited // by policy and pipeline
}

func evictingFlags(f *flag.FlagSet) func(context.Context) error {
	o := evictingOptions{nodes: buckets(), found: make(map[string][]waited)}
	o.Flags(f)
	o.ProfileFlag(f, "ID-POLICY-PIPELINE.pprof")
	f.IntVar(&o.rounds, "rounds", 5, "how often each is measured")
	f.DurationVar(&o.duration, "duration", 5*time.Second, "how long a measurement takes")
	f.IntVar(&o.clients, "clients", 50, "clients that write at the same time")
	f.StringVar(&o.pipelines, "pipelines", "1,16", "requests that each of them sends at a time")
	f.IntVar(&o.size, "size", 1000, "bytes of a value")
	f.IntVar(&o.limit, "limit", 256<<20, "bytes of data that fit (maxmemory)")
	f.StringVar(&o.policies, "policies", "allkeys-lru,allkeys-lfu", "how keys are evicted")
	f.DurationVar(&o.rest, "rest", 0, "pause of a client between a reply and its next request")
	return func(ctx context.Context) error {
		if o.rounds < 1 || o.clients < 1 || o.size < 1 || o.limit < 16*o.size || o.duration <= 0 {
			return errors.New("at least a round, a client, a byte, room for 16 values and some time are needed")
		}
		return o.run(ctx, "evicting", 1, func() error { return o.measureAll(ctx) })
	}
}

// A waited is how long writers waited in one measurement.
type waited struct {
	rate, evicted float64 // a second
	p50, p99, top time.Duration
	cpu           time.Duration // of the node, for a SET
}

// noEviction is the measurement without a limit.
const noEviction = "none"

func (o *evictingOptions) measureAll(ctx context.Context) error {
	fits := o.limit / o.size
	if err := cluster.FillKeys(ctx, []string{o.crew[0].Addr}, fits, o.size, 8); err != nil {
		return err
	}
	fmt.Printf("%-12s %8s %10s %10s %9s %9s %9s %9s\n", "policy", "pipeline", "SET/s", "evicted/s", "p50 ms", "p99 ms", "most ms", "CPU us")
	policies := append([]string{noEviction}, strings.Split(o.policies, ",")...)
	for round := range o.rounds {
		for _, text := range strings.Split(o.pipelines, ",") {
			pipeline, err := strconv.Atoi(text)
			if err != nil || pipeline < 1 {
				return fmt.Errorf("%q is not a number of requests", text)
			}
			for i := range policies {
				policy := policies[(i+round)%len(policies)]
				if err := o.measure(ctx, policy, pipeline); err != nil {
					return err
				}
			}
		}
	}
	o.print(policies[1:])
	return ctx.Err()
}

// measure has clients write keys, ten times as many as fit, while a policy holds.
func (o *evictingOptions) measure(ctx context.Context, policy string, pipeline int) error {
	if err := o.shrink(ctx, policy); err != nil {
		return err
	}
	l := &load{nodes: o.crew, clients: o.clients, pipeline: pipeline, size: o.size, rest: o.rest, key: func(int, *rand.Rand) []byte {
		return cluster.FillKey(rand.IntN(10 * o.limit / o.size)) // other keys than in the measurements before
	}}
	before, err := o.server(ctx, "stats", "evicted_keys")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d", policy, pipeline)
	profiled := o.startProfiles("-"+name, max(1, int(o.duration.Seconds())-1))
	spent := o.crew[0].CPU()
	l.start()
	err = errors.Join(cluster.Sleep(ctx, o.duration), l.stop(), profiled())
	if err != nil {
		return err
	}
	ended := time.Now()
	spent = o.crew[0].CPU() - spent
	after, err := o.server(ctx, "stats", "evicted_keys")
	if err != nil {
		return err
	}
	rate, took := l.between(l.began, ended)
	if len(took) == 0 {
		return errors.New("nothing was answered in time")
	}
	m := waited{rate: rate, evicted: float64(after-before) / ended.Sub(l.began).Seconds(), p50: took.quantile(0.5), p99: took.quantile(0.99), top: took.quantile(1),
		cpu: spent / time.Duration(len(took)*pipeline)}
	o.found[name] = append(o.found[name], m)
	fmt.Printf("%-12s %8d %10.0f %10.0f %9s %9s %9s %9.1f\n", policy, pipeline, m.rate, m.evicted, ms(m.p50), ms(m.p99), ms(m.top), m.cpu.Seconds()*1e6)
	return nil
}

// shrink sets the policy. Data that earlier measurements have added is evicted before it returns.
func (o *evictingOptions) shrink(ctx context.Context, policy string) error {
	evicts := policy
	if policy == noEviction {
		evicts = "allkeys-random"
	}
	if _, err := o.ask(ctx, "CONFIG", "SET", "maxmemory", strconv.Itoa(o.limit), "maxmemory-policy", evicts); err != nil {
		return err
	}
	for {
		held, err := o.server(ctx, "ringside", "data_bytes")
		if err != nil {
			return err
		}
		if held <= int64(o.limit) {
			break
		}
		if err := cluster.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if policy == noEviction {
		if _, err := o.ask(ctx, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction"); err != nil {
			return err
		}
	}
	return cluster.Sleep(ctx, time.Second) // for what that has left to do
}

// server returns a figure of INFO.
func (o *evictingOptions) server(ctx context.Context, section, name string) (int64, error) {
	info, err := o.ask(ctx, "INFO", section)
	n, ok := cluster.Numbers(info)[name]
	if err == nil && !ok {
		err = fmt.Errorf("INFO %s has no %s", section, name)
	}
	return n, err
}

// print prints medians, and how much longer writers wait while keys are evicted: the ratios of all rounds.
func (o *evictingOptions) print(policies []string) {
	fmt.Println(strings.Repeat("-", 83))
	for _, pipeline := range strings.Split(o.pipelines, ",") {
		without := o.found[noEviction+"-"+pipeline]
		for _, policy := range policies {
			with := o.found[policy+"-"+pipeline]
			p99, rate := ratiosOf(with, without, waited.tail), ratiosOf(with, without, waited.throughput)
			fmt.Printf("pipeline %s, %s: p99 is %.2f times that without eviction (%.2f to %.2f), SET/s %.2f times (%.2f to %.2f)\n", pipeline, policy,
				p99[len(p99)/2], p99[0], p99[len(p99)-1], rate[len(rate)/2], rate[0], rate[len(rate)-1])
		}
	}
}

func (w waited) tail() float64       { return w.p99.Seconds() }
func (w waited) throughput() float64 { return w.rate }

// ratiosOf returns the ratio of each round, sorted.
func ratiosOf(with, without []waited, of func(waited) float64) []float64 {
	ratios := make([]float64, len(with))
	for i, w := range with {
		ratios[i] = of(w) / of(without[i])
	}
	slices.Sort(ratios)
	return ratios
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
