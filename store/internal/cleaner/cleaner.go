package cleaner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/gather"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/refusal"
)

// Config says what a Cleaner works with.
type Config struct {
	DB    *gather.DB
	Cache *cache.Cache
	// Commits is held for reading by each commit.
	Commits *sync.RWMutex
	// Limit is how many bytes may be dirty: the cleaner begins at half of that.
	Limit    int64
	Refusals *refusal.Reasons
	Fatal    <-chan struct{} // closed when Pebble has stopped for good
	Log      *slog.Logger
	Stop     <-chan struct{} // closed when the store is
}

// A Cleaner writes dirty lines to Pebble. Any goroutine may call its methods.
type Cleaner struct {
	Config
	// due has something when much is dirty.
	due chan struct{}
}

// New returns a Cleaner, which cleans by itself once Run is called.
func New(cfg Config) *Cleaner { return &Cleaner{cfg, make(chan struct{}, 1)} }

const (
	// cleanLines is about how many lines are cleaned while commits wait.
	cleanLines = 256
	// longestPause is the longest that the cleaner pauses between two groups of lines.
	longestPause = 10 * time.Millisecond
	// LastSlice is the last of the slices of 2¹⁶ tokens.
	LastSlice = 1<<16 - 1
)

// Run cleans lines while there are many, until the store is closed. It goes round in the order of places, so
// that a line which changes often is cleaned once a round.
func (cl *Cleaner) Run() {
	for next := 0; ; {
		select {
		case <-cl.Stop:
			return
		case <-cl.due:
		}
		for cl.Cache.DirtyBytes() > cl.Limit/2 && !cl.isStopping() && cl.Refusals.Of(refusal.Tables) == nil {
			began := time.Now()
			end, err := cl.cleanGroup(next, LastSlice)
			if err != nil {
				cl.Log.Error("writing dirty lines failed", "err", err)
				break
			}
			if next = end; next > LastSlice {
				next = 0
			}
			background.Rest(cl.pauseAfter(time.Since(began)), cl.Stop)
		}
	}
}

// pauseAfter is how long the cleaner pauses after a group of lines took so long: the longer, the further from the
// limit it is. So it cleans as much as becomes dirty, evenly, and commits do not meet it in bursts.
func (cl *Cleaner) pauseAfter(took time.Duration) time.Duration {
	limit, dirty := cl.Limit, cl.Cache.DirtyBytes()
	above := dirty - limit/2
	switch {
	case dirty >= limit:
		return 0
	case above <= 0:
		return longestPause
	}
	return min(time.Duration(float64(took)*float64(limit-dirty)/float64(above)), longestPause)
}

// ErrStopped reports that there was no time to clean all lines.
var ErrStopped = errors.New("store is stopping")

// CleanAll cleans all lines that are dirty now, and pauses half of the time. It returns ErrStopped once stop is
// closed.
func (cl *Cleaner) CleanAll(stop <-chan struct{}) error {
	for next := 0; next <= LastSlice; {
		select {
		case <-stop:
			return ErrStopped
		default:
		}
		began := time.Now()
		var err error
		if next, err = cl.cleanGroup(next, LastSlice); err != nil {
			return err
		}
		if next <= LastSlice {
			background.Rest(min(time.Since(began), longestPause), cl.Stop)
		}
	}
	return nil
}

// Clean cleans the lines of the slices from first to last that are dirty now. Commits go on meanwhile.
func (cl *Cleaner) Clean(first, last uint16) (err error) {
	for next := int(first); next <= int(last) && err == nil; {
		next, err = cl.cleanGroup(next, int(last))
	}
	return err
}

// cleanGroup is cleanSome for a caller that has not locked commits.
func (cl *Cleaner) cleanGroup(from, last int) (next int, err error) {
	from, ok := cl.Cache.NextDirty(from, last)
	if !ok {
		return last + 1, nil
	}
	if err := cl.lock(); err != nil {
		return from, err
	}
	defer cl.Commits.Unlock()
	return cl.cleanSome(from, last)
}

// lock locks commits. It returns an error once Pebble has stopped, which a commit, which has them locked for
// reading, may wait for without end.
func (cl *Cleaner) lock() error {
	if cl.Commits.TryLock() {
		return nil
	}
	locked := make(chan struct{})
	var decided atomic.Bool // who is first, decides
	go func() {
		cl.Commits.Lock()
		if decided.Swap(true) {
			cl.Commits.Unlock()
			return
		}
		close(locked)
	}()
	select {
	case <-locked:
	case <-cl.Fatal:
		if !decided.Swap(true) {
			return fmt.Errorf("wait for commits: %w: %w", refusal.ErrReadOnly, cl.Refusals.Of(refusal.Fatal))
		}
	}
	return nil
}

// CleanLocked is Clean for a caller that has locked commits for writing.
func (cl *Cleaner) CleanLocked(first, last uint16) (err error) {
	for next := int(first); next <= int(last) && err == nil; {
		next, err = cl.cleanSome(next, int(last))
	}
	return err
}

// CleanIntervals is CleanLocked for intervals.
func (cl *Cleaner) CleanIntervals(sts []layout.Interval) error {
	for _, st := range sts {
		if err := cl.CleanLocked(layout.SliceOf(st.First), layout.SliceOf(st.Last)); err != nil {
			return err
		}
	}
	return nil
}

// cleanSome cleans slices from one on that have about cleanLines dirty lines. It returns the slice to go on from,
// which is behind last if none is left. The caller has locked commits for writing.
func (cl *Cleaner) cleanSome(from, last int) (next int, err error) {
	cache := cl.Cache
	var cleaned []uint16
	var places []layout.Place
	for next = last + 1; len(places) < cleanLines; {
		slice, ok := cache.NextDirty(from, last)
		if !ok {
			break
		}
		from = slice + 1
		cleaned = append(cleaned, uint16(slice))
		places = cache.AppendDirty(places, uint16(slice))
	}
	if len(cleaned) == 0 {
		return next, nil
	}
	cache.Prefetch(places)
	b := cl.DB.NewBatch()
	var k []byte
	for _, p := range places {
		cache.EachDirty(p, func(key, line []byte, gone bool) {
			k = layout.AppendDataPrefix(k[:0], p, key)
			if gone {
				_ = b.Delete(k, nil)
			} else {
				_ = b.Set(k, line, nil)
			}
		})
	}
	if !b.Empty() {
		if err := cl.MayWrite(); err != nil {
			return from, errors.Join(err, b.Close())
		}
		if err := cl.DB.AddAmongOthers(b); err != nil {
			return from, fmt.Errorf("write dirty lines: %w", err) // Pebble may still hold the batch
		}
	}
	_ = b.Close()
	for _, p := range places {
		cache.Clean(p)
	}
	for _, slice := range cleaned {
		cache.ForgetDirty(slice)
	}
	if len(places) >= cleanLines {
		next = from
	}
	return next, nil
}

// MayWrite returns an error where Pebble has stopped, and would let a write wait for ever.
func (cl *Cleaner) MayWrite() error {
	if err := cl.Refusals.Of(refusal.Fatal); err != nil {
		return fmt.Errorf("fill memtables: %w: %w", refusal.ErrReadOnly, err)
	}
	return nil
}

// NewIter returns an iterator over data that sees all that was committed before, and of each commit all
// or nothing.
func (cl *Cleaner) NewIter(o *pebble.IterOptions) (*pebble.Iterator, error) {
	if !cl.Cache.HoldsDirty() {
		return cl.DB.NewIter(o)
	}
	first, last := sliceWithin(o.LowerBound, 0), sliceWithin(o.UpperBound, LastSlice)
	for try := 0; ; try++ {
		iter, err := cl.tryHeaderIter(o, first, last, try == mostTries)
		if iter != nil || err != nil {
			return iter, err
		}
		if err := cl.Clean(first, last); err != nil { // most, while commits go on
			return nil, err
		}
	}
}

// NewLooseIter is NewIter for a reader that may see a part of a commit: commits do not wait for it unless
// something is dirty.
func (cl *Cleaner) NewLooseIter(o *pebble.IterOptions) (*pebble.Iterator, error) {
	if err := cl.Clean(sliceWithin(o.LowerBound, 0), sliceWithin(o.UpperBound, LastSlice)); err != nil {
		return nil, err
	}
	return cl.DB.NewIter(o)
}

// mostTries is how often lines are cleaned while commits go on before commits wait until all are clean.
const mostTries = 4

// tryHeaderIter returns no iterator if more is dirty than is cleaned while commits wait, unless it must.
func (cl *Cleaner) tryHeaderIter(o *pebble.IterOptions, first, last uint16, must bool) (*pebble.Iterator, error) {
	if err := cl.lock(); err != nil {
		return nil, err
	}
	defer cl.Commits.Unlock()
	next, err := cl.cleanSome(int(first), int(last))
	if must && err == nil {
		err = cl.CleanLocked(first, last)
	}
	if err != nil || next <= int(last) && !must {
		return nil, err
	}
	return cl.DB.NewIter(o)
}

// sliceWithin returns the slice that a bound of data lies in; other is for a bound that has none.
func sliceWithin(bound []byte, other uint16) uint16 {
	if len(bound) < 3 || bound[0] != layout.KindData {
		return other
	}
	return binary.BigEndian.Uint16(bound[1:])
}

// CleanMost cleans until little is left that became dirty meanwhile.
func (cl *Cleaner) CleanMost() error {
	const few, rounds = 256 << 10, 4
	for range rounds {
		if err := cl.Clean(0, LastSlice); err != nil || cl.Cache.DirtyBytes() < few {
			return err
		}
	}
	return nil
}

// Due is called when lines have become dirty: the cleaner sees to them if they are many.
func (cl *Cleaner) Due() {
	if cl.Cache.DirtyBytes() <= cl.Limit/2 {
		return
	}
	select {
	case cl.due <- struct{}{}:
	default: // it knows
	}
}

func (cl *Cleaner) isStopping() bool {
	select {
	case <-cl.Stop:
		return true
	default:
		return false
	}
}
