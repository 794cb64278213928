// Package rdbfile reads and writes RDB files, as redis-server keeps them on disk and sends them to its
// replicas: those of Redis up to version 14, of Valkey from 80 on, and of their forks.
//
//	magic and version | entries | EOF 1 B | CRC64 8 B
//
// It owns the frame of the file: opcodes, databases, expiry times, and where each value ends. It does not
// own what a value holds: values are handed on as payloads of RESTORE, undecoded, and package rdb reads
// those.
//
// A [Reader] takes memory for one value at a time, and for no more than Config.MaxPart of a large
// collection: that comes as several entries with the same key. What cannot become a payload, as the values
// of modules, is skipped, and its entry has a reason. Bytes that are no RDB file give an [Error] with the
// offset; a length in them takes no memory before that many bytes have come.
//
// Read [Reader.Next] and [Entry] first, then value.go, which knows the types, and scanner.go. [Split] does
// for the reply of DUMP what a Reader does for a file.
package rdbfile
