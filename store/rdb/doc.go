// Package rdb reads and writes the form that Redis' DUMP and RESTORE give a
// single value, so that values travel between Redis and Ringside in both
// directions:
//
//	type 1 B | value | RDB version 2 B little-endian | CRC64 8 B little-endian
//
// It owns the bytes only: pure functions, no I/O, no goroutine. It owns neither
// keys nor expiry (RESTORE gets those as arguments), nor RDB files, which are in package rdbfile.
//
// Read [AppendString] and [Decode] first. payload.go frames and checks, length.go
// has the variable-length integers, string.go what strings look like, lzf.go
// their compression, table.go hashes, sets and lists, sorted_set.go sorted sets, compact.go
// the forms that small ones arrive in, stream.go streams.
//
// # Compression
//
// Strings above 20 bytes are stored with LZF (Marc Lehmann's liblzf) where that
// saves at least four bytes. The codec in lzf.go is our own, for two reasons: a
// payload should be byte for byte what Redis writes, so that digests and copies
// can be compared, and that depends on the encoder's hash table and on which
// positions it enters into it; and the decoder is fed by clients. The Go port
// github.com/zhuyie/golzf has a table of another size, indexes past the end of
// an input of one byte, and needs its caller to trust the declared length. The
// format is three token kinds.
package rdb
