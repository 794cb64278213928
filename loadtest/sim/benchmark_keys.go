package sim

import (
	"math/rand/v2"
	"strconv"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A keyStream makes the keys of one iteration, chunk by chunk. Chunks may be made by several
// goroutines at once, and in any order.
type keyStream struct {
	distribution string
	seed         uint64
	zipf         *workload.Zipf
	prefix       string // of keys of a file, so that each round of it has others

	read      []keyBlock
	readCount int
}

// keys is the stream of one iteration.
func (r *benchmark) keys(distribution string, iteration int) *keyStream {
	k := &keyStream{distribution: distribution, seed: mix(r.Seed ^ mix(uint64(iteration))), read: r.read, readCount: r.readCount}
	switch distribution {
	case Zipf:
		k.zipf = workload.NewZipf(int64(r.Keys), r.ZipfTheta)
	case File:
		k.prefix = strconv.Itoa(iteration)
	}
	return k
}

// each makes the first n keys of a chunk. A key is valid until use returns. rank is the number of
// the key among those of its distribution.
func (k *keyStream) each(chunk, n int, use func(key []byte, rank int)) {
	var room [64]byte
	buf := room[:0]
	random := rand.New(rand.NewPCG(k.seed, uint64(chunk)))
	for i := range n {
		at := chunk*chunkKeys + i
		switch k.distribution {
		case Uniform:
			buf = strconv.AppendUint(buf[:0], mix(k.seed+uint64(at)), 10)
		case Normal:
			buf = strconv.AppendFloat(buf[:0], random.NormFloat64(), 'g', -1, 64)
		case Zipf:
			at = int(k.zipf.Draw(random))
			buf = strconv.AppendUint(buf[:0], mix(uint64(at)), 10)
		case File:
			round, of := at/k.readCount, at%k.readCount
			buf = append(buf[:0], k.prefix...)
			if round > 0 {
				buf = append(strconv.AppendInt(buf, int64(round), 10), ':')
			}
			buf = append(buf, k.read[of/blockKeys].key(of%blockKeys)...)
		}
		use(buf, at)
	}
}
