package rdbfile

import (
	"errors"
	"fmt"
)

// What is wrong with a file. A truncated one gives io.ErrUnexpectedEOF.
var (
	// ErrMagic: the input does not begin as RDB files do.
	ErrMagic = errors.New("not an RDB file")
	// ErrVersion: the file is of an RDB version that is not known.
	ErrVersion = errors.New("unknown RDB version")
	// ErrFormat: the file contradicts itself.
	ErrFormat = errors.New("damaged RDB file")
	// ErrUnknown: an opcode or a type that is not known, whose length therefore is not known either.
	ErrUnknown = errors.New("unknown type or opcode")
	// ErrChecksum: the file was read to its end, and its checksum is another one.
	ErrChecksum = errors.New("wrong checksum")
	// ErrTooLarge: a string is longer than Config.MaxString.
	ErrTooLarge = errors.New("string is too long")
)

// An Error says where in the input something is wrong. It wraps one of the errors above, or that of the
// source.
type Error struct {
	Offset int64  // in bytes from the beginning
	Within string // what was being read
	Err    error
}

// Error names the offset.
func (e *Error) Error() string {
	if e.Within == "" {
		return fmt.Sprintf("at byte %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("at byte %d, in %s: %v", e.Offset, e.Within, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
