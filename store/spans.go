package store

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A spanIndex finds which of some spans of tokens holds a token. Units ask for each of
// their keys, so it goes by the token's upper bits: there are few spans in a bucket. It
// does not change once it is built.
type spanIndex struct {
	spans  []tokenSpan
	bucket [1<<spanBits + 1]int32 // the first span that ends in the bucket, or behind it
}

const spanBits = 10

// A tokenSpan is the tokens from first to last, both included.
type tokenSpan struct{ first, last ring.Token }

// newSpanIndex returns the index of spans that are in order and do not overlap.
func newSpanIndex(spans []tokenSpan) *spanIndex {
	x := &spanIndex{spans: spans}
	at := 0
	for b := range x.bucket {
		for at < len(spans) && uint64(spans[at].last) < uint64(b)<<(32-spanBits) {
			at++
		}
		x.bucket[b] = int32(at)
	}
	return x
}

// find returns the number of the span that holds a token, or -1.
func (x *spanIndex) find(t ring.Token) int {
	for i := int(x.bucket[t>>(32-spanBits)]); i < len(x.spans); i++ {
		if sp := x.spans[i]; sp.last >= t {
			if sp.first <= t {
				return i
			}
			break
		}
	}
	return -1
}

// spansOf returns what ranges hold, in order and without overlaps.
func spansOf(rs []ring.Range) (spans []tokenSpan) {
	var all []stretch
	for _, r := range rs {
		all = append(all, stretches(r)...)
	}
	for _, st := range union(all) {
		spans = append(spans, tokenSpan{st.first.Token(), st.last.Token()})
	}
	return slices.Clip(spans)
}
