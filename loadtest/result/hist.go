package result

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// coarse buckets are at most 1/128 wide, for windows: two significant digits.
	coarse = 8
	// fine buckets are at most 1/1024 wide, for phases: three.
	fine = 11
	// longest is more than an hour, in microseconds.
	longest = 1<<32 - 1
)

// A hist counts microseconds in buckets as HdrHistogram has them: the first 2^digits values have
// one each, and then each power of two has half as many, of the same width. Memory is only taken up
// to the highest value that comes, so that one costs some kilobytes.
type hist struct {
	digits   int // coarse or fine
	buckets  []uint64
	count    uint64
	sum, max int64
}

func (h *hist) add(v int64, n uint64) {
	v = min(max(v, 0), longest)
	k := max(bits.Len64(uint64(v))-h.digits, 0) // buckets are 2^k wide
	h.addTo(k<<(h.digits-1)+int(v>>k), n)
	h.sum += v * int64(n)
	h.max = max(h.max, v)
}

func (h *hist) addTo(bucket int, n uint64) {
	if more := bucket + 1 - len(h.buckets); more > 0 {
		h.buckets = append(h.buckets, make([]uint64, more)...)
	}
	h.buckets[bucket] += n
	h.count += n
}

// top is the highest value in a bucket that is no higher than any that came.
func (h *hist) top(bucket int) int64 {
	k := max(bucket>>(h.digits-1)-1, 0)
	return min(int64(bucket-k<<(h.digits-1)+1)<<k-1, h.max)
}

// merge adds what another of as many digits has.
func (h *hist) merge(o *hist) {
	for i, n := range o.buckets {
		if n > 0 {
			h.addTo(i, n)
		}
	}
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// reset empties it, and keeps its memory.
func (h *hist) reset() {
	clear(h.buckets)
	h.count, h.sum, h.max = 0, 0, 0
}

// quantiles are the values that shares of all, in ascending order, do not exceed.
func (h *hist) quantiles(shares ...float64) []float64 {
	values := make([]float64, len(shares))
	at, seen := 0, uint64(0)
	for i := 0; i < len(h.buckets) && at < len(shares); i++ {
		seen += h.buckets[i]
		for at < len(shares) && seen >= max(uint64(math.Ceil(shares[at]*float64(h.count))), 1) {
			values[at] = float64(h.top(i))
			at++
		}
	}
	return values
}

func (h *hist) latency() Latency {
	if h.count == 0 {
		return Latency{}
	}
	q := h.quantiles(0.5, 0.9, 0.99, 0.999)
	return Latency{
		Mean: float64(h.sum) / float64(h.count),
		P50:  q[0], P90: q[1], P99: q[2], P999: q[3], Max: float64(h.max),
	}
}

// encode is all of it as HdrHistogram writes it, with three digits.
func (h *hist) encode() string {
	full := hdrhistogram.New(1, max(h.max, 2), 3)
	for i, n := range h.buckets {
		if n > 0 {
			// The last values of the last bucket may be beyond what is tracked.
			_ = full.RecordValues(h.top(i), int64(n))
		}
	}
	b, err := full.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic("result: a histogram in memory cannot be written: " + err.Error())
	}
	return string(b)
}

// pack writes the buckets that have something, each as the distance from the one before and
// its count: a hundred bytes or two where a hist has thousands of buckets.
func (h *hist) pack() []byte {
	b := binary.AppendVarint(nil, h.sum)
	b = binary.AppendVarint(b, h.max)
	last := 0
	for i, n := range h.buckets {
		if n > 0 {
			b = binary.AppendUvarint(b, uint64(i-last))
			b = binary.AppendUvarint(b, n)
			last = i
		}
	}
	return bytes.Clone(b)
}

// unpack adds what was packed of another of as many digits, or nothing if b is empty.
func (h *hist) unpack(b []byte) {
	sum, n := binary.Varint(b)
	b = b[n:]
	most, n := binary.Varint(b)
	b = b[n:]
	at := 0
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		b = b[n:]
		count, n := binary.Uvarint(b)
		b = b[n:]
		at += int(step)
		h.addTo(at, count)
	}
	h.sum += sum
	h.max = max(h.max, most)
}
