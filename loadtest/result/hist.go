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
	// octaves is how many powers of two any value takes: an hour is below 2³², in
	// microseconds.
	octaves = 32
	longest = 1<<octaves - 1
)

// A hist counts microseconds in buckets as HdrHistogram has them: as many of the same width
// for each power of two. Memory is only taken for the powers of two that come, so that one
// costs some kilobytes.
type hist struct {
	digits   int // coarse or fine: the first 2^digits values have a bucket each
	octave   [octaves][]uint64
	count    uint64
	sum, max int64
}

func (h *hist) add(v int64, n uint64) {
	v = min(max(v, 0), longest)
	k, i := h.place(v)
	h.buckets(k)[i] += n
	h.count += n
	h.sum += v * int64(n)
	h.max = max(h.max, v)
}

// place finds a value's bucket: bucket i of octave k has the values from h.value(k, i) on.
func (h *hist) place(v int64) (k, i int) {
	k = bits.Len64(uint64(v)) - h.digits
	if k <= 0 {
		return 0, int(v)
	}
	return k, int(v>>k) - 1<<(h.digits-1)
}

// buckets are those of an octave, which takes memory from now on.
func (h *hist) buckets(k int) []uint64 {
	if h.octave[k] == nil {
		h.octave[k] = make([]uint64, 1<<(h.digits-min(k, 1)))
	}
	return h.octave[k]
}

// value is the lowest in a bucket.
func (h *hist) value(k, i int) int64 {
	if k == 0 {
		return int64(i)
	}
	return int64(i+1<<(h.digits-1)) << k
}

// top is the highest value in a bucket that is no higher than any that came.
func (h *hist) top(k, i int) int64 { return min(h.value(k, i)+1<<k-1, h.max) }

// each goes through the buckets that have something, in order, until it is told to stop.
func (h *hist) each(f func(k, i int, n uint64) bool) {
	for k, o := range h.octave {
		for i, n := range o {
			if n > 0 && !f(k, i, n) {
				return
			}
		}
	}
}

// merge adds what another of as many digits has.
func (h *hist) merge(o *hist) {
	for k, from := range o.octave {
		if from == nil {
			continue
		}
		to := h.buckets(k)
		for i, n := range from {
			to[i] += n
		}
	}
	h.count += o.count
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// reset empties it, and keeps its memory.
func (h *hist) reset() {
	for _, o := range h.octave {
		clear(o)
	}
	h.count, h.sum, h.max = 0, 0, 0
}

// quantiles are the values that shares of all, in ascending order, do not exceed.
func (h *hist) quantiles(shares ...float64) []float64 {
	values := make([]float64, len(shares))
	at, seen := 0, uint64(0)
	h.each(func(k, i int, n uint64) bool {
		seen += n
		for at < len(shares) && seen >= max(uint64(math.Ceil(shares[at]*float64(h.count))), 1) {
			values[at] = float64(h.top(k, i))
			at++
		}
		return at < len(shares)
	})
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
	h.each(func(k, i int, n uint64) bool {
		// The last values of the last bucket may be beyond what is tracked.
		_ = full.RecordValues(h.top(k, i), int64(n))
		return true
	})
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
	h.each(func(k, i int, n uint64) bool {
		at := k<<fine + i
		b = binary.AppendUvarint(b, uint64(at-last))
		b = binary.AppendUvarint(b, n)
		last = at
		return true
	})
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
		h.buckets(at >> fine)[at&(1<<fine-1)] += count
		h.count += count
	}
	h.sum += sum
	h.max = max(h.max, most)
}
