package rdb

import "errors"

// What Decode finds wrong with a payload. Only ErrType and ErrTooLarge can be the
// answer to bytes that a Redis server has written.
var (
	// ErrPayload: shorter than its frame, from an RDB version above
	// MaxVersion, or the checksum does not fit. Redis answers "ERR DUMP payload
	// version or checksum are wrong".
	ErrPayload = errors.New("dump payload version or checksum are wrong")

	// ErrFormat: the frame is right and the value in it is not. Redis answers
	// "ERR Bad data format".
	ErrFormat = errors.New("bad data format")

	// ErrType: a type of Redis that this version of Ringside cannot hold. The
	// error that wraps it names the type.
	ErrType = errors.New("type is not supported")

	// ErrTooLarge: the value is, or says that it is, longer than the limit.
	ErrTooLarge = errors.New("value is too large")

	// ErrVersion: no payload of the RDB version that was asked for can hold the value.
	ErrVersion = errors.New("the value needs a later RDB version")

	// ErrMemory: the caller has no memory for what a compressed string holds.
	ErrMemory = errors.New("no memory to decompress")
)
