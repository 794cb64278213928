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

	"github.com/ringside-kv/ringside/store/internal/files"
)

// The marks are a table of slots in the file log-marks of the store's directory, each
//
//	number of a segment 8 B LE | bytes that are on stable storage 8 B LE | CRC-32 of both 4 B
//
// A mark is written after the fsync that it tells of, and cleared, durably, before its
// segment is removed. So a segment that is shorter than its mark says, or missing,
// has lost acknowledged writes.
//
// A slot is overwritten in place and a mark is not synced when it is written: a mark
// that a power loss takes away, tears or leaves at an older state only makes the check
// of its segment a weaker one. What a mark says was true when it was written and stays so.
//
// Behind the slots is one that tells of a failed log. Where an fsync has failed, the system may
// have dropped what it could not store, which was acknowledged in mode everysec. Memory
// still holds it, and it is written to a new segment. The slot is filled when the log fails and
// cleared when it is there. If the process is killed in between, the slot tells the next start,
// which recovers what there is: see FailedBefore. The slot is there from the start, so that filling it
// takes no room on a full disk, and the end of the process does not undo it even if the disk
// refuses to store it. Where the file system takes no writes at all, nothing can tell. Then a
// start in the same boot of the machine, after the file system was mounted anew, believes
// that it has the last second before the failure. Nothing was acknowledged after that.
const (
	MarksName = "log-marks"
	markSlots = 64
	MarkSize  = 20
)

// A Mark says how many bytes of a segment are on stable storage.
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

// marks is the open file of the marks. Without a file nothing is missed but the check.
type marks struct {
	mu   turn
	file vfs.File
	// slots are the segments whose marks lie in the slots, 0 for a free one.
	slots [markSlots]uint64
}

// write gives a segment its mark. Without a free slot the segment stays unmarked.
func (ms *marks) write(m Mark) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.file == nil {
		return
	}
	slot := slices.Index(ms.slots[:], m.Num)
	if slot < 0 {
		slot = slices.Index(ms.slots[:], 0)
	}
	if slot < 0 {
		return
	}
	ms.slots[slot] = m.Num
	_, _ = ms.file.WriteAt(m.Encode(), int64(slot)*MarkSize)
}

// clear clears the mark of a segment and makes that durable. The segment must not be removed before it
// succeeds.
func (ms *marks) clear(num uint64) error {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	slot := slices.Index(ms.slots[:], num)
	if slot < 0 || ms.file == nil {
		return nil
	}
	if err := overwrite(ms.file, Mark{}, slot); err != nil {
		return fmt.Errorf("clear the mark of log %d: %w", num, err)
	}
	ms.slots[slot] = 0
	return nil
}

// overwrite puts a mark into a slot, durably.
func overwrite(f vfs.File, m Mark, slot int) error {
	_, err := f.WriteAt(m.Encode(), int64(slot)*MarkSize)
	if err == nil {
		err = f.Sync()
	}
	return err
}

// noteFailure fills the slot of a failed log. The function that it returns makes that durable.
func (ms *marks) noteFailure() (store func()) {
	ms.mu.Lock()
	f := ms.file
	ms.mu.Unlock()
	if f == nil {
		return func() {}
	}
	_, _ = f.WriteAt(failedMark.Encode(), markSlots*MarkSize)
	return func() { _ = f.Sync() }
}

// clearFailure clears the slot of a failed log, durably.
func (ms *marks) clearFailure() error {
	ms.mu.Lock()
	f := ms.file
	ms.mu.Unlock()
	if f == nil {
		return nil
	}
	if err := overwrite(f, Mark{}, markSlots); err != nil {
		return fmt.Errorf("clear the mark of a failed log: %w", err)
	}
	return nil
}

func (ms *marks) close() {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.file != nil {
		_ = ms.file.Close()
		ms.file = nil
	}
}

// readMarks returns the marks in a file by slot, whether the slot of a failed log is filled, and whether
// there is such a file.
func readMarks(fs vfs.FS, path string) (marks [markSlots]Mark, failed, found bool, err error) {
	f, err := fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return marks, false, false, nil
	}
	if err != nil {
		return marks, false, false, fmt.Errorf("open %s: %w", path, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, (markSlots+1)*MarkSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return marks, false, false, fmt.Errorf("read %s: %w", path, err)
	}
	for i := 0; len(b) >= MarkSize; i, b = i+1, b[MarkSize:] {
		switch m, ok := parseMark(b); {
		case !ok:
		case i < markSlots:
			marks[i] = m
		default:
			failed = m == failedMark
		}
	}
	return marks, failed, true, nil
}

// open opens the file of the marks, or makes it. have are the marks that it has.
func (ms *marks) open(fs vfs.FS, path string, have [markSlots]Mark, found bool) error {
	if !found {
		if err := createMarks(fs, path); err != nil {
			return nil // see marks
		}
	}
	f, err := fs.OpenReadWrite(path, "ringside-wal-marks")
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.file = f
	for i, m := range have {
		ms.slots[i] = m.Num
	}
	return nil
}

// createMarks writes a file without marks, with room for all.
func createMarks(fs vfs.FS, path string) error {
	f, err := fs.Create(path+".new", "ringside-wal-marks")
	if err != nil {
		return err
	}
	for range markSlots + 1 {
		if err == nil {
			_, err = f.Write(Mark{}.Encode())
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(path+".new", path); err != nil {
		return err
	}
	return files.SyncDir(fs, fs.PathDir(path))
}
