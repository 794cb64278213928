package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// highWaterFile reports how far the log, the stable values and the snapshots had come. bbolt
// falls back to the state before the last change where that one's root is damaged, and a
// file can be replaced by an older copy of itself: both look whole. The mark is written
// after each change and not synced, so that a loss of power makes the check a weaker one
// and never a wrong one.
const highWaterFile = "high-water"

// highWaterSize is that of the three numbers of a reached and their checksum.
const highWaterSize = 3*8 + sumSize

// A diskProgress is what the files of the table must at least hold.
type diskProgress struct {
	Index    uint64 // of the last entry
	Changes  uint64 // of the stable values
	Snapshot uint64 // the index of the newest snapshot
}

func (r diskProgress) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, highWaterSize), r.Index)
	b = binary.BigEndian.AppendUint64(b, r.Changes)
	b = binary.BigEndian.AppendUint64(b, r.Snapshot)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// A progressFile is the open file. A nil one is written to nowhere.
type progressFile struct {
	mu   sync.Mutex
	file *os.File
	now  diskProgress
}

// readProgressFile returns what the file tells; nothing if it is missing or damaged.
func readProgressFile(path string) (r diskProgress, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("table: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(f, highWaterSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return r, fmt.Errorf("table: read %s: %w", path, err)
	}
	const n = highWaterSize - sumSize
	if len(b) < highWaterSize || binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return r, nil
	}
	return diskProgress{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, nil
}

func openProgressFile(path string, now diskProgress) (*progressFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	m := &progressFile{file: f, now: now}
	m.record(func(*diskProgress) {})
	return m, nil
}

// record notes what has become durable. A failure only makes a later check weaker: what
// the file tells stays true.
func (m *progressFile) record(change func(*diskProgress)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.now)
	_, _ = m.file.WriteAt(m.now.encode(), 0)
}

// lower makes durable, before the entries of a range are deleted, that the last ones may
// be missing.
func (m *progressFile) lower(from, to uint64) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if to < m.now.Index {
		return nil
	}
	m.now.Index = min(m.now.Index, max(from, 1)-1)
	if _, err := m.file.WriteAt(m.now.encode(), 0); err != nil {
		return fmt.Errorf("table: write %s: %w", m.file.Name(), err)
	}
	if err := m.file.Sync(); err != nil {
		return fmt.Errorf("table: write %s: %w", m.file.Name(), err)
	}
	return nil
}

func (m *progressFile) close() error {
	if m == nil {
		return nil
	}
	return m.file.Close()
}
