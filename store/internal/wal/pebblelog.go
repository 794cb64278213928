package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/files"
)

// Earlier versions had Pebble write the log, and marked up to where each of its files was on stable
// storage as mark.go describes, in the file marks. Versions before those did not clear marks, and
// kept them in the file synced beside the logs: where that is found, a missing log proves nothing.
const (
	OldMarksName    = "marks"
	oldestMarksName = "synced"
)

// VerifyPebbleLogs compares the logs that Pebble wrote with their marks, before Pebble reads them for
// the last time. recovered is how many undamaged bytes lie behind the mark of the newest log, and failed
// tells that the log had failed when the process ended: the caller notes that, and calls ForgetPebbleLogs.
func VerifyPebbleLogs(fs vfs.FS, dir string) (recovered int64, failed bool, err error) {
	paths := oldMarks(fs, dir)
	marks, failed, _, err := readMarks(fs, paths[0])
	if err != nil {
		return 0, false, err
	}
	older, _, old, err := readMarks(fs, paths[1])
	if err != nil {
		return 0, false, err
	}
	newest := Mark{}
	for _, m := range slices.Concat(marks[:], older[:]) {
		if m.Num == 0 {
			continue
		}
		path := fs.PathJoin(dir, fmt.Sprintf("%06d.log", m.Num))
		end, err := readablePebbleLog(fs, path, m.Num)
		if errors.Is(err, os.ErrNotExist) {
			if old {
				continue // its memtable was written out, and it was deleted or renamed
			}
			return 0, false, missing(path, m)
		}
		if err != nil {
			return 0, false, fmt.Errorf("read log %s: %w", path, err)
		}
		if end < m.Synced {
			return 0, false, tooShort(path, end, m)
		}
		if m.Num > newest.Num || m.Num == newest.Num && m.Synced > newest.Synced {
			newest, recovered = m, end-m.Synced
		}
	}
	return recovered, failed, nil
}

// oldMarks are the paths of the marks of Pebble's logs.
func oldMarks(fs vfs.FS, dir string) [2]string {
	return [2]string{fs.PathJoin(fs.PathDir(dir), OldMarksName), fs.PathJoin(dir, oldestMarksName)}
}

// ForgetPebbleLogs removes the marks, durably: Pebble removes the logs as soon as it does not need them.
// If the machine stops before Pebble has read them, the next check is a weaker one.
func ForgetPebbleLogs(fs vfs.FS, dir string) error {
	for _, path := range oldMarks(fs, dir) {
		err := fs.Remove(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = files.SyncDir(fs, fs.PathDir(path))
		}
		if err != nil {
			return fmt.Errorf("remove %s: %w", path, err)
		}
	}
	return nil
}

func missing(path string, m Mark) error {
	return fmt.Errorf("%w: the log %s is missing, and %d bytes were stored in it: %s", damage.Err, path, m.Synced, damage.Cure)
}

func tooShort(path string, end int64, m Mark) error {
	return fmt.Errorf("%w: the log %s can be read up to byte %d, but %d bytes were stored in it: %s",
		damage.Err, path, end, m.Synced, damage.Cure)
}

func readablePebbleLog(fs vfs.FS, path string, num uint64) (int64, error) {
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

func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}
