package store

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/walk"
)

// Fields of a hash can expire. Which ones do, and when, is the affair of the hash's form; the store knows the time
// before which none does, which the header says, and keeps the key in the index of expiry times under it. At that time
// it has [Config.ExpireFields] remove the fields.

// fieldTimes puts headers of hashes whose fields expire.
type fieldTimes struct{ u *Unit }

// PutWholeTimed is PutWhole for a hash no field of which expires before a time, in ms since 1970; 0: none ever does.
func (f *fieldTimes) PutWholeTimed(key []byte, v *Value, typ Type, all []byte, first int64) {
	old := v.header()
	v.Chunks = false
	h := layout.Header{Type: typ, Flags: v.flags(), Expiry: v.Expiry, FieldExpiry: first, Value: all}
	f.u.putValue(key, v, &old, &h)
}

// PutHeadTimed is PutHead for a hash no field of which expires before a time, in ms since 1970; 0: none ever does.
func (f *fieldTimes) PutHeadTimed(key []byte, v *Value, count, size int64, head []byte, first int64) {
	u := f.u
	h := layout.Header{
		Type: v.Type, Flags: v.flags(), Expiry: v.Expiry, FieldExpiry: first, Gen: v.gen,
		Count: uint64(count), Bytes: uint64(size), Value: head,
	}
	if c := u.find(v.place, key); c != nil && first == v.FieldExpiry {
		u.putHeadAgain(key, c, v, &h)
		return
	}
	old := v.header()
	u.putValue(key, v, &old, &h)
}

// A Built says what was written of a collection that is made aside.
type Built struct {
	Count, Size int64 // of its elements
	Entries     int64 // for them
	Head        []byte
	FieldExpiry int64
	Chunks      bool // see [Value.Chunks]
	// Apart are two kinds of sub keys that the same element must not have an entry of both of; 0: there are none.
	Apart [2]byte
}

// ConstructTimed is Construct where only fill knows all that is to be said of the collection.
func (f *fieldTimes) ConstructTimed(key []byte, v *Value, typ Type, fill func(set func(sub, value []byte) error) (Built, error)) error {
	u := f.u
	h := layout.Header{Type: typ}
	gen, err := u.long.buildValue(key, v.place, func(c *valueBuilder) error {
		built, err := fill(c.set)
		h.Count, h.Bytes, h.Value, h.FieldExpiry = uint64(built.Count), uint64(built.Size), built.Head, built.FieldExpiry
		if built.Chunks {
			h.Flags = layout.FlagChunks
		}
		if err == nil {
			err = c.holds(built.Entries)
		}
		if err == nil && built.Apart[0] != 0 {
			var apart bool
			if apart, err = walk.AreApart(source{u.s}, c.prefix, built.Apart); err == nil && !apart {
				err = fmt.Errorf("write long value: %w", ErrDuplicate)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	h.Gen = gen
	old := v.header()
	u.putValue(key, v, &old, &h)
	return nil
}

// fieldBatch is how many fields are removed at a time because their time has come. Meanwhile the key's latch is held,
// and requests have a processor less.
const fieldBatch = 64

// ExpireFieldsOnRead is for a command that has read v, a hash at key of which fields may be due: it removes some of
// them, as a read of an expired key removes that. What is left, and what v still says where the unit does not hold the
// key's latch, is for the caller not to see.
func (f *fieldTimes) ExpireFieldsOnRead(key []byte, v *Value) error {
	u := f.u
	remove := u.s.cfg.ExpireFields
	refusal := u.s.AcceptsRemovals()
	if refusal == nil && u.s.passive.Contains(v.place.Token()) {
		refusal = ErrPassive
	}
	switch {
	case remove == nil:
		return nil
	case refusal != nil && !errors.Is(refusal, ErrPassive) && u.now-v.FieldExpiry < clockTolerance:
		return refusal
	case u.holds(v.place) && refusal != nil:
		u.unseenErr = refusal
		return nil
	case u.holds(v.place):
		if u.s.Writable() != nil {
			u.RemovesOnly()
		}
		n, err := remove(u, key, v, fieldBatch)
		u.s.expirer.expiredFields.Add(int64(n))
		return err
	case refusal != nil || len(u.latched) > 0:
		return nil // see expireOnRead
	}
	return u.expireApart(v.place, key, v.FieldExpiry)
}

// expireFields removes fields of a hash, up to so many, whose time has come. It returns how many it has removed, and
// whether there may be more.
func (f *fieldTimes) expireFields(p Place, key []byte, h *layout.Header, most int) (n int, more bool, err error) {
	u := f.u
	remove := u.s.cfg.ExpireFields
	if remove == nil || most == 0 {
		return 0, remove != nil, nil
	}
	var v Value
	v.set(h, p)
	n, err = remove(u, key, &v, most)
	return n, v.Exists() && v.FieldExpiry != 0 && v.FieldExpiry <= u.now, err
}

// expireApart removes what is due of a key, or of its fields, in a unit of its own: its time came at so many ms since
// 1970. What this unit has read waits for that.
func (f *fieldTimes) expireApart(p Place, key []byte, at int64) error {
	u := f.u
	n, err := u.s.expirer.expireKeys(u.now, []expiring{{place: p, key: key}}, nil)
	if n > u.after {
		u.after = n
	}
	if taps := u.s.taps.Current(); taps != nil {
		u.noteUnacked(taps, &u.s.latches[latch.Of(p)], p)
	}
	if errors.Is(err, ErrReadOnly) && u.now-at >= clockTolerance {
		err = nil // since this moment: see expireOnRead
	}
	return err
}
