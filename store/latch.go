package store

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Latches make commands on the same key serial. A unit takes the latches of all
// its keys at once, in ascending order, before its first command, and lets go
// after its commit; so units cannot wait for one another in a circle.
//
// A latch has two locks. A unit of commands holds mu. A [Receiver] holds follow, for the
// batches of another store. What drops keys without a unit holds both, mu first.
//
// Invariant: what holds follow waits for no mu. So a script, which may hold mu for as long as
// it runs, keeps no receiver from the other keys of the latch. A receiver and a unit do not
// exclude each other where they change the same key: there a unit that began before the
// receiver got the range is refused, see [followed].
//
// Reads of single keys take no latch. They are right all the same because of the version:
// committing is set in it from before the commit of a unit until the cache agrees with Pebble
// again and settled names the commit, and following likewise for a receiver's. A reader that
// sees committing after it has fetched its value takes the latch and looks again; one that
// does not waits, before its reply leaves, until the commit that settled names is durable.
// Whatever it has seen is durable then, too. A reader has nothing to do with the keys of a
// receiver, so following concerns it only where it fills the cache: see [cache.fill].
const latchCount = 4096

// The low bits of a latch's version say which commits are under way; the rest counts those
// that have ended.
const (
	committing = 1 << iota // under mu
	following              // under follow
	versionStep
	underWay = committing | following
)

type latch struct {
	mu      sync.Mutex
	follow  sync.Mutex
	version atomic.Uint64
	settled atomic.Uint64 // the last commit under this latch, as a settler's number
	tapped  atomic.Uint64 // the last change under this latch that a Tap was handed
	// long counts units that hold the latch, or wait for it, and may hold it for as long as a
	// script runs: see [Unit.TakesLong].
	long atomic.Int32
	_    [20]byte
}

// raise has settled name a commit, unless it names a later one: commits under mu and under
// follow overlap.
func (l *latch) raise(number uint64) {
	for now := l.settled.Load(); now < number; now = l.settled.Load() {
		if l.settled.CompareAndSwap(now, number) {
			return
		}
	}
}

// Unchanged reports whether the version is one from before, and no commit was under way then.
func (l *latch) Unchanged(before uint64) bool {
	return before&underWay == 0 && l.version.Load() == before
}

type latches [latchCount]latch

// latchOf returns the number of a place's latch. All places of a slice of 2¹⁶
// tokens have the same one: so whatever keys it holds, a short interval of tokens,
// as a copy reads at a time, is latched by few.
func latchOf(p Place) uint16 {
	return uint16(uint32(layout.SliceOf(p)) * 0x9e3779b1 >> 20)
}

// SameLatch reports whether two places share a latch.
func SameLatch(a, b Place) bool { return latchOf(a) == latchOf(b) }

// maxBackOffs is how often lock waits for one latch without holding others.
const maxBackOffs = 4

// lock takes the latches, which it sorts and frees of duplicates first, and
// returns them.
//
// Invariant: lock never waits for the latch of a unit that takes long while it holds another
// latch. Otherwise the keys under that one would wait for a script that does not touch them,
// and so would the copy of their ranges. It waits for one latch with none held and then tries
// all; where latches are only in great demand it takes them in ascending order after some
// tries, so it comes to its end. Neither way closes a circle.
func (l *latches) lock(nums []uint16) []uint16 {
	nums = inOrder(nums)
	busy, ok := l.tryLock(nums)
	for tries := 0; !ok; tries++ {
		if tries >= maxBackOffs && l[busy].long.Load() == 0 {
			busy, ok = l.lockInOrder(nums)
			continue
		}
		l[busy].mu.Lock()
		var other uint16
		if other, ok = l.tryLockBeside(nums, busy); !ok {
			l[busy].mu.Unlock()
			busy = other
		}
	}
	return nums
}

// lockInOrder takes the latches in ascending order. Before it would wait for a unit that takes
// long it gives up: then it holds none and returns that unit's latch.
func (l *latches) lockInOrder(nums []uint16) (busy uint16, ok bool) {
	for i, n := range nums {
		if l[n].mu.TryLock() {
			continue
		}
		if l[n].long.Load() > 0 {
			l.unlock(nums[:i])
			return n, false
		}
		l[n].mu.Lock()
	}
	return 0, true
}

// tryLockBeside is tryLock for latches of which one is held. That one is held afterwards, too.
func (l *latches) tryLockBeside(nums []uint16, held uint16) (busy uint16, ok bool) {
	for i, n := range nums {
		if n != held && !l[n].mu.TryLock() {
			for _, n := range nums[:i] {
				if n != held {
					l[n].mu.Unlock()
				}
			}
			return n, false
		}
	}
	return 0, true
}

const (
	// apartTries is how often lockApart begins anew while latches change hands quickly.
	apartTries = 8
	// apartPause and apartLongest are the pauses while it waits for one latch.
	apartPause   = time.Millisecond
	apartLongest = 50 * time.Millisecond
	// latchPatience is for how long lockWithin lets one unit hold a latch.
	latchPatience = 200 * time.Millisecond
)

// lockApart is lock for work in the background that takes many latches. A unit may hold a
// latch for as long as a script runs. lockApart holds no other latch while it waits for that
// one, so units of other keys go on. Where latches are only in great demand it takes its turn
// among units after some tries, as lock does.
func (l *latches) lockApart(nums []uint16) []uint16 {
	nums = inOrder(nums)
	for range apartTries {
		busy, ok := l.tryLock(nums)
		if ok {
			return nums
		}
		l.awaitFree(busy, math.MaxInt64)
	}
	return l.lock(nums)
}

// lockWithin is lockApart for work that can be put off: it returns false, and holds nothing,
// once one unit has held one of the latches for latchPatience.
func (l *latches) lockWithin(nums []uint16) (sorted []uint16, ok bool) {
	nums = inOrder(nums)
	for range apartTries {
		busy, ok := l.tryLock(nums)
		if ok {
			return nums, true
		}
		if !l.awaitFree(busy, latchPatience) {
			return nums, false
		}
	}
	_, ok = l.lockInOrder(nums)
	return nums, ok
}

// tryLock takes all latches or none; then it returns one that is held.
func (l *latches) tryLock(nums []uint16) (busy uint16, ok bool) {
	for i, n := range nums {
		if !l[n].mu.TryLock() {
			l.unlock(nums[:i])
			return n, false
		}
	}
	return 0, true
}

// awaitFree waits until a latch is free, or was used by another unit, which shows in its
// version. It returns false if neither comes within some time.
func (l *latches) awaitFree(n uint16, within time.Duration) bool {
	version := l[n].version.Load()
	waited := time.Duration(0)
	for pause := apartPause; waited < within; pause = min(2*pause, apartLongest) {
		time.Sleep(pause)
		waited += pause
		if l[n].version.Load() != version {
			return true
		}
		if l[n].mu.TryLock() {
			l[n].mu.Unlock()
			return true
		}
	}
	return false
}

// mark says of latches that a unit is about to take them, or holds them, and takes long;
// unmark takes that back.
func (l *latches) mark(nums []uint16) {
	for _, n := range nums {
		l[n].long.Add(1)
	}
}

func (l *latches) unmark(nums []uint16) {
	for _, n := range nums {
		l[n].long.Add(-1)
	}
}

// inOrder sorts numbers of latches and frees them of duplicates. Of many, a set of bits
// is faster than to compare them.
func inOrder(nums []uint16) []uint16 {
	const many = 16
	if len(nums) <= many {
		slices.Sort(nums)
		return slices.Compact(nums)
	}
	var set [latchCount / 64]uint64
	for _, n := range nums {
		set[n/64] |= 1 << (n % 64)
	}
	nums = nums[:0]
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			nums = append(nums, uint16(i*64+bits.TrailingZeros64(word)))
		}
	}
	return nums
}

func (l *latches) unlock(nums []uint16) {
	for _, n := range nums {
		l[n].mu.Unlock()
	}
}

// lockFollow takes the locks of receivers, of latches which it sorts and frees of duplicates
// first, and returns them. None is held for long, so it takes them in ascending order.
func (l *latches) lockFollow(nums []uint16) []uint16 {
	nums = inOrder(nums)
	for _, n := range nums {
		l[n].follow.Lock()
	}
	return nums
}

func (l *latches) unlockFollow(nums []uint16) {
	for _, n := range nums {
		l[n].follow.Unlock()
	}
}

// beginCommit sets a mark in the versions of latches; endCommit takes it back.
func (l *latches) beginCommit(nums []uint16, mark uint64) {
	for _, n := range nums {
		l[n].version.Add(mark)
	}
}

func (l *latches) endCommit(nums []uint16, mark uint64) {
	for _, n := range nums {
		l[n].version.Add(versionStep - mark)
	}
}

// settle has latches name a commit.
func (l *latches) settle(nums []uint16, number uint64) {
	for _, n := range nums {
		l[n].raise(number)
	}
}

// everyLatch returns the numbers of all latches.
func everyLatch() []uint16 {
	nums := make([]uint16, latchCount)
	for i := range nums {
		nums[i] = uint16(i)
	}
	return nums
}

// appendLatches appends the numbers of the latches of all places of an interval.
func appendLatches(dst []uint16, st layout.Interval) []uint16 {
	first, last := int(layout.SliceOf(st.First)), int(layout.SliceOf(st.Last))
	if last-first >= 2*latchCount {
		return everyLatch()
	}
	for i := first; i <= last; i++ {
		dst = append(dst, latchOf(Place(i)<<48))
	}
	return inOrder(dst)
}
