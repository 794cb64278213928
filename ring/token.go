package ring

import "bytes"

// A Token is where a key lies on the circle of 0..2³²−1.
type Token uint32

// A TokenFunc maps a key to its token. It is pure: the same key has the same
// token on every node and in every version, since keys lie on disk in token
// order. It keeps no reference to the key, allocates nothing and may be called
// from any goroutine.
type TokenFunc func(key []byte) Token

// HashTag returns the part of a key that is hashed: what stands between the
// first '{' and the first '}' after it, or the whole key if there is no such
// pair or nothing in it. The result shares the key's memory.
func HashTag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	n := bytes.IndexByte(key[open+1:], '}')
	if n <= 0 {
		return key
	}
	return key[open+1 : open+1+n]
}
