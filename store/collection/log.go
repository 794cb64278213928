package collection

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// What the counts of a sorted set do not contain yet is in its log: of each member that came
// or went
//
//	length of the rank key, times two, and one if it went: uvarint | rank key
//
// The newest part is in the header. What it has no room for goes as a page under
//
//	'p' | number 2 B BE
//
// behind the stamp, 8 B, of the page before; pages are numbered from 0 on again once all has
// gone into the counts, so that none need be removed. So a change is written a second time,
// in a page, and a third, with its block, only together with others of the same block.
//
// A page gets a stamp, which the header has: a random number that stands for this page and,
// since it names the one before, for all up to it. So whoever remembers what is in pages up to
// a stamp, and finds that stamp by going back from the header's, remembers the truth: that the
// page was in a unit which came to nothing, in a tail that a failover has cut off, or before
// the counts, only means that the stamp is never found.

const (
	kindPage  = 'p'
	stampSize = 8
	// maxPageNumber is how many numbers there are.
	maxPageNumber = 1 << 16
	// smallRun is up to how many changes, of the newest pages, are kept apart from all others,
	// so that not all have to be copied for each further page.
	smallRun = 512
)

// pages is what a header knows of the pages of its log.
type pages struct {
	n     int64  // how many there are
	size  int64  // their bytes, without stamps
	stamp uint64 // of the last one
}

// cut reads them from the beginning of what a header has, and returns the rest.
func (p *pages) cut(b []byte) (rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n == 0 || n > maxPageNumber {
		return nil, false
	}
	size, v := binary.Uvarint(b[w:])
	if v <= 0 || len(b) < w+v+stampSize {
		return nil, false
	}
	b = b[w+v:]
	*p = pages{int64(n), int64(size), binary.BigEndian.Uint64(b)}
	return b[stampSize:], true
}

// A logged is a place in a sorted set, a rank key, and by how many members that part of the log
// up to it has grown.
type logged struct {
	at  []byte
	sum int64
}

// A logRun is a part of the log, in the order of its places, each of which is there once.
type logRun []logged

// upTo returns how many places are not behind a rank key.
func (r logRun) upTo(key []byte) int {
	// It is usually among the first: who asks goes from block to block.
	low, high := 0, 1
	for high <= len(r) && bytes.Compare(r[high-1].at, key) <= 0 {
		low, high = high, 2*high
	}
	n, _ := slices.BinarySearchFunc(r[low:min(high, len(r))], key, func(l logged, key []byte) int {
		if bytes.Compare(l.at, key) <= 0 {
			return -1
		}
		return 1
	})
	return low + n
}

// members returns by how many members the first n places have grown, of a run of which the
// places before have grown by so many.
func (r logRun) members(n int, before int64) int64 {
	if n == 0 {
		return 0
	}
	return r[n-1].sum - before
}

// parseLog appends what is in the log to a run, which is sorted by order afterwards.
func parseLog(r logRun, b []byte) (logRun, error) {
	for len(b) > 0 {
		n, w := binary.Uvarint(b)
		if w <= 0 || n>>1 > uint64(len(b)-w) {
			return nil, errZSet
		}
		end := w + int(n>>1)
		l := logged{at: b[w:end:end], sum: 1}
		if n&1 != 0 {
			l.sum = -1
		}
		r = append(r, l)
		b = b[end:]
	}
	return r, nil
}

// order makes a run of changes by themselves, in any order.
func (r logRun) order() logRun {
	slices.SortFunc(r, func(a, b logged) int { return bytes.Compare(a.at, b.at) })
	sum, n := int64(0), 0
	for i := range r {
		sum += r[i].sum
		if n > 0 && bytes.Equal(r[n-1].at, r[i].at) {
			n--
		}
		r[n] = logged{r[i].at, sum}
		n++
	}
	return r[:n]
}

// and returns the changes of two runs as one.
func (r logRun) and(other logRun) logRun {
	all := make(logRun, 0, len(r)+len(other))
	var sum, here, there int64
	for len(r) > 0 || len(other) > 0 {
		order := -1
		switch {
		case len(r) == 0:
			order = 1
		case len(other) > 0:
			order = bytes.Compare(r[0].at, other[0].at)
		}
		var at []byte
		if order <= 0 {
			at, here, r = r[0].at, r[0].sum, r[1:]
		}
		if order >= 0 {
			at, there, other = other[0].at, other[0].sum, other[1:]
		}
		if here+there != sum { // else they cancel each other out
			sum = here + there
			all = append(all, logged{at, sum})
		}
	}
	return all
}

// A pageLog is what is in the pages up to one with a stamp. It is never changed.
type pageLog struct {
	pages
	big, small logRun
	// written are pages as they were made, from the newest on. They may go further than those
	// that have been read, and there may be some that came to nothing.
	written *page
	// ahead is what was read ahead, or nil.
	ahead *noted
}

// A page is one of a log, before it has been read.
type page struct {
	stamp, stampBefore uint64
	log                []byte
	before             *page // nil if it is not known, or if there is none
	size               int   // of all up to it that are known
}

// from returns the page with a stamp among p and those before it, or nil.
func (p *page) from(stamp uint64) *page {
	for p != nil && p.stamp != stamp {
		p = p.before
	}
	return p
}

// note puts a change into the log.
func (z *ZSet) note(key []byte, gone bool) {
	z.changed = true
	if z.levels == 0 {
		return
	}
	n := uint64(len(key)) << 1
	if gone {
		n |= 1
	}
	if !z.grown { // it lies in the header as it was
		z.ours, z.grown = append(z.ours[:0], z.log...), true
		z.log = z.ours
	}
	z.log = append(binary.AppendUvarint(z.log, n), key...)
	z.ours = z.log[:0]
	z.known = false
}

// turnPage makes a page of the log that is in the header. What is in it is remembered, or
// whoever moves the log into the counts would have to find each page among all that were
// written since.
func (z *ZSet) turnPage() {
	t := &z.table
	p := &page{stamp: rand.Uint64(), stampBefore: z.pages.stamp}
	form := append(binary.BigEndian.AppendUint64(make([]byte, 0, stampSize+len(z.log)), p.stampBefore), z.log...)
	p.log, p.size = form[stampSize:], len(form)
	t.unit.SetElement(t.key, &t.v, appendPage(nil, z.pages.n), form)
	log := &pageLog{}
	if known, _ := t.unit.Recall(&t.v).(*pageLog); known != nil && z.pages.n > 0 {
		*log = *known
		if p.before = known.written.from(p.stampBefore); p.before != nil {
			p.size += p.before.size
		}
	}
	log.written = p
	t.rememberLog(log)
	z.pages.n++
	z.pages.size += int64(len(z.log))
	z.pages.stamp = p.stamp
	z.log, z.known, z.grown = nil, false, false
}

// rememberLog keeps what is in pages for later units.
func (t *Table) rememberLog(log *pageLog) {
	bytes := int(log.size) + (cap(log.big)+cap(log.small))*loggedSize
	if log.written != nil {
		bytes += log.written.size
	}
	if log.ahead != nil {
		bytes += log.ahead.size
	}
	t.unit.Remember(&t.v, log, bytes)
}

func appendPage(dst []byte, number int64) []byte {
	return binary.BigEndian.AppendUint16(append(dst, kindPage), uint16(number))
}

// runs returns the log, in parts.
func (z *ZSet) runs() ([]logRun, error) {
	if !z.known {
		var err error
		if z.pending, err = parseLog(z.pending[:0], z.log); err != nil {
			return nil, err
		}
		z.pending, z.known = z.pending.order(), true
	}
	if z.pages.n == 0 {
		return []logRun{z.pending}, nil
	}
	t := &z.table
	known, _ := t.unit.Recall(&t.v).(*pageLog)
	if known == nil || known.stamp != z.pages.stamp {
		var err error
		if known, err = z.pages.read(t, known); err != nil {
			return nil, err
		}
		// Others see the header as it was before the unit, and what is up to that.
		if !t.unit.Changed(t.key) {
			t.rememberLog(known)
		}
	}
	return []logRun{known.big, known.small, z.pending}, nil
}

// loggedSize is about how many bytes a logged takes, without what at points to.
const loggedSize = 32

// read returns what is in the pages, of which some may be known.
func (p pages) read(t *Table, known *pageLog) (*pageLog, error) {
	if known == nil {
		known = &pageLog{}
	}
	log := &pageLog{pages: p, written: known.written, ahead: known.ahead}
	var fresh logRun
	var err error
	n, stamp := p.n, p.stamp
	left := func() bool { return n > 0 && (known.n == 0 || known.stamp != stamp) }
	for w := known.written.from(stamp); w != nil && left(); w = w.before {
		if fresh, err = parseLog(fresh, w.log); err != nil {
			return nil, err
		}
		n, stamp = n-1, w.stampBefore
	}
	if left() {
		it := t.unit.Elements(t.key, &t.v, appendPage(nil, 0), appendPage(nil, n), true)
		for err == nil && left() {
			if n--; !it.Next() || !bytes.Equal(it.Sub(), appendPage(nil, n)) || len(it.Value()) < stampSize {
				err = errZSet
				break
			}
			stamp = binary.BigEndian.Uint64(it.Value())
			fresh, err = parseLog(fresh, bytes.Clone(it.Value()[stampSize:]))
		}
		if err := cmp.Or(it.Close(), err); err != nil {
			return nil, err
		}
	}
	log.small = fresh.order()
	if n > 0 {
		log.big, log.small = known.big, known.small.and(log.small)
	}
	if len(log.small) > smallRun {
		log.big, log.small = log.big.and(log.small), nil
	}
	return log, nil
}
