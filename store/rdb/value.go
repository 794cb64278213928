package rdb

import (
	"bytes"
	"fmt"
)

// Type is a data type of Redis, whatever encoding a value of it arrived in.
type Type uint8

// The data types.
const (
	String Type = iota
	List
	Set
	SortedSet
	Hash
	Stream
	Module
	newer // of no form known here
	JSON  // of the module RedisJSON
	Bloom // a filter of the module RedisBloom
)

var typeNames = [...]string{"string", "list", "set", "zset", "hash", "stream", "module", "value", "ReJSON-RL", "MBbloom--"}

// String is the name that the TYPE command has for t.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// A Value is what a payload holds. Which fields are set depends on Type.
type Value struct {
	Type Type

	// Bytes is the value of a String, or the text of JSON. It may share memory with the payload.
	Bytes []byte

	// What Each reads.
	enc  byte
	body []byte
	most limit
}

// typeString is the type byte of a string, the one type with one encoding.
const typeString = 0

// encodings are the type bytes that Redis has up to version 8.8, whether or not
// they can be read here. Any other byte, the never used 8 included, is no type.
var encodings = map[byte]struct {
	t    Type
	name string
}{
	typeString: {String, ""},
	1:          {List, "linked list"},
	2:          {Set, "hash table"},
	3:          {SortedSet, "skip list, scores as text"},
	4:          {Hash, "hash table"},
	5:          {SortedSet, "skip list"},
	6:          {Module, "first form"},
	typeModule: {Module, "second form"},
	9:          {Hash, "zipmap"},
	10:         {List, "ziplist"},
	11:         {Set, "intset"},
	12:         {SortedSet, "ziplist"},
	13:         {Hash, "ziplist"},
	14:         {List, "quicklist of ziplists"},
	15:         {Stream, "listpacks"},
	16:         {Hash, "listpack"},
	17:         {SortedSet, "listpack"},
	18:         {List, "quicklist of listpacks"},
	19:         {Stream, "listpacks, second form"},
	20:         {Set, "listpack"},
	21:         {Stream, "listpacks, third form"},
	22:         {Hash, "hash table with field expiry, preview"},
	23:         {Hash, "listpack with field expiry, preview"},
	24:         {Hash, "hash table with field expiry"},
	25:         {Hash, "listpack with field expiry"},
	26:         {Stream, "listpacks, fourth form"},
	27:         {Stream, "listpacks, fifth form"},
	28:         {newer, "array, of Redis 8.8"},
}

// Decode returns the value in a payload of DUMP; the elements of a Hash, a Set or a List are
// read by [Value.Each], or by [Value.EachExpiring] if it is [Value.Timed], those of a SortedSet by [Value.EachScore], what a Stream holds by
// [Value.VisitStream]; these find what is wrong with them. A string longer than maxLen
// bytes is refused before memory is taken for it, and no payload makes Decode
// take more than maxLen bytes, nor those more than twice as many. None ever panics.
//
// It is stricter than Redis in one place: bytes between the value and the footer
// are an error here and overlooked there. No Redis writes any; what KeyDB writes there is overlooked, too.
//
// Errors: ErrPayload, ErrFormat, ErrType, ErrTooLarge, wrapped with what was
// wrong. It is safe for concurrent use.
func Decode(payload []byte, maxLen int64) (Value, error) {
	return DecodeWithin(payload, maxLen, nil)
}

// DecodeWithin is Decode that asks grow before it takes memory for a compressed string, also
// while the value's elements are read: with how many bytes the string has. Only one such string
// is needed at a time. Where grow returns false there is ErrMemory. grow may be nil.
func DecodeWithin(payload []byte, maxLen int64, grow func(bytes int64) bool) (Value, error) {
	most := limit{maxLen, grow}
	body, valkey, err := open(payload)
	if err != nil {
		return Value{}, fmt.Errorf("decode: %w", err)
	}
	if len(body) == 0 {
		return Value{}, fmt.Errorf("decode: %w", errShort("type"))
	}
	enc, ok := encodings[body[0]]
	if !ok || valkey && body[0] > typeValkeyHash {
		return Value{}, fmt.Errorf("decode: %w: unknown type %d", ErrFormat, body[0])
	}
	v := Value{Type: enc.t}
	rest := body[1:]
	switch {
	case valkey && body[0] == typeValkeyHash:
		return Value{Type: Hash, enc: readsValkeyHash, body: rest, most: most}, nil
	case enc.t == String:
		v.Bytes, rest, err = readString(rest, most)
	case body[0] == typeModule:
		if v, err = decodeModule(rest, most); err != nil {
			return Value{}, fmt.Errorf("decode: %w", err)
		}
		return v, nil
	case (enc.t == Hash || enc.t == Set || enc.t == List || enc.t == SortedSet) && body[0] <= 20, enc.t == Stream,
		body[0] >= typeTimedPreview && body[0] <= typeTimedPacked:
		v.enc, v.body, v.most = body[0], rest, most
		return v, nil
	default:
		return Value{}, fmt.Errorf("decode: %w: %s (%s)", ErrType, enc.t, enc.name)
	}
	if err != nil {
		return Value{}, fmt.Errorf("decode %s: %w", enc.t, err)
	}
	if err := CheckEnd(rest); err != nil {
		return Value{}, fmt.Errorf("decode %s: %w", enc.t, err)
	}
	return v, nil
}

// A limit is how many bytes a string may have, and who is asked before one is decompressed.
type limit struct {
	bytes int64
	grow  func(bytes int64) bool
}

// keydbStamp begins what KeyDB writes between the value and the footer: an auxiliary field with a number of its own.
const keydbStamp = "\xfa\x0bmvcc-tstamp"

// CheckEnd checks what follows the value in the body of a payload: nothing, or KeyDB's number.
func CheckEnd(rest []byte) error {
	if len(rest) == 0 {
		return nil
	}
	if stamp, ok := bytes.CutPrefix(rest, []byte(keydbStamp)); ok {
		if _, end, err := readString(stamp, limit{bytes: 64}); err == nil && len(end) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: %d bytes follow the value", ErrFormat, len(rest))
}
