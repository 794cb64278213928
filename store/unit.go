package store

import (
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/pending"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
	"github.com/ringside-kv/ringside/store/internal/tap"
)

// A Unit is what the commands of a pipeline work on together: they see one
// another's changes at once, all others see them after Commit, all or none.
//
// A unit begins with the keys that it may write or that it must see as of one
// moment; their latches are held until Commit or Abort. A unit that begins without
// keys can only read; each of its reads sees a state of its own.
//
// A Unit belongs to one goroutine and is used again for one pipeline after the
// other.
type Unit struct {
	s   *Store
	now int64 // ms since 1970, as of Begin

	// The parts of the unit that are types of their own; each has its file. What they export are
	// methods of the unit.
	heldLatches
	heldAcks
	changeNotices
	eventNotes
	fieldTimes
	byteValues
	keyUses
	long   longValues
	pieces changedPieces

	batch   *pebble.Batch
	changes []change
	index   pending.Index // of changes, once there are many
	deltas  []counts.Delta
	// headChanges rises with each change, and when they are forgotten.
	headChanges uint64
	// after is the newest commit that something read here may stem from.
	after uint64
	// lines holds what has been read and written; values point into it until
	// the unit ends.
	lines []byte
	pbuf  []byte // Pebble keys under construction
	// elements are the unit's changes of entries of collections.
	elements pending.Changes
	row      cache.NearRow
	// failure, once set, is what Commit will answer: see Fail.
	failure error
	// unseenErr says why an expired key could not be removed that this unit does not
	// see: it must not write then.
	unseenErr error
	// frees: see RemovesOnly.
	frees bool
	// flushed: part of the changes has been applied already.
	flushed bool
	// split is flushed until the unit ends, and counted in Store.pins.
	split bool
	// BeforeDisk, if set, is called before something is read that the cache does not have: the unit may wait
	// for the disk then. brief: that is one entry. It is set once, before the first Begin.
	BeforeDisk func(brief bool)
	// CommitTimes, if set, is where the times of a commit go before its waiter is told.
	CommitTimes *CommitTimes
	// grow: see KeepAbortable.
	grow func(bytes int64) bool
	// peeking: reads do not count as uses of their keys.
	peeking bool
	// Reads need no content: see Head and ElementSize.
	heading, sizing bool
	// copying: what is written is no use of its key, either.
	copying bool
	// following: the unit is a receiver's. What is read goes to nobody, but into what is
	// written.
	following bool
	// mayCommit is asked before each commit, while Store.commits is held: its error refuses the commit.
	// nil: no reason speaks against it.
	mayCommit func() error
	// followTurn is that of Store.followed at Begin.
	followTurn uint64
	// syncsItself: the owner of this unit settles its commits, or has it done.
	syncsItself bool
	// headers is how many records of the batch are headers, or follow from them.
	headers uint32
	// rangeTombstones is how many range tombstones the batch has; crowded says that what was applied
	// had some.
	rangeTombstones    int
	hadRangeTombstones bool
	// parts is what the taps are handed.
	parts    tap.Parts
	knownKey []byte // see RememberPlace
	knownAt  Place
	// own is what view has made of changes.
	own ownChanges
	// readers see, in a unit without latches, one state of a long string each.
	readers []pieceReader
}

// CommitTimes are when the log began to be written for a unit, together with those of others, and when it was as
// durable as the fsync mode demands.
type CommitTimes = syncqueue.Times

// NewUnit returns a unit, to be used for one pipeline after the other.
func (s *Store) NewUnit() *Unit {
	u := &Unit{s: s}
	u.heldLatches.u, u.heldAcks.u, u.changeNotices.u, u.eventNotes.u, u.fieldTimes.u = u, u, u, u, u
	u.byteValues.u, u.long.u, u.pieces.u = u, u, u
	return u
}

// Begin starts the unit: it takes the latches of places, and fixes the time by
// which keys expire, in ms since 1970. Where a [Tap] paces its range, that comes first.
func (u *Unit) Begin(now int64, places []Place) {
	if taps := u.s.taps.Current(); taps != nil && len(places) > 0 {
		taps.Slow(places)
	}
	u.latched = u.latched[:0]
	for _, p := range places {
		u.latched = append(u.latched, latch.Of(p))
	}
	u.begin(now)
}

// TryBegin is Begin where that need not wait for a latch. Else it returns false, and the unit
// has not begun.
func (u *Unit) TryBegin(now int64, places []Place) bool {
	if taps := u.s.taps.Current(); taps != nil && len(places) > 0 {
		taps.Slow(places)
	}
	u.latched = u.latched[:0]
	for _, p := range places {
		u.latched = append(u.latched, latch.Of(p))
	}
	nums := latch.Sort(u.latched)
	u.latched = nums[:0]
	if len(nums) > 0 && u.s.pins.Frozen() {
		return false
	}
	if u.isLong {
		u.s.latches.MarkLong(nums)
	}
	if _, ok := u.s.latches.TryLock(nums); !ok {
		if u.isLong {
			u.s.latches.UnmarkLong(nums)
		}
		return false
	}
	u.begin(now)
	u.latched = nums
	return true
}

// heldLatches are the latches of a unit.
type heldLatches struct {
	u       *Unit
	latched []uint16 // the numbers of those that are held, in order
	// isLong: see ExpectLong. Its latches are marked.
	isLong bool
	// excludesReceivers: receivers are kept out of the unit's latches, too. It removes entries of the
	// index of expiry times that it has found wrong, wherever they lie.
	excludesReceivers bool
}

// ExpectLong says, before Begin, of the unit that begins next that it may hold its latches for
// as long as a script runs. Others hold no latch while they wait for it.
func (hl *heldLatches) ExpectLong() { hl.isLong = true }

// SameLatch reports whether two places share a latch.
func SameLatch(a, b Place) bool { return latch.Same(a, b) }

// HasLatch reports whether the unit has the latch of a place.
func (hl *heldLatches) HasLatch(p Place) bool { return hl.holds(p) }

// HasLatchOf is HasLatch for the key that v was read of: no other unit can change it.
func (hl *heldLatches) HasLatchOf(v *Value) bool { return hl.holds(v.place) }

// Flushed reports whether a part of the unit's changes has been applied: Abort cannot take
// that back. Entries of a value whose header is not written yet do not count: Abort leaves
// them to the garbage collector.
func (u *Unit) Flushed() bool { return u.flushed }

// KeepAbortable says that Abort must be able to take back all that the unit does from here on: the
// unit keeps in memory what it would apply early otherwise. It asks grow before, with a number
// of bytes; where that returns false the change fails with ErrNotWhole, and nothing of it is
// made. grow must not call the unit. nil ends that, and so does Begin.
func (u *Unit) KeepAbortable(grow func(bytes int64) bool) { u.grow = grow }

// Size returns about how many bytes of memory the unit's changes take until its end.
func (u *Unit) Size() int64 {
	n := 2*cap(u.lines) + len(u.pieces.list)*pieceSize + cap(u.changes)*changeSize + cap(u.elements.List)*elementSize
	if u.batch != nil {
		n += u.batch.Len()
	}
	return int64(n)
}

// About how much a change of a key, or of an element, takes beside its bytes.
const (
	changeSize  = 160
	elementSize = 112
)

// begin is Begin with the numbers of the latches, in any order, in u.latched.
func (u *Unit) begin(now int64) {
	u.now = now
	u.after = 0
	u.followTurn = u.s.followed.turn.Load()
	u.failure, u.unseenErr, u.flushed, u.ignoresReads, u.frees, u.grow = nil, nil, false, false, false, nil
	u.notices = nil
	u.lines = u.lines[:0]
	u.unacked = u.unacked[:0]
	if len(u.latched) > 0 {
		u.latch(u.latched)
	}
}

// latch takes latches, by their numbers.
func (hl *heldLatches) latch(nums []uint16) {
	hl.u.s.pins.Await()
	if hl.u.following {
		hl.latched = hl.u.s.latches.LockFollow(nums)
		return
	}
	if hl.isLong {
		nums = latch.Sort(nums)
		hl.u.s.latches.MarkLong(nums) // first: no unit comes to wait in between
	}
	hl.latched = hl.u.s.latches.Lock(nums)
	if hl.excludesReceivers {
		hl.u.s.latches.LockFollow(hl.latched)
	}
}

// LatchAll takes the latches of all keys there can be, and nobody else writes or reads several
// until the unit ends. The unit must have begun with none, and done nothing yet.
func (hl *heldLatches) LatchAll() { hl.latch(append(hl.latched[:0], latch.All()...)) }

// beforeAll is a time by which nothing has expired.
const beforeAll = math.MinInt64

// Now returns the time that Begin fixed, in ms since 1970.
func (u *Unit) Now() int64 { return u.now }

// Place returns the place of a key.
func (u *Unit) Place(key []byte) Place {
	if len(u.knownKey) > 0 && string(key) == string(u.knownKey) {
		return u.knownAt
	}
	return PlaceOf(u.s.token, key)
}

// RememberPlace tells the unit the place of a key, so that it does not look for it anew. The bytes of the
// key must stay what they are until the unit is told of another one, or of none.
func (u *Unit) RememberPlace(key []byte, p Place) { u.knownKey, u.knownAt = key, p }

func (hl *heldLatches) holds(p Place) bool {
	if len(hl.latched) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(hl.latched, latch.Of(p))
	return ok
}

// Latched reports whether the unit holds latches.
func (hl *heldLatches) Latched() bool { return len(hl.latched) > 0 }

// AwaitReads returns when all that the unit has read is durable: for replies that
// leave before Commit.
func (u *Unit) AwaitReads() error {
	if u.s.syncs.IsDurable(u.after) && !u.isHeld() {
		return nil
	}
	var done Signal
	u.s.syncs.Add(u.awaitAcks(&done))
	return done.Wait()
}
