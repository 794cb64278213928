package sim

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// benchmark is a [Benchmark] under way.
type benchmark struct {
	*Benchmark
	crew   *crew
	report *BenchmarkReport

	read      []keyBlock // of KeySource
	readCount int
}

// measure makes all measurements of a contender with so many nodes.
func (r *benchmark) measure(e *entry, s Subject) error {
	all := numbers(0, s.Nodes)
	empty := newArrangement(e, r.Base, newRoster(5*s.Nodes+1))
	whole, err := empty.next(all)
	if err != nil {
		return err
	}
	r.report.Memory = append(r.report.Memory, MemoryFigures{s, whole.bytes()})
	init, err := r.timed(s, func() error {
		_, err := empty.next(all)
		return err
	})
	if err != nil {
		return err
	}
	r.report.Init = append(r.report.Init, init)
	r.crew.tell(0.1)
	resize, err := r.timed(s, func() error {
		more, err := whole.next(numbers(0, s.Nodes+1))
		if err == nil {
			_, err = more.next(all)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.report.Resize = append(r.report.Resize, resize)
	r.crew.tell(0.2)
	resized, left, err := r.resized(whole, s.Nodes)
	if err != nil {
		return err
	}
	for i, distribution := range r.Distributions {
		if err := r.distributed(s, distribution, whole, resized, left); err != nil {
			return err
		}
		r.crew.tell(0.2 + 0.8*float64(i+1)/float64(len(r.Distributions)))
	}
	return nil
}

// distributed makes the measurements that depend on the distribution of the keys.
func (r *benchmark) distributed(s Subject, distribution string, whole, resized arrangement, left []int32) error {
	lookup, err := r.lookups(s, distribution, whole)
	if err != nil {
		return err
	}
	r.report.Lookup = append(r.report.Lookup, lookup)

	balance, err := r.balance(s, distribution, whole, numbers(0, s.Nodes))
	if err != nil {
		return err
	}
	r.report.Balance = append(r.report.Balance, balance)
	after := Subject{s.Hash, s.Algorithm, len(left)}
	if balance, err = r.balance(after, distribution, resized, left); err != nil {
		return err
	}
	r.report.ResizeBalance = append(r.report.ResizeBalance, balance)
	for _, fraction := range r.Fractions {
		moves, err := r.moves(s, distribution, whole, fraction)
		if err != nil {
			return err
		}
		r.report.Monotonicity = append(r.report.Monotonicity, moves)
	}
	return nil
}

// Times are measured once to warm up, and then until the iterations are done or have taken this long.
const longestTiming = 5 * time.Second

// timed measures how long do takes, in nanoseconds.
func (r *benchmark) timed(s Subject, do func() error) (TimeFigures, error) {
	began := time.Now()
	if err := do(); err != nil {
		return TimeFigures{}, err
	}
	var nanos []float64
	for range r.Iterations {
		start := time.Now()
		if err := do(); err != nil {
			return TimeFigures{}, err
		}
		nanos = append(nanos, float64(time.Since(start).Nanoseconds()))
		if r.crew.ctx.Err() != nil || time.Since(began) > longestTiming {
			break
		}
	}
	slices.Sort(nanos)
	n := len(nanos)
	median := (nanos[(n-1)/2] + nanos[n/2]) / 2
	return TimeFigures{Subject: s, Iterations: n, Median: median, Min: nanos[0], Max: nanos[n-1]}, nil
}

// lookups measures the mean time of a look-up in each iteration, hash included.
func (r *benchmark) lookups(s Subject, distribution string, a arrangement) (TimeFigures, error) {
	find, err := a.finder()
	if err != nil {
		return TimeFigures{}, err
	}
	const sample = 1 << 13
	var keys [][]byte
	stream := r.keys(distribution, 0)
	for chunk := 0; len(keys) < sample; chunk++ {
		stream.each(chunk, chunkKeys, func(key []byte, _ int) { keys = append(keys, slices.Clone(key)) })
	}
	found := int32(0) // so that nothing is found to be of no use
	start := time.Now()
	find(keys[0])
	// Where a look-up goes over all nodes, fewer are enough.
	keys = keys[:min(len(keys), max(64, int(50*time.Millisecond/(time.Since(start)+1))))]
	t, err := r.timed(s, func() error {
		for _, key := range keys {
			found += find(key)
		}
		return nil
	})
	_ = found
	t.Distribution = distribution
	for _, nanos := range []*float64{&t.Median, &t.Min, &t.Max} {
		*nanos /= float64(len(keys))
	}
	return t, err
}

// resized is an arrangement after nodes have joined and left at random, four times about as many as
// there are, and its nodes: some of them are new.
func (r *benchmark) resized(a arrangement, n int) (arrangement, []int32, error) {
	random := rand.New(rand.NewPCG(r.Seed, 0x7e512e))
	nodes, next := numbers(0, n), int32(n)
	var err error
	for range 4 {
		more := 1 + random.IntN(n)
		nodes = append(nodes, numbers(next, more)...)
		next += int32(more)
		if a, err = a.next(nodes); err != nil {
			return nil, nil, err
		}
		random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		nodes = nodes[:len(nodes)-more]
		slices.Sort(nodes)
		if a, err = a.next(nodes); err != nil {
			return nil, nil, err
		}
	}
	return a, nodes, nil
}

// balance counts the keys of each node.
func (r *benchmark) balance(s Subject, distribution string, a arrangement, nodes []int32) (LoadFigures, error) {
	sum := LoadFigures{Subject: s, Distribution: distribution, Keys: r.Keys, Iterations: r.Iterations}
	finders, err := r.finders(a)
	if err != nil {
		return sum, err
	}
	last := int(nodes[len(nodes)-1])
	for iteration := range r.Iterations {
		counts := make([][]int64, r.crew.workers)
		for i := range counts {
			counts[i] = make([]int64, last+1)
		}
		err := r.eachKey(distribution, iteration, func(worker int, key []byte, _ int) {
			counts[worker][finders[0][worker](key)]++
		})
		if err != nil {
			return sum, err
		}
		each := make([]int64, len(nodes))
		for i, node := range nodes {
			for worker := range counts {
				each[i] += counts[worker][node]
			}
		}
		l := loadOf(each, r.Keys)
		n := float64(r.Iterations)
		sum.Min += l.Min / n
		sum.Max += l.Max / n
		sum.P99 += l.P99 / n
		sum.Variance += l.Variance / n
	}
	return sum, nil
}

// eachKey has the workers use the keys of an iteration. It reports no progress.
func (r *benchmark) eachKey(distribution string, iteration int, use func(worker int, key []byte, rank int)) error {
	keys := r.keys(distribution, iteration)
	return r.crew.each(r.Keys, 0, 0, func(worker, chunk, from, to int) {
		keys.each(chunk, to-from, func(key []byte, rank int) { use(worker, key, rank) })
	})
}

// finders are those of arrangements, for each worker.
func (r *benchmark) finders(of ...arrangement) ([][]keyFinder, error) {
	all := make([][]keyFinder, len(of))
	for i, a := range of {
		for range r.crew.workers {
			find, err := a.finder()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], find)
		}
	}
	return all, nil
}

// moves counts the keys that move when a fraction of the nodes is removed and then restored.
func (r *benchmark) moves(s Subject, distribution string, whole arrangement, fraction float64) (MoveFigures, error) {
	m := MoveFigures{Subject: s, Distribution: distribution, Order: r.Order, Fraction: fraction}
	removed := r.removed(s.Nodes, int(fraction*float64(s.Nodes)))
	var left []int32
	for i := range s.Nodes {
		if !removed[i] {
			left = append(left, int32(i))
		}
	}
	less, err := whole.next(left)
	if err != nil {
		return m, err
	}
	again, err := less.next(numbers(0, s.Nodes))
	if err != nil {
		return m, err
	}
	finders, err := r.finders(whole, less, again)
	if err != nil {
		return m, err
	}

	type node struct{ keys, from, to, changed int }
	counts := make([][]node, r.crew.workers)
	for i := range counts {
		counts[i] = make([]node, s.Nodes)
	}
	var seen []atomic.Uint32 // keys that were drawn, a bit each
	if distribution == Zipf {
		seen = make([]atomic.Uint32, (r.Keys+31)/32)
	}
	err = r.eachKey(distribution, 0, func(worker int, key []byte, rank int) {
		if seen != nil {
			if bit := uint32(1) << (rank % 32); seen[rank/32].Or(bit)&bit != 0 {
				return
			}
		}
		of := counts[worker]
		first, then, last := finders[0][worker](key), finders[1][worker](key), finders[2][worker](key)
		of[first].keys++
		if first != then {
			of[first].from++
		}
		if then != last {
			of[last].to++
		}
		if first != last {
			of[first].changed++
		}
	})
	for i := range s.Nodes {
		var sum node
		for _, of := range counts {
			sum.keys += of[i].keys
			sum.from += of[i].from
			sum.to += of[i].to
			sum.changed += of[i].changed
		}
		m.Keys += sum.keys
		m.Relocated += sum.changed
		if removed[i] {
			m.InRemoved += sum.keys
			m.FromRemoved += sum.from
			m.ToRestored += sum.to
		} else {
			m.FromOthers += sum.from
			m.ToOthers += sum.to
		}
		m.Losing += one(sum.from > 0)
		m.Gaining += one(sum.to > 0)
		m.Changed += one(sum.changed > 0)
	}
	return m, err
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// removed reports which of n nodes are removed.
func (r *benchmark) removed(n, count int) []bool {
	order := numbers(0, n)
	switch r.Order {
	case LIFO:
		slices.Reverse(order)
	case Random:
		rand.New(rand.NewPCG(r.Seed, 0x2e307e)).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	removed := make([]bool, n)
	for _, node := range order[:count] {
		removed[node] = true
	}
	return removed
}

// numbers are count numbers from the first on.
func numbers(first int32, count int) []int32 {
	list := make([]int32, count)
	for i := range list {
		list[i] = first + int32(i)
	}
	return list
}
