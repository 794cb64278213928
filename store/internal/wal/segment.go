package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The log is a sequence of records, numbered from 1 on without gaps, in files called segments. A
// segment begins with a head:
//
//	magic 8 B | number of the segment 8 B LE | number of its first record 8 B LE | CRC-32C of these 4 B
//
// Its records follow one another:
//
//	CRC-32C 4 B LE | length of the data 4 B LE | data
//
// The checksum covers the number of the record (8 B LE), which is not stored, the length and the data.
// So a record is valid at its place only.
//
// A segment may have records at its end that the next one has, too: that one was begun after a failure,
// with all that was not known to be on stable storage. What counts is the next one's.
const (
	magic       = "rs-log\x00\x01"
	segmentHead = len(magic) + 8 + 8 + 4
	recordHead  = 4 + 4
	// batchHead is the length of an empty batch of Pebble's, the last 4 B of which are the number of entries.
	batchHead = 12
	// Suffix is that of the files' names.
	Suffix = ".wal"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A segment is one file of the log.
type segment struct {
	num   uint64
	first uint64 // number of its first record
}

func (s segment) name() string { return fmt.Sprintf("%06d", s.num) + Suffix }

// segmentNumber returns the number of the segment with a file name.
func segmentNumber(name string) (uint64, bool) {
	name, ok := strings.CutSuffix(name, Suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil
}

// head returns the head of the segment's file.
func (s segment) head() []byte {
	b := append(make([]byte, 0, segmentHead), magic...)
	b = binary.LittleEndian.AppendUint64(b, s.num)
	b = binary.LittleEndian.AppendUint64(b, s.first)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// parseHead returns the segment that a file begins with.
func parseHead(b []byte) (s segment, ok bool) {
	body := b[:segmentHead-4]
	if string(b[:len(magic)]) != magic || binary.LittleEndian.Uint32(b[segmentHead-4:]) != crc32.Checksum(body, castagnoli) {
		return s, false
	}
	return segment{binary.LittleEndian.Uint64(body[len(magic):]), binary.LittleEndian.Uint64(body[len(magic)+8:])}, true
}

// checksum returns that of a record.
func checksum(number uint64, data []byte) uint32 {
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], number)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(data)))
	return crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, data)
}

// appendRecord appends a record to a segment's bytes: a batch, and the entries of another one, if there is one.
func appendRecord(dst []byte, number uint64, batch, more []byte) []byte {
	head := len(dst)
	dst = append(dst, make([]byte, recordHead)...)
	dst = append(dst, batch...)
	data := dst[head+recordHead:]
	if len(more) > batchHead {
		entries := binary.LittleEndian.Uint32(batch[batchHead-4:]) + binary.LittleEndian.Uint32(more[batchHead-4:])
		binary.LittleEndian.PutUint32(data[batchHead-4:], entries)
		dst = append(dst, more[batchHead:]...)
		data = dst[head+recordHead:]
	}
	binary.LittleEndian.PutUint32(dst[head:], checksum(number, data))
	binary.LittleEndian.PutUint32(dst[head+4:], uint32(len(data)))
	return dst
}

// errHead says that a segment has no valid head: a crash or a failure came before it was written.
var errHead = errors.New("no head")

// A reader reads the records of a segment.
type reader struct {
	segment
	file   vfs.File
	b      *bufio.Reader
	left   int64  // bytes of the file that have not been read
	next   uint64 // number of the next record
	offset int64  // where it begins
}

// openSegment opens a segment's file. An error may be errHead.
func openSegment(fs vfs.FS, path string, num uint64) (*reader, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := readHead(f, num)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func readHead(f vfs.File, num uint64) (*reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := &reader{file: f, b: bufio.NewReaderSize(f, 256<<10), left: info.Size() - int64(segmentHead), offset: int64(segmentHead)}
	var b [segmentHead]byte
	if _, err := io.ReadFull(r.b, b[:]); isEnd(err) {
		return nil, errHead
	} else if err != nil {
		return nil, err
	}
	s, ok := parseHead(b[:])
	if !ok || s.num != num {
		return nil, errHead
	}
	r.segment, r.next = s, s.first
	return r, nil
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// record returns the data of the next record in buf, which grows where it has to; ok is false where
// the valid records end.
func (r *reader) record(buf []byte) (data []byte, ok bool, err error) {
	if r.left < recordHead {
		return buf, false, nil
	}
	var head [recordHead]byte
	if _, err := io.ReadFull(r.b, head[:]); isEnd(err) {
		return buf, false, nil
	} else if err != nil {
		return buf, false, err
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if size < batchHead || size > r.left-recordHead {
		return buf, false, nil
	}
	data = slices.Grow(buf[:0], int(size))[:size]
	if _, err := io.ReadFull(r.b, data); isEnd(err) {
		return data, false, nil
	} else if err != nil {
		return data, false, err
	}
	if binary.LittleEndian.Uint32(head[:]) != checksum(r.next, data) {
		return data, false, nil
	}
	r.next++
	r.left -= recordHead + size
	r.offset += recordHead + size
	return data, true, nil
}

func (r *reader) Close() error { return r.file.Close() }
