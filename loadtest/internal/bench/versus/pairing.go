package main

import (
	"fmt"

	"github.com/ringside-kv/ringside/resp/node"
)

// A pairing is Ringside and Redis in corresponding modes, with what they are
// given to do.
type pairing struct {
	title     string
	mode      string // last word of the workloads' names
	ringside  []string
	redis     []string
	valueSize int
	// fill writes the keyspace before anything is measured.
	fill bool
	// cache is how much of the values Ringside may hold in its cache, in bytes.
	cache     int64
	workloads []workload
}

// A workload is one kind of load. Zero targets are none.
type workload struct {
	name     string
	command  string
	pipeline int
	requests int
	// minRatio is what Ringside's ops/s are to be at least, over those of Redis.
	minRatio float64
	// maxP99 is what Ringside's p99 is to be at most, over that of Redis.
	maxP99 float64
}

var (
	redisEverysec = []string{"--appendonly", "yes", "--appendfsync", "everysec", "--save", ""}
	redisAlways   = []string{"--appendonly", "yes", "--appendfsync", "always", "--save", ""}
)

// allPairings are the comparisons in the order in which they are made.
func allPairings(opt options) []pairing {
	cache := node.DefaultConfig().Cache
	small := pairing{title: "64 B values, everysec", mode: "everysec", redis: redisEverysec,
		valueSize: 64, fill: true, cache: cache}
	large := pairing{title: "1 KiB values, everysec", mode: "everysec", redis: redisEverysec,
		valueSize: 1024, fill: true, cache: cache}
	for _, p := range []*pairing{&small, &large} {
		for _, command := range []string{"SET", "GET", "INCR", "MSET"} {
			for _, pipeline := range []int{1, 16} {
				p.add(opt, command, pipeline)
			}
		}
	}
	uncached := pairing{title: "64 B values, everysec, Ringside without its cache of values", mode: "cache=0",
		ringside: []string{"--cache", "0"}, redis: redisEverysec, valueSize: 64, fill: true}
	uncached.add(opt, "GET", 16)
	// Nothing is read here, and to fill with an fsync for each write takes long.
	always := pairing{title: "64 B values, fsync before the reply", mode: "always",
		ringside: []string{"--fsync", "always"}, redis: redisAlways, valueSize: 64, cache: cache}
	always.add(opt, "SET", 16)
	// The values are those that redis-benchmark takes if it is told nothing.
	rich := pairing{title: "collections, scripts and messages in pipelines of 16, 3 B values, everysec", mode: "everysec",
		redis: redisEverysec, valueSize: 3, cache: cache}
	for i := range recipes {
		rich.addRecipe(opt, &recipes[i])
	}
	return []pairing{small, large, uncached, always, rich}
}

func (p *pairing) addRecipe(opt options, r *recipe) {
	const pipeline = 16
	requests := max(int(float64(opt.requests)*r.share), opt.clients*pipeline)
	p.workloads = append(p.workloads, workload{
		name:     fmt.Sprintf("%s %s P%d %s", r.command, sizeName(p.valueSize), pipeline, p.mode),
		command:  r.command,
		pipeline: pipeline,
		requests: (requests + pipeline - 1) / pipeline * pipeline, // as many as are really sent
		minRatio: r.minRatio,
		maxP99:   maxP99,
	})
}

func (p *pairing) add(opt options, command string, pipeline int) {
	w := workload{
		name:     fmt.Sprintf("%s %s P%d %s", command, sizeName(p.valueSize), pipeline, p.mode),
		command:  command,
		pipeline: pipeline,
		requests: opt.requests,
	}
	// Such that one measurement takes a few seconds in each case.
	if pipeline == 1 {
		w.requests /= 4
	}
	if p.mode == "always" {
		w.requests /= 4
	}
	if p.valueSize >= 1024 && command != "INCR" {
		w.requests /= 2
	}
	if command == "MSET" {
		w.requests /= msetKeys / 2
	}
	w.requests = max(w.requests, opt.clients*pipeline)
	w.minRatio, w.maxP99 = p.targets(opt, command, pipeline)
	p.workloads = append(p.workloads, w)
}

// entryOverhead is a generous guess at what a key and its place in the cache
// take beside the value, in bytes.
const entryOverhead = 128

// targets are the figures that Ringside has set itself.
func (p *pairing) targets(opt options, command string, pipeline int) (minRatio, maxP99 float64) {
	cached := int64(opt.keys)*int64(p.valueSize+entryOverhead) <= p.cache
	deep := pipeline == 16
	switch {
	case p.mode == "always":
		return 0.75, 0
	case command == "GET" && p.cache == 0:
		return 0.4, 0
	case command == "SET" && deep:
		return 1.1, 3
	case command == "SET":
		return 0.75, 0
	case command == "GET" && deep && cached:
		return 1.1, 3
	case command == "GET" && cached:
		return 0.9, 0
	case command == "INCR" && deep && cached:
		return 0.7, 3
	case deep:
		return 0, 3
	}
	return 0, 0
}

func sizeName(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%dKiB", n/1024)
	}
	return fmt.Sprintf("%dB", n)
}

// selectPairings leaves those workloads that --only names.
func selectPairings(opt options) ([]pairing, error) {
	all := allPairings(opt)
	if opt.only == nil {
		return all, nil
	}
	var some []pairing
	for _, p := range all {
		chosen := p
		chosen.workloads = nil
		for _, w := range p.workloads {
			if opt.only.MatchString(w.name) {
				chosen.workloads = append(chosen.workloads, w)
			}
		}
		if len(chosen.workloads) > 0 {
			some = append(some, chosen)
		}
	}
	if len(some) == 0 {
		text := fmt.Sprintf("--only: no workload matches %q; there are:", opt.only)
		for _, p := range all {
			for _, w := range p.workloads {
				text += "\n  " + w.name
			}
		}
		return nil, fmt.Errorf("%s", text)
	}
	return some, nil
}
