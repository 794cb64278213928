package store

import "errors"

// Operations on keys whatever their type.

// Delete removes a key; v is what Get returned. The unit must hold its latch.
func (u *Unit) Delete(key []byte, v Value) {
	if v.Exists() {
		old := v.header()
		u.remove(v.place, key, &old)
	}
}

// SetExpiry changes the expiry of a key, in ms since 1970 or 0 for none; v is what
// Get returned. The unit must hold its latch.
func (u *Unit) SetExpiry(key []byte, v Value, at int64) {
	if v.Exists() && v.Expiry != at {
		old := v.header()
		h := old
		h.Expiry = at
		u.put(v.place, key, &old, &h)
	}
}

// Copy makes what src is, with its expiry, the value of dst, which it replaces;
// both values are what Get returned. The unit must hold both latches.
func (u *Unit) Copy(src []byte, from Value, dst []byte, to Value) error {
	old, h := to.header(), from.header()
	if from.gen == 0 {
		u.put(to.place, dst, &old, &h)
		return nil
	}
	if !from.Type.IsBytes() {
		return u.copyElements(src, &from, dst, &to)
	}
	var piece []byte
	return u.putPieces(dst, to.place, &old, h, from.Size, func(i int64) ([]byte, error) {
		var err error
		piece, err = u.ReadRange(src, from, i*pieceSize, min(pieceSize, from.Size-i*pieceSize), piece[:0])
		return piece, err
	})
}

func (u *Unit) copyElements(src []byte, from *Value, dst []byte, to *Value) error {
	gen, err := u.long.buildValue(dst, to.place, func(c *valueBuilder) error {
		all := u.Elements(src, from, nil, nil, false)
		var err error
		for err == nil && all.Next() {
			err = c.set(all.Sub(), all.Value())
		}
		return errors.Join(err, all.Close())
	})
	if err != nil {
		return err
	}
	old, h := to.header(), from.header()
	h.Gen = gen
	u.put(to.place, dst, &old, &h)
	return nil
}

// Rename moves src to dst, which it replaces; both values are what Get returned.
// The unit must hold both latches.
func (u *Unit) Rename(src []byte, from Value, dst []byte, to Value) error {
	if err := u.Copy(src, from, dst, to); err != nil {
		return err
	}
	u.Delete(src, from)
	return nil
}

// IdleSeconds returns for how long a key has not been used, as far as the cache
// remembers; a key that it has dropped was not used since the store was opened, or
// is not known to have been.
func (u *Unit) IdleSeconds(key []byte) int64 {
	if usage, ok := u.s.Usage(key); ok {
		return int64(usage.Idle)
	}
	return int64(u.s.cache.Now())
}

// Frequency returns how often a key was used, on a logarithmic scale: 0 if the cache has dropped it.
// Uses are counted only while that is asked for.
func (u *Unit) Frequency(key []byte) int64 {
	usage, _ := u.s.Usage(key)
	return int64(usage.Frequency)
}
