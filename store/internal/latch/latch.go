package latch

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Count is the number of latches.
const Count = 4096

// The low bits of a latch's version say which commits are under way; the rest counts those
// that have ended.
const (
	Committing = 1 << iota // under mu
	Following              // under follow
	versionStep
	underWay = Committing | Following
)

// A Latch is that of some slices of 2¹⁶ tokens.
type Latch struct {
	mu      sync.Mutex
	follow  sync.Mutex
	version atomic.Uint64
	settled atomic.Uint64 // the last commit under this latch, as a number of the sync queue
	tapped  atomic.Uint64 // the last change under this latch that a Tap was handed
	// long counts units that hold the latch, or wait for it, and may hold it for as long as a
	// script runs: see MarkLong.
	long atomic.Int32
	_    [20]byte
}

// Lock takes the latch for a reader that has seen a commit under way. Writers take several
// latches at once: see [Table].
func (l *Latch) Lock() { l.mu.Lock() }

// Unlock releases what Lock has taken.
func (l *Latch) Unlock() { l.mu.Unlock() }

// TryLock is Lock without a wait; it reports whether the latch was free.
func (l *Latch) TryLock() bool { return l.mu.TryLock() }

// LockFollow is Lock for commits of receivers.
func (l *Latch) LockFollow() { l.follow.Lock() }

// UnlockFollow releases what LockFollow has taken.
func (l *Latch) UnlockFollow() { l.follow.Unlock() }

// Version returns the version.
func (l *Latch) Version() uint64 { return l.version.Load() }

// IsCommitting reports whether a unit's commit is under way.
func (l *Latch) IsCommitting() bool { return l.version.Load()&Committing != 0 }

// IsFollowing reports whether a receiver's commit is under way.
func (l *Latch) IsFollowing() bool { return l.version.Load()&Following != 0 }

// LastCommit returns the number of the last commit under the latch.
func (l *Latch) LastCommit() uint64 { return l.settled.Load() }

// LastTapped returns the number of the last change under the latch that a tap was handed.
func (l *Latch) LastTapped() uint64 { return l.tapped.Load() }

// NoteTapped records that a tap was handed a change; the caller holds the latch.
func (l *Latch) NoteTapped(number uint64) { l.tapped.Store(max(l.tapped.Load(), number)) }

// raise has settled name a commit, unless it names a later one: commits under mu and under
// follow overlap.
func (l *Latch) raise(number uint64) {
	for now := l.settled.Load(); now < number; now = l.settled.Load() {
		if l.settled.CompareAndSwap(now, number) {
			return
		}
	}
}

// Unchanged reports whether the version is one from before, and no commit was under way then.
func (l *Latch) Unchanged(before uint64) bool {
	return before&underWay == 0 && l.version.Load() == before
}

// A Table is all latches of a store. Latches make commands on the same key serial. A unit takes the
// latches of all its keys at once, in ascending order, before its first command, and lets go after
// its commit; so units cannot wait for one another in a circle.
//
// A latch has two locks. A unit of commands holds mu. A receiver holds follow, for the batches of
// another store. An operation that drops keys without a unit holds both, mu first.
//
// Invariant: a holder of follow never waits for mu. A script may hold mu for as long as it runs, so
// it keeps no receiver from the other keys of the latch. A receiver and a unit do not exclude each
// other where they change the same key: there a unit that began before the receiver got the range
// is refused at its commit.
//
// Reads of single keys take no latch. They are right all the same because of the version:
// Committing is set in it from before the commit of a unit until the cache agrees with Pebble
// again and settled names the commit, and Following likewise for a receiver's. A reader that sees
// Committing after it has fetched its value takes the latch and reads again. A reader that does
// not see it waits, before its reply leaves, until the commit that settled names is durable. All
// that it has read is durable then, too. A reader never waits for the keys of a receiver, so
// Following concerns it only where it fills the cache.
type Table [Count]Latch

// Of returns the number of a place's latch. All places of a slice of 2¹⁶
// tokens have the same one: so whatever keys it holds, a short interval of tokens,
// as a copy reads at a time, is latched by few.
func Of(p layout.Place) uint16 {
	return uint16(uint32(layout.SliceOf(p)) * 0x9e3779b1 >> 20)
}

// Same reports whether two places share a latch.
func Same(a, b layout.Place) bool { return Of(a) == Of(b) }

// maxBackOffs is how often Lock waits for one latch without holding others.
const maxBackOffs = 4

// Lock takes the latches, which it sorts and frees of duplicates first, and returns them.
//
// Invariant: Lock never waits for the latch of a unit that takes long while it holds another
// latch. Otherwise the keys under that one would wait for a script that does not touch them,
// and so would the copy of their ranges. It waits for one latch with none held and then tries
// all; where latches are only in great demand it takes them in ascending order after some
// tries, so it comes to its end. Neither way closes a circle.
func (l *Table) Lock(nums []uint16) []uint16 {
	nums = Sort(nums)
	busy, ok := l.TryLock(nums)
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
func (l *Table) lockInOrder(nums []uint16) (busy uint16, ok bool) {
	for i, n := range nums {
		if l[n].mu.TryLock() {
			continue
		}
		if l[n].long.Load() > 0 {
			l.Unlock(nums[:i])
			return n, false
		}
		l[n].mu.Lock()
	}
	return 0, true
}

// tryLockBeside is tryLock for latches of which one is held. That one is held afterwards, too.
func (l *Table) tryLockBeside(nums []uint16, held uint16) (busy uint16, ok bool) {
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
	// apartTries is how often LockBackground starts again while latches change hands quickly.
	apartTries = 8
	// apartPause and apartLongest are the pauses while it waits for one latch.
	apartPause   = time.Millisecond
	apartLongest = 50 * time.Millisecond
	// drainPause is how often Drain looks.
	drainPause = 50 * time.Microsecond
	// latchPatience is for how long lockWithin lets one unit hold a latch.
	latchPatience = 200 * time.Millisecond
)

// LockBackground is Lock for work in the background that takes many latches. A unit may hold a
// latch for as long as a script runs. LockBackground holds no other latch while it waits for that
// one, so units of other keys go on. Where latches are only in great demand it takes its turn
// among units after some tries, as Lock does.
func (l *Table) LockBackground(nums []uint16) []uint16 {
	nums = Sort(nums)
	for range apartTries {
		busy, ok := l.TryLock(nums)
		if ok {
			return nums
		}
		l.awaitFree(busy, math.MaxInt64)
	}
	return l.Lock(nums)
}

// LockWithin is LockBackground for work that can be put off: it returns false, and holds nothing,
// once one unit has held one of the latches for latchPatience.
func (l *Table) LockWithin(nums []uint16) (sorted []uint16, ok bool) {
	nums = Sort(nums)
	for range apartTries {
		busy, ok := l.TryLock(nums)
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

// TryLock takes all latches or none; then it returns one that is held.
func (l *Table) TryLock(nums []uint16) (busy uint16, ok bool) {
	for i, n := range nums {
		if !l[n].mu.TryLock() {
			l.Unlock(nums[:i])
			return n, false
		}
	}
	return 0, true
}

// awaitFree waits until a latch is free, or was used by another unit, which shows in its
// version. It returns false if neither comes within some time.
func (l *Table) awaitFree(n uint16, within time.Duration) bool {
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

// Drain waits, for most at the most, until each latch has been free once. While no unit begins, no unit holds
// latches then but those that took longer.
func (l *Table) Drain(most time.Duration) {
	for n, end := 0, time.Now().Add(most); n < len(l); {
		if l[n].mu.TryLock() {
			l[n].mu.Unlock()
			if l[n].follow.TryLock() {
				l[n].follow.Unlock()
				n++
				continue
			}
		}
		if time.Now().After(end) {
			return
		}
		time.Sleep(drainPause)
	}
}

// MarkLong says of latches that a unit is about to take them, or holds them, and takes long;
// unmark takes that back.
func (l *Table) MarkLong(nums []uint16) {
	for _, n := range nums {
		l[n].long.Add(1)
	}
}

// UnmarkLong takes back MarkLong.
func (l *Table) UnmarkLong(nums []uint16) {
	for _, n := range nums {
		l[n].long.Add(-1)
	}
}

// Sort sorts numbers of latches and frees them of duplicates. Of many, a set of bits
// is faster than to compare them.
func Sort(nums []uint16) []uint16 {
	const many = 16
	if len(nums) <= many {
		slices.Sort(nums)
		return slices.Compact(nums)
	}
	var set [Count / 64]uint64
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

// Unlock lets latches go that Lock has taken.
func (l *Table) Unlock(nums []uint16) {
	for _, n := range nums {
		l[n].mu.Unlock()
	}
}

// LockFollow takes the locks of receivers, of latches which it sorts and frees of duplicates
// first, and returns them. None is held for long, so it takes them in ascending order.
func (l *Table) LockFollow(nums []uint16) []uint16 {
	nums = Sort(nums)
	for _, n := range nums {
		l[n].follow.Lock()
	}
	return nums
}

// UnlockFollow lets go what LockFollow has taken.
func (l *Table) UnlockFollow(nums []uint16) {
	for _, n := range nums {
		l[n].follow.Unlock()
	}
}

// BeginCommit sets a mark in the versions of latches; endCommit takes it back.
func (l *Table) BeginCommit(nums []uint16, mark uint64) {
	for _, n := range nums {
		l[n].version.Add(mark)
	}
}

// EndCommit takes back BeginCommit.
func (l *Table) EndCommit(nums []uint16, mark uint64) {
	for _, n := range nums {
		l[n].version.Add(versionStep - mark)
	}
}

// NoteCommit has latches name a commit.
func (l *Table) NoteCommit(nums []uint16, number uint64) {
	for _, n := range nums {
		l[n].raise(number)
	}
}

// All returns the numbers of all latches.
func All() []uint16 {
	nums := make([]uint16, Count)
	for i := range nums {
		nums[i] = uint16(i)
	}
	return nums
}

// AppendOf appends the numbers of the latches of all places of an interval.
func AppendOf(dst []uint16, st layout.Interval) []uint16 {
	first, last := int(layout.SliceOf(st.First)), int(layout.SliceOf(st.Last))
	if last-first >= 2*Count {
		return All()
	}
	for i := first; i <= last; i++ {
		dst = append(dst, Of(layout.Place(i)<<48))
	}
	return Sort(dst)
}
