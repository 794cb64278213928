package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A Unit is what the commands of a pipeline work on together: they see one
// another's changes at once, everybody else sees them after Commit, all or none.
//
// A unit begins with the keys that it may write or that it must see as of one
// moment; their latches are held until Commit or Abort. A unit that begins without
// keys can only read; each of its reads sees a state of its own.
//
// A Unit belongs to one goroutine and is used again for one pipeline after the
// other.
type Unit struct {
	s       *Store
	now     int64 // ms since 1970, as of Begin
	latched []uint16
	batch   *pebble.Batch
	changes []change
	index   changeIndex // of changes, once there are many
	deltas  []countDelta
	// after is the newest commit that something read here may stem from.
	after uint64
	// lines holds what has been read and written; values point into it until
	// the unit ends.
	lines []byte
	pbuf  []byte // Pebble keys under construction
	dirty []dirtyPiece
	// elements are the unit's changes of entries of collections.
	elements elementChanges
	// built holds the generations that this unit writes the header of.
	built []construction
	// seen is what this unit has read, or written, that a Tap holds; see held.go.
	seen []heldChange
	// failure, once set, is what Commit will answer: see Fail.
	failure error
	// unseen says why an expired key could not be removed that this unit does not
	// see: it must not write then.
	unseen error
	// flushed: part of the changes has been applied already.
	flushed bool
	// peeking: reads do not count as uses of their keys.
	peeking bool
	// copying: what is written is no use of its key, either.
	copying bool
	// following: what is read goes to nobody, but into what is written.
	following bool
	// settles: whoever has this unit settles its commits, or has it done.
	settles bool
	// headers is how many records of the batch are headers, or follow from them.
	headers uint32
	// parts is what the taps are handed.
	parts tapParts
	// constructing: the unit holds Store.constructing.
	constructing bool
	// author is whose changes these are, for OnChange.
	author int64
	// tolds are what replies about what has been applied wait for.
	tolds []func(done func())
	// touched are keys whose values have changed without their headers.
	touched [][]byte
	// early and blind: see Early and Blind.
	early, blind bool
	// events are what has been noted.
	events   []byte
	replaces bool // see Replaces
	// readers see, in a unit without latches, one state of a long string each.
	readers []pieceReader
}

// A change is the newest state of one key in a unit.
type change struct {
	place Place
	key   []byte
	line  []byte // encoded header; nil: the key is gone
	base  uint64 // the generation of the value that the unit found
	gen   uint64 // of line; set when it is handed over
	late  bool   // line is not in the batch yet
}

// A Value is what a unit sees of one key. The zero Value is a key that does not
// exist.
type Value struct {
	Type Type
	// Raw: the string was built by parts, or the collection has once been one that Redis
	// keeps in no compact form. OBJECT ENCODING tells.
	Raw    bool
	Expiry int64 // ms since 1970; 0: none
	Size   int64 // bytes of a string, or of all that a collection holds
	Count  int64 // elements of a collection, unless it is whole
	// Inline is a string that fits one entry, or all of a small collection, or what the
	// type of a collection wants to know beside its elements. It is valid until the unit
	// ends.
	Inline []byte
	gen    uint64
	place  Place
}

// Exists reports whether there is such a key.
func (v *Value) Exists() bool { return v.Type != None }

// At returns v as the value of the key that another is of.
func (v Value) At(of Value) Value {
	v.place = of.place
	return v
}

// Whole reports whether Inline is the whole string, or collection.
func (v *Value) Whole() bool { return v.gen == 0 }

func (v *Value) header() header {
	h := header{typ: v.Type, expiry: v.Expiry, gen: v.gen, value: v.Inline}
	if v.Raw {
		h.flags = headRaw
	}
	switch {
	case v.gen == 0:
	case v.Type == String:
		h.count = uint64(v.Size)
	default:
		h.count, h.bytes = uint64(v.Count), uint64(v.Size)
	}
	return h
}

func (v *Value) set(h *header, p Place) {
	*v = Value{
		Type: h.typ, Raw: h.flags&headRaw != 0, Expiry: h.expiry,
		Size: h.size(), gen: h.gen, place: p,
	}
	if h.gen == 0 || h.typ != String {
		v.Inline = h.value
	}
	if h.gen != 0 && h.typ != String {
		v.Count = int64(h.count)
	}
}

// NewUnit returns a unit, to be used for one pipeline after the other.
func (s *Store) NewUnit() *Unit { return &Unit{s: s} }

// Begin starts the unit: it takes the latches of places, and fixes the time by
// which keys expire, in ms since 1970. Where a [Tap] paces its range, that comes first.
func (u *Unit) Begin(now int64, places []Place) {
	if taps := u.s.taps.Load(); taps != nil && len(places) > 0 {
		taps.slow(places)
	}
	u.latched = u.latched[:0]
	for _, p := range places {
		u.latched = append(u.latched, latchOf(p))
	}
	u.begin(now)
}

// Holds reports whether the unit has the latch of a place.
func (u *Unit) Holds(p Place) bool { return u.holds(p) }

// Flushed reports whether a part of the unit's changes has been applied: Abort cannot take
// that back.
func (u *Unit) Flushed() bool { return u.flushed || len(u.built) > 0 }

// begin is Begin with the numbers of the latches, in any order, in u.latched.
func (u *Unit) begin(now int64) {
	u.now = now
	u.after = 0
	u.failure, u.unseen, u.flushed, u.blind = nil, nil, false, false
	u.tolds = nil
	u.lines = u.lines[:0]
	u.seen = u.seen[:0]
	if len(u.latched) > 0 {
		u.latched = u.s.latches.lock(u.latched)
	}
}

// HoldAll takes the latches of all keys there can be, and nobody else writes or reads several
// until the unit ends. The unit must have begun with none, and done nothing yet.
func (u *Unit) HoldAll() { u.latched = u.s.latches.lock(append(u.latched[:0], everyLatch()...)) }

// beforeAll is a time by which nothing has expired.
const beforeAll = math.MinInt64

// Now returns the time that Begin fixed, in ms since 1970.
func (u *Unit) Now() int64 { return u.now }

// Place returns the place of a key.
func (u *Unit) Place(key []byte) Place { return PlaceOf(u.s.token, key) }

func (u *Unit) holds(p Place) bool {
	if len(u.latched) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(u.latched, latchOf(p))
	return ok
}

// find returns the unit's own change of a key.
func (u *Unit) find(p Place, key []byte) *change {
	if len(u.changes) <= 16 {
		for i := range u.changes {
			if c := &u.changes[i]; c.place == p && bytes.Equal(c.key, key) {
				return c
			}
		}
		return nil
	}
	if i := u.index.find(u.changes, p, key); i >= 0 {
		return &u.changes[i]
	}
	return nil
}

func (u *Unit) setChange(p Place, key, line []byte, base uint64) {
	if c := u.find(p, key); c != nil {
		c.line, c.late = line, false
		return
	}
	u.changes = append(u.changes, change{place: p, key: key, line: line, base: base})
	switch n := len(u.changes); {
	case n == 17 || n > 17 && 2*n > len(u.index):
		u.index = u.index.of(u.changes)
	case n > 17:
		u.index.add(u.changes, n-1)
	}
}

// A changeIndex finds changes by place and key: a table of their numbers, each plus one,
// with open addressing; 0 is nothing.
type changeIndex []int32

// of returns an index of changes, with room for more.
func (x changeIndex) of(changes []change) changeIndex {
	if 2*len(changes) > len(x) {
		size := 64
		for size < 4*len(changes) {
			size *= 2
		}
		x = make(changeIndex, size)
	}
	for i := range changes {
		x.add(changes, i)
	}
	return x
}

func (x changeIndex) add(changes []change, n int) {
	mask := len(x) - 1
	i := int(mix(uint64(changes[n].place))>>32) & mask
	for x[i] != 0 {
		i = (i + 1) & mask
	}
	x[i] = int32(n + 1)
}

// find returns the number of the change of a key, or -1.
func (x changeIndex) find(changes []change, p Place, key []byte) int {
	mask := len(x) - 1
	for i := int(mix(uint64(p))>>32) & mask; x[i] != 0; i = (i + 1) & mask {
		if c := &changes[x[i]-1]; c.place == p && bytes.Equal(c.key, key) {
			return int(x[i] - 1)
		}
	}
	return -1
}

// Changed reports whether the unit has changed a key since it was last applied; Get
// then takes no reading, and cannot fail.
func (u *Unit) Changed(key []byte) bool {
	return len(u.changes) > 0 && u.find(u.Place(key), key) != nil
}

// Get returns the value of a key; a key whose time has come does not exist, and
// is removed. The value is valid until the unit ends or changes the key. Of a collection
// that is not whole nothing can be read with it in a unit without latches: see
// GetElement and GetWhole.
func (u *Unit) Get(key []byte) (Value, error) {
	p := u.Place(key)
	var v Value
	h, err := u.load(p, key)
	if err == nil && h.gen != 0 && h.typ == String && !u.holds(p) {
		h, err = u.openReader(p, key)
	}
	if err != nil || h.typ == None {
		v.place = p
		return v, err
	}
	v.set(&h, p)
	return v, nil
}

// Peek is Get for commands that only look at what a key is: it does not count as
// a use of the key, and it costs the same for strings of any size. Long strings
// cannot be read with what it returns.
func (u *Unit) Peek(key []byte) (Value, error) {
	p := u.Place(key)
	v := Value{place: p}
	u.peeking = true
	h, err := u.load(p, key)
	u.peeking = false
	if err == nil && h.typ != None {
		v.set(&h, p)
	}
	return v, err
}

// load returns the header of a key, with typ None if there is none. Its value
// points into u.lines, or into a change.
func (u *Unit) load(p Place, key []byte) (h header, err error) {
	if len(u.changes) > 0 {
		if c := u.find(p, key); c != nil {
			if c.line != nil {
				err = h.parse(c.line)
			}
			return u.unexpired(h, p, key, err)
		}
	}
	l := &u.s.latches[latchOf(p)]
	line, ok, err := u.read(l, p, key)
	if err != nil {
		return h, err
	}
	if l.version.Load()&1 != 0 && !u.holds(p) {
		// A commit under this latch is under way: wait for it, then look again.
		l.mu.Lock()
		line, ok, err = u.read(l, p, key)
		u.dependOn(l, p)
		l.mu.Unlock()
		if err != nil {
			return h, err
		}
	}
	u.dependOn(l, p)
	if !ok {
		return h, nil
	}
	err = h.parse(line)
	return u.unexpired(h, p, key, err)
}

// dependOn notes that something at p was read, under the latch l.
func (u *Unit) dependOn(l *latch, p Place) {
	if n := l.settled.Load(); n > u.after {
		u.after = n
	}
	if taps := u.s.taps.Load(); taps != nil {
		u.see(taps, l, p)
	}
}

// read returns the line of a key from the cache or from Pebble, appended to
// u.lines.
func (u *Unit) read(l *latch, p Place, key []byte) ([]byte, bool, error) {
	start := len(u.lines)
	var lines []byte
	var answer cacheAnswer
	if u.peeking {
		lines, answer = u.s.cache.peek(p, key, u.lines)
	} else {
		lines, answer = u.s.cache.get(p, key, u.lines)
	}
	switch answer {
	case cacheHit:
		u.lines = lines
		return lines[start:len(lines):len(lines)], true, nil
	case cacheAbsent:
		return nil, false, nil
	}
	// A slice is counted under its latch, which a unit that follows holds: where nothing
	// is, nothing need be looked for. That is most of what a new copy would read.
	if u.following && u.s.counts.slices[sliceOf(p)].keys.Load() == 0 {
		return nil, false, nil
	}
	version := l.version.Load()
	u.pbuf = appendDataPrefix(u.pbuf[:0], p, key)
	value, closer, err := u.s.db.Get(u.pbuf)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return nil, false, nil
		}
		return nil, false, u.s.readFailed(err)
	}
	u.lines = append(u.lines, value...)
	line := u.lines[start:len(u.lines):len(u.lines)]
	_ = closer.Close()
	if !u.peeking {
		u.s.cache.fill(p, key, line, &l.version, version)
	}
	return line, true, nil
}

// unexpired removes a key whose time has come.
func (u *Unit) unexpired(h header, p Place, key []byte, err error) (header, error) {
	if err != nil {
		return header{}, fmt.Errorf("read key: %w", err)
	}
	if !h.expired(u.now) {
		return h, nil
	}
	refusal := u.s.Writable()
	if refusal == nil && u.s.passive.contains(p.Token()) {
		refusal = ErrPassive
	}
	if refusal != nil || len(u.latched) > 0 && !u.holds(p) {
		// It stays, unseen: no write is possible now, or taking one more latch
		// could close a circle.
		if u.holds(p) {
			u.unseen = refusal
		}
		return header{}, nil
	}
	if u.holds(p) {
		u.remove(p, key, &h)
		u.Note(EventExpired, "expired", key)
		u.s.expired.Add(1)
		return header{}, nil
	}
	n, err := u.s.expireKeys(u.now, []expiring{{place: p, key: key}}, nil)
	if n > u.after {
		u.after = n
	}
	if taps := u.s.taps.Load(); taps != nil {
		u.see(taps, &u.s.latches[latchOf(p)], p)
	}
	if errors.Is(err, ErrReadOnly) {
		err = nil // since this moment: as above
	}
	return header{}, err
}

func (u *Unit) batched() *pebble.Batch {
	if u.batch == nil {
		u.batch = u.s.db.NewBatch()
	}
	return u.batch
}

// put makes h the header of key; old is what load returned.
func (u *Unit) put(p Place, key []byte, old, h *header) {
	if !u.holds(p) {
		panic("store: write to a key whose latch is not held")
	}
	start := len(u.lines)
	u.lines = h.append(u.lines)
	line := u.lines[start:len(u.lines):len(u.lines)]
	u.pbuf = appendDataPrefix(u.pbuf[:0], p, key)
	b := u.batched()
	op := b.SetDeferred(len(u.pbuf), len(line))
	copy(op.Key, u.pbuf)
	copy(op.Value, line)
	_ = op.Finish() // an unindexed batch cannot fail
	u.headers++
	u.setChange(p, key, line, old.gen)
	u.account(p, key, old, h)
}

// remove deletes key, whose header is old.
func (u *Unit) remove(p Place, key []byte, old *header) {
	if !u.holds(p) {
		panic("store: write to a key whose latch is not held")
	}
	u.pbuf = appendDataPrefix(u.pbuf[:0], p, key)
	_ = u.batched().Delete(u.pbuf, nil)
	u.headers++
	u.setChange(p, key, nil, old.gen)
	u.account(p, key, old, &header{})
}

// account brings counts, the expiry index and the garbage of a replaced value up
// to date with a change from old to h, either of which may be no value.
func (u *Unit) account(p Place, key []byte, old, h *header) {
	var d countDelta
	d.slice = sliceOf(p)
	if old.typ != None {
		d.keys--
		d.bytes -= int64(len(key)) + old.size()
	}
	if h.typ != None {
		if old.typ == None {
			u.noteNew(key)
		}
		d.keys++
		d.bytes += int64(len(key)) + h.size()
	}
	if old.expiry != h.expiry {
		if old.expiry != 0 {
			d.expires--
			u.pbuf = expiryKey(u.pbuf[:0], old.expiry, p, key)
			_ = u.batched().Delete(u.pbuf, nil)
			u.headers++
		}
		if h.expiry != 0 {
			d.expires++
			u.pbuf = expiryKey(u.pbuf[:0], h.expiry, p, key)
			_ = u.batched().Set(u.pbuf, nil, nil)
			u.headers++
		}
	}
	if d.keys != 0 || d.bytes != 0 || d.expires != 0 {
		u.deltas = append(u.deltas, d)
	}
	if old.gen != 0 && old.gen != h.gen {
		u.dropDirty(old.gen)
		u.pbuf = garbageKey(u.pbuf[:0], p, key, old.gen)
		_ = u.batched().Set(u.pbuf, nil, nil)
		u.headers++
		u.s.garbage.Add(1)
	}
}

// Latched reports whether the unit holds latches.
func (u *Unit) Latched() bool { return len(u.latched) > 0 }

// AwaitReads returns when all that the unit has read is durable: for replies that
// leave before Commit.
func (u *Unit) AwaitReads() error {
	if u.s.settler.durable(u.after) && !u.held() {
		return nil
	}
	var done Signal
	u.s.settler.add(nil, u.gated(&done))
	return done.Wait()
}
