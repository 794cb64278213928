package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/files"
)

// The marks are a table of slots in the file marks of the store's directory, each
//
//	log number 8 B LE | bytes that are on stable storage 8 B LE | CRC-32 of both 4 B
//
// A mark is written after the fsync that it tells of, and cleared, durably, before its
// log is deleted or renamed. So a log that is shorter than its mark says, or missing,
// has lost acknowledged writes.
//
// A slot is overwritten in place and a mark is not synced when it is written: a mark
// that a power loss takes away, tears or leaves at an older state only makes the check
// of its log a weaker one. What a mark says was true when it was written and stays so:
// Pebble uses a log again under a new number only, it gives each number once, and the
// new name is durable before the first byte is written.
//
// Behind the slots is one that tells of a failed log. Where an fsync has failed, the system may
// have dropped what it could not store, which was acknowledged in mode everysec. Memtables
// still hold it, and are written out. The slot is filled when the log fails and
// cleared when they are. If the process is killed in between, the slot tells the next start,
// which recovers what there is: see FailedBefore. The slot is there from the start, so that filling it
// takes no room on a full disk, and the end of the process does not undo it even if the disk
// refuses to store it. Where the file system takes no writes at all, nothing can tell. Then a
// start in the same boot of the machine, after the file system was mounted anew, believes
// that it has the last second before the failure. Nothing was acknowledged after that.
//
// Builds that did not clear marks kept them in the file synced beside the logs, in the
// slot of the log number modulo the number of slots. Where that file is found, such a
// build was the last to run, and a missing log proves nothing.
const (
	MarksName    = "marks"
	OldMarksName = "synced"
	markSlots    = 64
	MarkSize     = 20
)

// A Mark says how many bytes of a log are on stable storage.
type Mark struct {
	Num    uint64
	Synced int64
}

// failedMark fills the slot of a failed log.
var failedMark = Mark{Num: 1<<64 - 1}

// Encode returns the mark as it lies in its slot.
func (m Mark) Encode() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, MarkSize), m.Num)
	b = binary.LittleEndian.AppendUint64(b, uint64(m.Synced))
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func parseMark(b []byte) (m Mark, ok bool) {
	if binary.LittleEndian.Uint32(b[16:]) != crc32.ChecksumIEEE(b[:16]) {
		return m, false
	}
	m = Mark{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))}
	return m, m.Num != 0 // a cleared slot's checksum is right
}

func (w *FS) marksPath() string    { return w.FS.PathJoin(w.FS.PathDir(w.dir), MarksName) }
func (w *FS) oldMarksPath() string { return w.FS.PathJoin(w.dir, OldMarksName) }

// writeMark gives a log its mark. Without a free slot the log stays unmarked.
func (w *FS) writeMark(m Mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marks == nil {
		return // a missing mark only means a weaker check
	}
	slot := slices.Index(w.slots[:], m.Num)
	if slot < 0 {
		slot = slices.Index(w.slots[:], 0)
	}
	if slot < 0 {
		return
	}
	w.slots[slot] = m.Num
	_, _ = w.marks.WriteAt(m.Encode(), int64(slot)*MarkSize)
}

// clearMark clears the mark of a log and makes that durable. The log must not be
// deleted or renamed before it succeeds.
func (w *FS) clearMark(num uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	slot := slices.Index(w.slots[:], num)
	if slot < 0 || w.marks == nil {
		return nil
	}
	if _, err := w.marks.WriteAt(Mark{}.Encode(), int64(slot)*MarkSize); err != nil {
		return fmt.Errorf("clear the mark of log %d: %w", num, err)
	}
	if err := w.marks.Sync(); err != nil {
		return fmt.Errorf("clear the mark of log %d: %w", num, err)
	}
	w.slots[slot] = 0
	return nil
}

// noteFailure fills the slot of a failed log. The function that it returns makes that durable.
func (w *FS) noteFailure() (store func()) {
	w.mu.Lock()
	marks := w.marks
	w.mu.Unlock()
	if marks == nil {
		return func() {}
	}
	_, _ = marks.WriteAt(failedMark.Encode(), markSlots*MarkSize)
	return func() { _ = marks.Sync() }
}

// ClearFailure clears the slot of a failed log, durably.
func (w *FS) ClearFailure() error {
	w.mu.Lock()
	marks := w.marks
	w.mu.Unlock()
	if marks == nil {
		return nil
	}
	_, err := marks.WriteAt(Mark{}.Encode(), markSlots*MarkSize)
	if err == nil {
		err = marks.Sync()
	}
	if err != nil {
		return fmt.Errorf("clear the mark of a failed log: %w", err)
	}
	return nil
}

// readFailure reads the slot of a failed log, and makes it if it is not there.
func (w *FS) readFailure() bool {
	b := make([]byte, MarkSize)
	if _, err := w.marks.ReadAt(b, markSlots*MarkSize); err != nil {
		_, _ = w.marks.WriteAt(Mark{}.Encode(), markSlots*MarkSize)
		return false
	}
	m, ok := parseMark(b)
	return ok && m == failedMark
}

// Close closes the file of the marks.
func (w *FS) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marks != nil {
		_ = w.marks.Close()
		w.marks = nil
	}
}

// readMarks returns the marks in a file by slot, and whether there is such a file.
func (w *FS) readMarks(path string) (marks [markSlots]Mark, found bool, err error) {
	f, err := w.FS.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return marks, false, nil
	}
	if err != nil {
		return marks, false, fmt.Errorf("open %s: %w", path, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, markSlots*MarkSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return marks, false, fmt.Errorf("read %s: %w", path, err)
	}
	for i := 0; len(b) >= MarkSize; i, b = i+1, b[MarkSize:] {
		if m, ok := parseMark(b); ok {
			marks[i] = m
		}
	}
	return marks, true, nil
}

// Verify compares the logs with their marks. It returns how many undamaged bytes
// lie behind the mark of the newest. If there is no error, the marks can be written
// from then on.
func (w *FS) Verify() (recovered int64, err error) {
	marks, found, err := w.readMarks(w.marksPath())
	if err != nil {
		return 0, err
	}
	older, old, err := w.readMarks(w.oldMarksPath())
	if err != nil {
		return 0, err
	}
	newest := uint64(0) // of the logs with a mark
	kept := make(map[uint64]Mark)
	for _, m := range slices.Concat(marks[:], older[:]) {
		if m.Num == 0 {
			continue
		}
		path := w.FS.PathJoin(w.dir, fmt.Sprintf("%06d.log", m.Num))
		end, err := readableLog(w.FS, path, m.Num)
		if errors.Is(err, os.ErrNotExist) {
			if old {
				continue // its memtable was written out, and it was deleted or renamed
			}
			return 0, fmt.Errorf("%w: the log %s is missing, and %d bytes were stored in it: %s", damage.Err, path, m.Synced, damage.Cure)
		}
		if err != nil {
			return 0, fmt.Errorf("read log %s: %w", path, err)
		}
		if end < m.Synced {
			return 0, fmt.Errorf("%w: the log %s can be read up to byte %d, but %d bytes were stored in it: %s",
				damage.Err, path, end, m.Synced, damage.Cure)
		}
		if k, ok := kept[m.Num]; !ok || k.Synced < m.Synced {
			kept[m.Num] = m
		}
		if m.Num >= newest {
			newest, recovered = m.Num, end-kept[m.Num].Synced
		}
	}
	if old || !found {
		// Without marks nothing is missed but the check.
		if err := w.createMarks(kept); err != nil {
			return recovered, nil
		}
		marks, _, err = w.readMarks(w.marksPath())
		if err != nil {
			return 0, err
		}
	}
	for i, m := range marks {
		w.slots[i] = m.Num
	}
	if w.marks, err = w.FS.OpenReadWrite(w.marksPath(), "ringside-wal-marks"); err != nil {
		return 0, fmt.Errorf("open %s: %w", w.marksPath(), err)
	}
	w.before.Store(w.readFailure())
	return recovered, nil
}

// createMarks writes marks as a new file. The file of an older build goes once the new
// one is durable.
func (w *FS) createMarks(kept map[uint64]Mark) error {
	table := make([]byte, 0, markSlots*MarkSize)
	for _, num := range slices.Sorted(maps.Keys(kept)) {
		if len(table) < markSlots*MarkSize {
			table = append(table, kept[num].Encode()...)
		}
	}
	path := w.marksPath()
	f, err := w.FS.Create(path+".new", "ringside-wal-marks")
	if err != nil {
		return err
	}
	_, err = f.Write(table)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := w.FS.Rename(path+".new", path); err != nil {
		return err
	}
	if err := files.SyncDir(w.FS, w.FS.PathDir(path)); err != nil {
		return err
	}
	if err := w.FS.Remove(w.oldMarksPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// If this removal is not durable, the next check is a weaker one.
	_ = files.SyncDir(w.FS, w.dir)
	return nil
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
