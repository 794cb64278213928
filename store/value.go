package store

import (
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Value is what a unit sees of one key. The zero Value is a key that does not exist.
type Value struct {
	Type Type
	// Raw: the string was built by parts, or the collection has once been one that Redis keeps in no compact form; of a
	// list, unless it has shrunk since. OBJECT ENCODING tells.
	Raw bool
	// Chunks: the list is not whole, and its entries may be of several elements.
	Chunks bool
	Expiry int64 // ms since 1970; 0: none
	// FieldExpiry is the time before which no field of a hash expires, in ms since 1970; 0 or NeverExpires: none ever does.
	FieldExpiry int64
	Size        int64 // bytes of a string, or of all that a collection holds
	Count       int64 // elements of a collection, unless it is whole
	// Inline is a string that fits one entry, or all of a small collection, or what the type of a collection wants to
	// know beside its elements. It is valid until the unit ends.
	Inline []byte
	// elided: Inline lacks the string, of Size bytes. See [Unit.Head].
	elided bool
	gen    uint64
	place  Place
}

// Exists reports whether there is such a key.
func (v *Value) Exists() bool { return v.Type != None }

// WithPlaceOf returns v as the value of the key that another is of.
func (v Value) WithPlaceOf(of Value) Value {
	v.place = of.place
	return v
}

// Whole reports whether Inline is the whole string, or collection.
func (v *Value) Whole() bool { return v.gen == 0 }

func (v *Value) header() layout.Header {
	h := layout.Header{Type: v.Type, Expiry: v.Expiry, FieldExpiry: v.FieldExpiry, Gen: v.gen, Value: v.Inline, Flags: v.flags()}
	switch {
	case v.elided:
		h.Value = zeroPiece[:v.Size] // only its length is read
	case v.gen == 0:
	case v.Type.IsBytes():
		h.Count = uint64(v.Size)
	default:
		h.Count, h.Bytes = uint64(v.Count), uint64(v.Size)
	}
	return h
}

// flags are those of the value's header.
func (v *Value) flags() (flags uint8) {
	if v.Raw {
		flags = layout.FlagRaw
	}
	if v.Chunks {
		flags |= layout.FlagChunks
	}
	return flags
}

func (v *Value) set(h *layout.Header, p Place) {
	*v = Value{
		Type: h.Type, Raw: h.Flags&layout.FlagRaw != 0, Chunks: h.Flags&layout.FlagChunks != 0, Expiry: h.Expiry,
		FieldExpiry: h.FieldExpiry, Size: h.Size(), gen: h.Gen, place: p,
	}
	if h.Gen == 0 || !h.Type.IsBytes() {
		v.Inline = h.Value
	}
	if h.Gen != 0 && !h.Type.IsBytes() {
		v.Count = int64(h.Count)
	}
}
