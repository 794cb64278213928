package ketama

import (
	"crypto/md5"
	"encoding/binary"

	"github.com/ringside-kv/ringside/ring"
)

// Token is the [ring.TokenFunc] of the strategy: the first four bytes of the MD5
// of the hash tag as a little-endian number, as libketama's ketama_hashi.
func Token(key []byte) ring.Token {
	sum := md5.Sum(ring.HashTag(key))
	return ring.Token(binary.LittleEndian.Uint32(sum[:]))
}
