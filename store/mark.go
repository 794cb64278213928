package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The marks are a table of slots in one file, each
//
//	log number 8 B LE | bytes that are on stable storage 8 B LE | CRC-32 of both 4 B
//
// A log's slot is its number modulo their count. A slot is overwritten in place and
// never synced: a mark that a power loss takes away, tears or leaves at an older
// state only makes the check of its log a weaker one. What a mark says was true
// when it was written and stays so: Pebble uses a log again under a new number
// only, it gives each number once, and the new name is durable before the first
// byte is written.
const (
	walMarksName = "synced"
	walMarkSlots = 64
	walMarkSize  = 20
)

type walMark struct {
	num    uint64
	synced int64
}

func (m walMark) encode() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, walMarkSize), m.num)
	b = binary.LittleEndian.AppendUint64(b, uint64(m.synced))
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func parseMark(b []byte) (m walMark, ok bool) {
	if binary.LittleEndian.Uint32(b[16:]) != crc32.ChecksumIEEE(b[:16]) {
		return m, false
	}
	return walMark{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))}, true
}

func (w *walFS) writeMark(m walMark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marks == nil {
		f, err := w.FS.OpenReadWrite(w.FS.PathJoin(w.dir, walMarksName), "ringside-wal-marks")
		if err != nil {
			return // a missing mark only means a weaker check
		}
		w.marks = f
	}
	_, _ = w.marks.WriteAt(m.encode(), int64(m.num%walMarkSlots)*walMarkSize)
}

func (w *walFS) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marks != nil {
		_ = w.marks.Close()
		w.marks = nil
	}
}

// readMarks returns the marks in the order of their logs.
func (w *walFS) readMarks() ([]walMark, error) {
	path := w.FS.PathJoin(w.dir, walMarksName)
	f, err := w.FS.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, walMarkSlots*walMarkSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var marks []walMark
	for ; len(b) >= walMarkSize; b = b[walMarkSize:] {
		// An empty slot's checksum is wrong, too.
		if m, ok := parseMark(b); ok {
			marks = append(marks, m)
		}
	}
	slices.SortFunc(marks, func(a, b walMark) int {
		if a.num < b.num {
			return -1
		}
		return 1
	})
	return marks, nil
}

// verify compares the logs with their marks. It returns how many undamaged bytes
// lie behind the mark of the newest.
func (w *walFS) verify() (recovered int64, err error) {
	marks, err := w.readMarks()
	if err != nil {
		return 0, err
	}
	for _, m := range marks {
		path := w.FS.PathJoin(w.dir, fmt.Sprintf("%06d.log", m.num))
		end, err := readableLog(w.FS, path, m.num)
		if errors.Is(err, os.ErrNotExist) {
			continue // its memtable was written out, and it was deleted or renamed
		}
		if err != nil {
			return 0, fmt.Errorf("read log %s: %w", path, err)
		}
		if end < m.synced {
			return 0, fmt.Errorf("%w: the log %s can be read up to byte %d, but %d bytes were stored in it: "+
				"restore the directory from a copy", ErrDamaged, path, end, m.synced)
		}
		recovered = end - m.synced
	}
	return recovered, nil
}

func readableLog(fs vfs.FS, path string, num uint64) (int64, error) {
	f, err := fs.Open(path)
	if err != nil {
		return 0, err
	}
	end, err := validPrefix(f, num)
	return end, errors.Join(err, f.Close())
}

// validPrefix returns the length of the undamaged part of a log: the bytes that
// chunks with a right checksum and the log's number cover, from its start.
//
// A log consists of blocks of 32 KiB, these of chunks: checksum 4 B (masked
// CRC-32C of all that follows), length 2 B, kind 1 B, low half of the log number
// 4 B, data. What is left of a block when no chunk's head fits is zero. A log
// that was closed ends with an empty chunk of the next log's number and no
// checksum. (The format
// of LevelDB, with log numbers as in RocksDB's recycled logs; Pebble package
// record.)
func validPrefix(r io.Reader, num uint64) (int64, error) {
	const (
		blockSize = 32 << 10
		headSize  = 11
		firstKind = 5
		lastKind  = 8
	)
	var block [blockSize]byte
	var base int64
	for {
		n, err := io.ReadFull(r, block[:])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return base, err
		}
		pos := 0
		for pos+headSize <= n {
			head := block[pos:n]
			size := headSize + int(binary.LittleEndian.Uint16(head[4:]))
			chunkNum := binary.LittleEndian.Uint32(head[7:])
			if chunkNum == uint32(num)+1 && size == headSize {
				return base + int64(pos+size), nil
			}
			if head[6] < firstKind || head[6] > lastKind || size > len(head) || chunkNum != uint32(num) ||
				binary.LittleEndian.Uint32(head) != maskedCRC(head[6:size]) {
				return base + int64(pos), nil
			}
			pos += size
		}
		if n < blockSize {
			return base + int64(pos), nil
		}
		base += blockSize
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}
