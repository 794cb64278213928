package store

import (
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/digest"
)

// Two stores that follow the same changes hold the same, but not at the same moment:
// Unlike finds where they may differ, and whether they do, LiveSum tells of entries that a
// [Watch] has seen unchanged meanwhile.

// Digests say what a store holds of a range between two positions, in two levels.
type Digests = digest.Digests

// A Group is the digest of some entries that follow one another.
type Group = digest.Group

// An EntryDigest stands for one entry.
type EntryDigest = digest.EntryDigest

// A Span is the entries of a range from a position up to another.
type Span = digest.Span

// digests compares what two stores hold.
type digests struct{ s *Store }

// Digest returns digests of what the store holds of a range from a position on, of up
// to n entries. Keys that have expired but are not removed are entries, too: they are
// to be removed where the range is copied from has none.
func (dg *digests) Digest(r ring.Range, from Position, n int) (*Digests, error) {
	return digest.New(source{dg.s}, r, from, n)
}

// DigestEntries returns the digest of each entry from a position up to another, both of
// which Digests have named, up to n: nil and false if there are more.
func (dg *digests) DigestEntries(r ring.Range, from, to Position, n int) (entries []EntryDigest, all bool, err error) {
	return digest.Entries(source{dg.s}, r, from, to, n)
}

// ParseDigests reads what [Digests.Append] writes. What it returns shares b's memory in part.
// Whether it fits a range, the methods that are given it check.
func ParseDigests(b []byte) (*Digests, error) { return digest.Parse(b) }

// TakeEntries reads what another store's [Digests.AppendEntries] writes, into that one's digests.
func (dg *digests) TakeEntries(d *Digests, b []byte) error {
	return digest.TakeEntries(dg.s.token, d, b)
}

// DifferingGroups returns the numbers of those groups of another store's digests whose second
// level is worth asking for: this one holds other entries there. Nothing is latched;
// what changes meanwhile Chunk finds out.
func (dg *digests) DifferingGroups(r ring.Range, d *Digests) (groups []int, err error) {
	return digest.Differing(source{dg.s}, r, d, dg.s.deathTime(dg.s.now()), (*Group).IsDetailed)
}

// DifferingSpans returns those parts of another store's digests of a range in which this one does
// not hold the same entries. What is written meanwhile may be among them, and keys that
// have expired but are not removed yet.
func (dg *digests) DifferingSpans(r ring.Range, d *Digests) ([]Span, error) {
	groups, err := digest.Differing(source{dg.s}, r, d, dg.s.deathTime(dg.s.now()), func(*Group) bool { return false })
	if err != nil {
		return nil, err
	}
	spans := make([]Span, 0, len(groups))
	for _, i := range groups {
		spans = append(spans, d.SpanOf(i))
	}
	return spans, nil
}

// LiveSum returns a hash of the keys and contents of a span that have not expired at some
// moment: on every store the same if they are, whether expired keys were removed or not. Of
// more entries than a few thousand only the first count.
func (dg *digests) LiveSum(r ring.Range, sp Span, at time.Time) (uint64, error) {
	return digest.LiveSum(source{dg.s}, r, sp, at)
}

// A Watch counts the changes of some ranges, each on its own. Close must be called.
type Watch struct {
	s       *Store
	taps    []*Tap
	changes []atomic.Uint64
}

// Watch begins to count.
func (dg *digests) Watch(ranges ...ring.Range) *Watch {
	w := &Watch{s: dg.s, changes: make([]atomic.Uint64, len(ranges))}
	w.taps = dg.s.taps.ListenEach(ranges, func(i int, _ Change) { w.changes[i].Add(1) })
	return w
}

// Changes returns how many there were in each of the ranges, since Watch: all that can be
// seen are counted, and all that are counted can be seen and were handed to the tap that holds
// the ranges.
func (w *Watch) Changes() []uint64 {
	// A commit makes changes visible, and hands them over, while commits is held for
	// reading.
	w.s.commits.Lock()
	defer w.s.commits.Unlock()
	counts := make([]uint64, len(w.changes))
	for i := range w.changes {
		counts[i] = w.changes[i].Load()
	}
	return counts
}

// Close ends it.
func (w *Watch) Close() {
	CloseTaps(w.taps)
}
