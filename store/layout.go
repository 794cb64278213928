package store

import (
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Place is where a key lies among all keys of a store: its token, then 32 bits of a hash of
// the whole key.
type Place = layout.Place

// PlaceOf returns the place of a key under a token function.
func PlaceOf(token ring.TokenFunc, key []byte) Place { return layout.PlaceOf(token, key) }

// A Position is a point in the order of the entries of a range; empty is its beginning.
type Position = layout.Position

// Type is the type of a value. The numbers are part of the format.
type Type = layout.Type

// The types of values.
const (
	None   = layout.None
	String = layout.String
	Hash   = layout.Hash
	List   = layout.List
	Set    = layout.Set
	ZSet   = layout.ZSet
	Stream = layout.Stream
	JSON   = layout.JSON
	Bloom  = layout.Bloom
)

// NeverExpires is the FieldExpiry of a hash that has room for expiries of fields, and none.
const NeverExpires = layout.NeverExpires

// ChunkItems is how many elements of a list are in a chunk.
const ChunkItems = layout.ChunkItems

// The first bytes of sub keys whose elements have lines in the cache.
const (
	FieldKind = layout.FieldKind // a field of a hash, a member of a set
	TimedKind = layout.TimedKind // a field of a hash that expires
	ItemKind  = layout.ItemKind  // an element of a list
)
