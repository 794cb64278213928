package rdbfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/ringside-kv/ringside/store/rdb"
)

// bufferSize is how much is read at once.
const bufferSize = 256 << 10

// A scanner reads the pieces of a file. After an error it must not be used.
type scanner struct {
	src       io.Reader
	maxString int64

	// buf[pos:end] has been received and not been read. Invariant: kept <= pos, if something is kept.
	buf      []byte
	pos, end int
	base     int64 // offset of buf[0] in the input
	kept     int   // bytes from here on stay in the buffer; -1: none do

	sums   bool // whether there is a checksum at all
	sum    uint64
	summed int // the checksum covers all before buf[summed]
}

// offset is that of the next byte.
func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// fail returns an error at the next byte.
func (s *scanner) fail(within string, err error) error {
	return &Error{Offset: s.offset(), Within: within, Err: err}
}

func (s *scanner) failf(within string, cause error, format string, args ...any) error {
	return s.fail(within, fmt.Errorf("%w: "+format, append([]any{cause}, args...)...))
}

// keep has all from the next byte on stay in the buffer, until release.
func (s *scanner) keep() { s.kept = s.pos }

func (s *scanner) release() { s.kept = -1 }

// since is what has been read since keep was called. It is valid until more is read.
func (s *scanner) since() []byte { return s.buf[s.kept:s.pos] }

// need waits until n bytes more than have been read are in the buffer.
func (s *scanner) need(n int, within string) error {
	for s.end-s.pos < n {
		if err := s.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return &Error{Offset: s.base + int64(s.end), Within: within, Err: err}
		}
	}
	return nil
}

// fill reads once. The buffer doubles when it is full, so that it grows with what arrives and not with
// what is announced.
func (s *scanner) fill() error {
	if s.end == len(s.buf) {
		s.addSum()
		from := s.pos
		if s.kept >= 0 {
			from = s.kept
		}
		if from > len(s.buf)/2 || from > 0 && from == s.end {
			copy(s.buf, s.buf[from:s.end])
			s.base += int64(from)
			s.pos, s.end, s.summed = s.pos-from, s.end-from, s.summed-from
			if s.kept >= 0 {
				s.kept = 0
			}
		} else {
			s.buf = append(s.buf, make([]byte, max(len(s.buf), bufferSize))...)
		}
	}
	const most = 100 // reads that bring nothing, in a row
	for range most {
		n, err := s.src.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return nil // an error comes again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// shrink gives up a buffer that a large value has made large.
func (s *scanner) shrink() {
	if len(s.buf) <= 16*bufferSize || s.end-s.pos > bufferSize {
		return
	}
	s.addSum()
	buf := make([]byte, bufferSize)
	n := copy(buf, s.buf[s.pos:s.end])
	s.base += int64(s.pos)
	s.buf, s.pos, s.end, s.summed = buf, 0, n, 0
}

// addSum adds what has been read to the checksum.
func (s *scanner) addSum() {
	if s.sums {
		s.sum = rdb.Checksum(s.sum, s.buf[s.summed:s.pos])
	}
	s.summed = s.pos
}

// bytes returns the next n bytes, valid until more is read.
func (s *scanner) bytes(n int, within string) ([]byte, error) {
	if err := s.need(n, within); err != nil {
		return nil, err
	}
	s.pos += n
	return s.buf[s.pos-n : s.pos], nil
}

func (s *scanner) byte(within string) (byte, error) {
	if s.pos == s.end {
		if err := s.need(1, within); err != nil {
			return 0, err
		}
	}
	s.pos++
	return s.buf[s.pos-1], nil
}

// skip reads n bytes. Where nothing is kept they take no memory.
func (s *scanner) skip(n int64, within string) error {
	for s.kept < 0 && n > int64(s.end-s.pos) {
		n -= int64(s.end - s.pos)
		s.pos = s.end
		s.addSum()
		s.base += int64(s.end)
		s.pos, s.end, s.summed = 0, 0, 0
		if err := s.need(1, within); err != nil {
			return err
		}
	}
	_, err := s.bytes(int(n), within)
	return err
}

// lengthAt parses a length so many bytes ahead, and does not read it.
func (s *scanner) lengthAt(ahead int, within string) (n uint64, encoding bool, size int, err error) {
	if err := s.need(ahead+1, within); err != nil {
		return 0, false, 0, err
	}
	size, _ = rdb.LenSize(s.buf[s.pos+ahead])
	if size == 0 {
		return 0, false, 0, s.failf(within, ErrFormat, "a length begins with %#02x", s.buf[s.pos+ahead])
	}
	if err := s.need(ahead+size, within); err != nil {
		return 0, false, 0, err
	}
	n, encoding, _, err = rdb.ReadLen(s.buf[s.pos+ahead : s.pos+ahead+size])
	if err != nil {
		return 0, false, 0, s.fail(within, err)
	}
	return n, encoding, size, nil
}

// length reads a length.
func (s *scanner) length(within string) (uint64, error) {
	n, encoding, size, err := s.lengthAt(0, within)
	if err == nil && encoding {
		err = s.failf(within, ErrFormat, "an encoding in place of a length")
	}
	if err != nil {
		return 0, err
	}
	s.pos += size
	return n, nil
}

// lengths reads n lengths.
func (s *scanner) lengths(n int, within string) error {
	for range n {
		if _, err := s.length(within); err != nil {
			return err
		}
	}
	return nil
}

// stringSize returns how many bytes the next string takes in the file, and reads nothing of it.
func (s *scanner) stringSize(within string) (int64, error) {
	n, encoding, size, err := s.lengthAt(0, within)
	if err != nil {
		return 0, err
	}
	raw := n
	if encoding {
		switch n {
		case 0, 1, 2: // integers of 8, 16 and 32 bits
			return 1 + 1<<n, nil
		case 3: // compressed: its length, and that of the text
			var sizes [2]int
			if raw, encoding, sizes[0], err = s.lengthAt(1, within); err != nil {
				return 0, err
			}
			var isEncoding bool
			if n, isEncoding, sizes[1], err = s.lengthAt(1+sizes[0], within); err != nil {
				return 0, err
			}
			if encoding || isEncoding {
				return 0, s.failf(within, ErrFormat, "an encoding in place of a length")
			}
			size = 1 + sizes[0] + sizes[1]
		default:
			return 0, s.failf(within, ErrFormat, "string encoding %d", n)
		}
	}
	if n > uint64(s.maxString) || raw > uint64(s.maxString) {
		return 0, s.failf(within, ErrTooLarge, "%d bytes, the limit is %d", max(n, raw), s.maxString)
	}
	return int64(size) + int64(raw), nil
}

// skipString reads a string that nobody wants, or that is kept.
func (s *scanner) skipString(within string) error {
	size, err := s.stringSize(within)
	if err != nil {
		return err
	}
	return s.skip(size, within)
}

func (s *scanner) skipStrings(n uint64, within string) error {
	for ; n > 0; n-- {
		if err := s.skipString(within); err != nil {
			return err
		}
	}
	return nil
}

// string reads a string and appends it to dst.
func (s *scanner) string(dst []byte, within string) ([]byte, error) {
	size, err := s.stringSize(within)
	if err != nil {
		return nil, err
	}
	if err := s.need(int(size), within); err != nil {
		return nil, err
	}
	value, _, err := rdb.ReadString(s.buf[s.pos:s.pos+int(size)], s.maxString)
	if err != nil {
		return nil, s.fail(within, fmt.Errorf("%w: %w", ErrFormat, err))
	}
	dst = append(dst, value...)
	s.pos += int(size)
	return dst, nil
}
