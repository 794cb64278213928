package rdb

import "hash/crc64"

// The CRC-64 that Redis uses is of Jones' polynomial, 0xad93d23594c935a9; the
// standard library wants it with its bits reversed.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)

// checksum is Redis' crc64(0, p). Redis starts from zero and does not invert;
// crc64.Update inverts before and after, which the two complements take back.
func checksum(p []byte) uint64 { return ^crc64.Update(^uint64(0), jones, p) }
