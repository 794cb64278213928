package hotkeys

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
)

// A sketch finds the keys with the largest sums in bounded memory. It is Space-Saving (Metwally, Agrawal, El
// Abbadi: Efficient Computation of Frequent and Top-k Elements in Data Streams, 2005): a key that is not
// among the counted ones takes the place of the smallest, and goes on from its sum.
type sketch struct {
	most    int
	at      map[string]*counter
	ordered counters // a heap, the smallest first
}

type counter struct {
	key   string
	sum   int64
	place int
}

func newSketch(most int) *sketch { return &sketch{most: most, at: make(map[string]*counter, most)} }

// add adds to the sum of a key.
func (s *sketch) add(key []byte, n int64) {
	if c := s.at[string(key)]; c != nil {
		c.sum += n
		heap.Fix(&s.ordered, c.place)
		return
	}
	if len(s.ordered) < s.most {
		c := &counter{key: string(key), sum: n}
		s.at[c.key] = c
		heap.Push(&s.ordered, c)
		return
	}
	c := s.ordered[0]
	delete(s.at, c.key)
	c.key = string(key)
	c.sum += n
	s.at[c.key] = c
	heap.Fix(&s.ordered, 0)
}

// top returns at most k keys with their sums, the largest first.
func (s *sketch) top(k int) []hot {
	all := make([]hot, 0, len(s.ordered))
	for _, c := range s.ordered {
		all = append(all, hot{[]byte(c.key), c.sum})
	}
	return largest(all, k)
}

// A hot is a key with its sum.
type hot struct {
	key []byte
	sum int64
}

func largest(all []hot, k int) []hot {
	slices.SortFunc(all, func(a, b hot) int { return cmp.Or(cmp.Compare(b.sum, a.sum), bytes.Compare(a.key, b.key)) })
	return all[:min(k, len(all))]
}

type counters []*counter

func (c counters) Len() int           { return len(c) }
func (c counters) Less(i, j int) bool { return c[i].sum < c[j].sum }
func (c counters) Swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].place, c[j].place = i, j
}

// Push implements [heap.Interface].
func (c *counters) Push(x any) {
	n := x.(*counter)
	n.place = len(*c)
	*c = append(*c, n)
}

// Pop implements [heap.Interface]; nothing is taken out.
func (c *counters) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
