package layout

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A TokenIndex finds which of some spans of tokens holds a token. Units ask for each of
// their keys, so it goes by the token's upper bits: there are few spans in a bucket. It
// does not change once it is built.
type TokenIndex struct {
	Spans  []TokenSpan
	bucket [1<<spanBits + 1]int32 // the first span that ends in the bucket, or behind it
}

const spanBits = 10

// A TokenSpan is the tokens from first to last, both included.
type TokenSpan struct{ First, Last ring.Token }

// NewTokenIndex returns the index of spans that are in order and do not overlap.
func NewTokenIndex(spans []TokenSpan) *TokenIndex {
	x := &TokenIndex{Spans: spans}
	at := 0
	for b := range x.bucket {
		for at < len(spans) && uint64(spans[at].Last) < uint64(b)<<(32-spanBits) {
			at++
		}
		x.bucket[b] = int32(at)
	}
	return x
}

// Find returns the number of the span that holds a token, or -1.
func (x *TokenIndex) Find(t ring.Token) int {
	for i := int(x.bucket[t>>(32-spanBits)]); i < len(x.Spans); i++ {
		if sp := x.Spans[i]; sp.Last >= t {
			if sp.First <= t {
				return i
			}
			break
		}
	}
	return -1
}

// SpansOf returns what ranges hold, in order and without overlaps.
func SpansOf(rs []ring.Range) (spans []TokenSpan) {
	var all []Interval
	for _, r := range rs {
		all = append(all, PiecesOf(r)...)
	}
	for _, st := range Union(all) {
		spans = append(spans, TokenSpan{st.First.Token(), st.Last.Token()})
	}
	return slices.Clip(spans)
}
