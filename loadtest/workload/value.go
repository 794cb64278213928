package workload

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
)

// A Stamp is what a value says of itself: the number of its key, the client that wrote it,
// and the number of that client's write, from 1 on.
type Stamp struct {
	Key    uint64
	Client uint32
	Write  uint64
}

// stampLen is the length in bytes of the shortest value that says all that.
const stampLen = 2 * (8 + 4 + 8 + 4)

// ErrCorrupt says that a value is not one that was ever written.
var ErrCorrupt = errors.New("the value is corrupt")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// append adds a value of n bytes, at least stampLen, to b: hexadecimal digits of the stamp
// and of a checksum, then a filling that follows from them.
func (s Stamp) append(b []byte, n int) []byte {
	var raw [stampLen / 2]byte
	binary.BigEndian.PutUint64(raw[:], s.Key)
	binary.BigEndian.PutUint32(raw[8:], s.Client)
	binary.BigEndian.PutUint64(raw[12:], s.Write)
	sum := checksum(&raw, n)
	binary.BigEndian.PutUint32(raw[20:], sum)
	b = hex.AppendEncode(b, raw[:])
	return fill(b, sum, n-stampLen)
}

// checksum is that of a stamp in a value of n bytes.
func checksum(raw *[stampLen / 2]byte, n int) uint32 {
	binary.BigEndian.PutUint32(raw[20:], uint32(n))
	// Byte by byte: crc32.Checksum would have the stamp escape to the heap, and it is short.
	crc := ^uint32(0)
	for _, b := range raw {
		crc = castagnoli[byte(crc)^b] ^ crc>>8
	}
	return ^crc
}

// fill adds n letters that follow from a seed.
func fill(b []byte, seed uint32, n int) []byte {
	for ; n > 0; n-- {
		seed = seed*1664525 + 1013904223 // Knuth and Lewis' generator: its high bits are good enough
		b = append(b, 'a'+byte(seed>>24)%26)
	}
	return b
}

// ReadStamp reads what a value says of itself, all of its bytes. The error wraps
// [ErrCorrupt].
func ReadStamp(value []byte) (Stamp, error) {
	if len(value) < stampLen {
		return Stamp{}, ErrCorrupt
	}
	var raw [stampLen / 2]byte
	if _, err := hex.Decode(raw[:], value[:stampLen]); err != nil {
		return Stamp{}, ErrCorrupt
	}
	sum := binary.BigEndian.Uint32(raw[20:])
	seed := checksum(&raw, len(value))
	if seed != sum {
		return Stamp{}, ErrCorrupt
	}
	for _, c := range value[stampLen:] {
		seed = seed*1664525 + 1013904223
		if c != 'a'+byte(seed>>24)%26 {
			return Stamp{}, ErrCorrupt
		}
	}
	return Stamp{
		Key: binary.BigEndian.Uint64(raw[:]), Client: binary.BigEndian.Uint32(raw[8:]), Write: binary.BigEndian.Uint64(raw[12:]),
	}, nil
}
