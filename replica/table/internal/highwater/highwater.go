package highwater

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// FileName is the name of the file, which tells how far the log, the stable values and the snapshots had
// come. bbolt falls back to the state before the last change where that one's root is damaged, and a
// file can be replaced by an older copy of itself: both look whole. The mark is written
// after each change and not synced, so that a loss of power makes the check a weaker one
// and never a wrong one.
const FileName = "high-water"

// size is that of the three numbers of a Progress and their checksum.
const (
	size    = 3*8 + sumSize
	sumSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Progress is what the files of the table must at least hold.
type Progress struct {
	Index    uint64 // of the last entry
	Changes  uint64 // of the stable values
	Snapshot uint64 // the index of the newest snapshot
}

// Encode returns the contents of the file.
func (r Progress) Encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, size), r.Index)
	b = binary.BigEndian.AppendUint64(b, r.Changes)
	b = binary.BigEndian.AppendUint64(b, r.Snapshot)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// A File is the open file; its methods may be called from any goroutine. A nil one is written to nowhere.
type File struct {
	mu   sync.Mutex
	file *os.File
	now  Progress
}

// Read returns what the file tells; nothing if it is missing or damaged.
func Read(path string) (r Progress, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("table: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(f, size))
	if err = errors.Join(err, f.Close()); err != nil {
		return r, fmt.Errorf("table: read %s: %w", path, err)
	}
	const n = size - sumSize
	if len(b) < size || binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return r, nil
	}
	return Progress{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, nil
}

// Open opens the file, which tells from now on how far the others have come.
func Open(path string, now Progress) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	m := &File{file: f, now: now}
	m.Record(func(*Progress) {})
	return m, nil
}

// Record notes what has become durable. A failure only makes a later check weaker: what
// the file tells stays true.
func (m *File) Record(change func(*Progress)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.now)
	_, _ = m.file.WriteAt(m.now.Encode(), 0)
}

// Lower makes durable, before the entries of a range are deleted, that the last ones may
// be missing.
func (m *File) Lower(from, to uint64) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if to < m.now.Index {
		return nil
	}
	m.now.Index = min(m.now.Index, max(from, 1)-1)
	if _, err := m.file.WriteAt(m.now.Encode(), 0); err != nil {
		return fmt.Errorf("table: write %s: %w", m.file.Name(), err)
	}
	if err := m.file.Sync(); err != nil {
		return fmt.Errorf("table: write %s: %w", m.file.Name(), err)
	}
	return nil
}

// Close closes the file.
func (m *File) Close() error {
	if m == nil {
		return nil
	}
	return m.file.Close()
}
