package sim

import (
	"math"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A keyspace is the keys of a simulation, which are known by their index, with what
// weighs on each.
type keyspace struct {
	count  int
	read   []keyBlock // of a file; nil if the keys are made up
	sizes  Sizes
	seed   uint64
	bySlot bool

	bytes     int64 // of all keys and values
	zipfTotal uint64
	hotCount  int
	hotShare  float64
	// requests are the share of zipf requests of each key, above its lowest bit, which
	// tells whether it is hot.
	requests []uint64
}

// madeUpLen is the length of a key that is made up.
const madeUpLen = len("key:") + 12

// appendKey appends the i-th key. The result is valid until the next call with the
// same buf, and nobody may write to it.
func (k *keyspace) appendKey(buf []byte, i int) []byte {
	if k.read != nil {
		return k.read[i/blockKeys].key(i % blockKeys)
	}
	return workload.AppendKey(buf, "key:", int64(i))
}

// load is what the i-th key weighs.
func (k *keyspace) load(i int) load {
	l := load{Amount: Amount{Keys: 1}, zipf: k.requests[i] >> 1, hot: int64(k.requests[i] & 1)}
	value := -1
	if k.read != nil {
		block := &k.read[i/blockKeys]
		l.Bytes = int64(len(block.key(i % blockKeys)))
		value = block.size(i % blockKeys)
	} else {
		l.Bytes = int64(madeUpLen)
	}
	if value < 0 {
		value = k.sizes.of(k.seed, i)
	}
	l.Bytes += int64(value)
	return l
}

// zipfUnits is about what the shares of zipf requests of all keys add up to: enough
// for the least of 100 million keys to have many, and below the range of 63 bits.
const zipfUnits = 1 << 60

// weigh computes the shares of requests and the sum of bytes.
//
// The hot keys are strewn evenly over the ranks, by steps of the golden ratio, so that
// they are not those that zipf prefers.
func (k *keyspace) weigh(w *crew, c *Config) error {
	n := uint64(k.count)
	k.hotShare = c.HotShare
	k.hotCount = int(math.Round(c.HotKeys * float64(k.count)))
	start, stride := mix(c.Seed)%n, uint64(math.Round(float64(n)*(math.Sqrt(5)-1)/2))
	for gcd(stride, n) != 1 {
		stride++
	}

	k.requests = make([]uint64, k.count)
	// The sum of floats is taken in the order of the chunks, which do not depend on
	// the number of workers.
	sums := make([]float64, chunks(k.count))
	err := w.each(k.count, 0, 0.5, func(_, chunk, from, to int) {
		sum := 0.0
		for i := from; i < to; i++ {
			share := math.Exp(-c.ZipfTheta * math.Log(float64(i+1)))
			k.requests[i] = math.Float64bits(share)
			sum += share
		}
		sums[chunk] = sum
	})
	if err != nil {
		return err
	}
	all := 0.0
	for _, sum := range sums {
		all += sum
	}

	parts := make([]load, w.workers)
	err = w.each(k.count, 0.5, 1, func(worker, _, from, to int) {
		sum := &parts[worker]
		for i := from; i < to; i++ {
			share := uint64(math.Float64frombits(k.requests[i]) * zipfUnits / all)
			k.requests[i] = share << 1
			if (start+uint64(i)*stride)%n < uint64(k.hotCount) {
				k.requests[i] |= 1
			}
			sum.add(k.load(i))
		}
	})
	for _, part := range parts {
		k.bytes += part.Bytes
		k.zipfTotal += part.zipf
	}
	return err
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// hotspot is the part of the hotspot requests that goes to keys of which some are hot.
func (k *keyspace) hotspot(keys, hot int64) float64 {
	if k.hotCount == 0 || k.hotCount == k.count { // all alike
		return float64(keys) / float64(k.count)
	}
	return k.hotShare*float64(hot)/float64(k.hotCount) +
		(1-k.hotShare)*float64(keys-hot)/float64(k.count-k.hotCount)
}

// sample are keys from all over, in the order of their indices.
func (k *keyspace) sample(most int) [][]byte {
	n := min(most, k.count)
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = k.appendKey(make([]byte, 0, madeUpLen), i*k.count/n)
	}
	return keys
}

// ofEachKey fills in what a function of the key is for each key.
func ofEachKey[T any](w *crew, k *keyspace, of func(key []byte) T, to []T) error {
	return w.each(k.count, 0, 0.4, func(_, _, from, end int) {
		buf := make([]byte, 0, madeUpLen)
		for i := from; i < end; i++ {
			to[i] = of(k.appendKey(buf, i))
		}
	})
}
