package sim

import (
	"slices"
	"sort"

	"github.com/ringside-kv/ringside/ring"
)

// A field is all keys in the order of their tokens, as sums from the first key on, so
// that what lies in a range is two look-ups and a difference. It takes 24 bytes a key,
// and as much again while it is being made.
type field struct {
	tokens []ring.Token
	// Sums of what is before each key; one more than keys.
	bytes []int64
	zipf  []uint64
	hot   []uint32
	// first[t>>jumpShift] is the position of the first key with that token or a
	// greater one.
	first []int32
	// largest are the bytes of the largest key of each stretch of keys.
	largest []int64

	// pairs are the token and the index of each key while they are sorted, in the
	// memory of zipf.
	pairs []uint64
}

const (
	jumpBits  = 20
	jumpShift = 32 - jumpBits
	// sortBits lead to parts of some thousand keys at ten million, which sort within a
	// processor's cache.
	sortBits = 12
	// stretch is how many keys have one entry in field.largest.
	stretch = 512
)

// fill makes the field of a token function anew, in the memory that it has.
func (f *field) fill(w *crew, keys *keyspace, of ring.TokenFunc) error {
	n := keys.count
	if f.tokens == nil {
		f.tokens = make([]ring.Token, n)
		f.bytes, f.zipf, f.hot = make([]int64, n+1), make([]uint64, n+1), make([]uint32, n+1)
		f.pairs = f.zipf[:n]
		f.first = make([]int32, 1<<jumpBits+1)
		f.largest = make([]int64, (n+stretch-1)/stretch)
	}
	if err := ofEachKey(w, keys, of, f.tokens); err != nil {
		return err
	}
	if err := f.sort(w); err != nil {
		return err
	}
	err := w.each(n, 0.6, 0.9, func(_, _, from, to int) {
		for at := from; at < to; at++ {
			l := keys.load(int(uint32(f.pairs[at])))
			f.tokens[at] = ring.Token(f.pairs[at] >> 32)
			f.bytes[at], f.zipf[at], f.hot[at] = l.Bytes, l.zipf, uint32(l.hot)
		}
	})
	if err != nil {
		return err
	}
	f.sum()
	return w.ctx.Err()
}

// sort orders the keys by token: into parts by the leading bits, and each by itself.
func (f *field) sort(w *crew) error {
	n := len(f.tokens)
	// Each worker has a contiguous region of the keys, whose counts tell where in
	// every part its keys begin.
	const parts = 1 << sortBits
	region := (n + w.workers - 1) / w.workers
	next := make([][parts]int32, w.workers)
	regions := func(do func(worker, from, to int)) error {
		return w.apiece(func(worker int) { do(worker, min(n, worker*region), min(n, (worker+1)*region)) })
	}
	err := regions(func(worker, from, to int) {
		for _, t := range f.tokens[from:to] {
			next[worker][t>>(32-sortBits)]++
		}
	})
	if err != nil {
		return err
	}
	var ends [parts]int32
	at := int32(0)
	for part := range parts {
		for worker := range next {
			count := next[worker][part]
			next[worker][part] = at
			at += count
		}
		ends[part] = at
	}
	err = regions(func(worker, from, to int) {
		for i := from; i < to; i++ {
			part := f.tokens[i] >> (32 - sortBits)
			f.pairs[next[worker][part]] = uint64(f.tokens[i])<<32 | uint64(i)
			next[worker][part]++
		}
	})
	if err != nil {
		return err
	}
	return w.apiece(func(worker int) {
		for part := worker; part < parts && w.ctx.Err() == nil; part += w.workers {
			start := int32(0)
			if part > 0 {
				start = ends[part-1]
			}
			slices.Sort(f.pairs[start:ends[part]])
		}
	})
}

// sum makes sums of what is before each key of what each key has.
func (f *field) sum() {
	clear(f.largest)
	slot := 0
	var bytes int64
	var zipf uint64
	var hot uint32
	for at, t := range f.tokens {
		for ; slot <= int(t>>jumpShift); slot++ {
			f.first[slot] = int32(at)
		}
		f.largest[at/stretch] = max(f.largest[at/stretch], f.bytes[at])
		f.bytes[at], bytes = bytes, bytes+f.bytes[at]
		f.zipf[at], zipf = zipf, zipf+f.zipf[at]
		f.hot[at], hot = hot, hot+f.hot[at]
	}
	n := len(f.tokens)
	f.bytes[n], f.zipf[n], f.hot[n] = bytes, zipf, hot
	for ; slot < len(f.first); slot++ {
		f.first[slot] = int32(n)
	}
}

// position is how many keys have a smaller token.
func (f *field) position(t ring.Token) int {
	slot := t >> jumpShift
	start, end := int(f.first[slot]), int(f.first[slot+1])
	return start + sort.Search(end-start, func(i int) bool { return f.tokens[start+i] >= t })
}

// end is the position where a range ends that starts before its end.
func (f *field) end(r ring.Range) int {
	if r.End == 0 {
		return len(f.tokens)
	}
	return f.position(r.End)
}

// between is the load of the keys from one position up to another.
func (f *field) between(from, to int) load {
	return load{
		Amount: Amount{Keys: int64(to - from), Bytes: f.bytes[to] - f.bytes[from]},
		zipf:   f.zipf[to] - f.zipf[from],
		hot:    int64(f.hot[to]) - int64(f.hot[from]),
	}
}

// within is the load of the keys in a range.
func (f *field) within(r ring.Range) load {
	if r.Wraps() {
		l := f.within(ring.Range{Start: r.Start})
		l.add(f.within(ring.Range{End: r.End}))
		return l
	}
	return f.between(f.position(r.Start), f.end(r))
}

// in is what lies in a range, as strategies are told.
func (f *field) in(r ring.Range) ring.Load {
	if r.Wraps() {
		return f.in(ring.Range{Start: r.Start}).Add(f.in(ring.Range{End: r.End}))
	}
	from, to := f.position(r.Start), f.end(r)
	l := f.between(from, to)
	return ring.Load{Keys: l.Keys, Bytes: l.Bytes, Largest: f.largestIn(from, to)}
}

func (f *field) largestIn(from, to int) int64 {
	most := int64(0)
	for from < to {
		if from%stretch == 0 && from+stretch <= to {
			most = max(most, f.largest[from/stretch])
			from += stretch
			continue
		}
		most = max(most, f.bytes[from+1]-f.bytes[from])
		from++
	}
	return most
}
