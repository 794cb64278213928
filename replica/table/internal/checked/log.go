package checked

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

// Castagnoli is the polynomial of all checksums of the table.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SumSize is the size of a checksum in bytes.
const SumSize = 4

// A Log adds a checksum to each entry of a log. The checksum lies behind the entry's
// own extensions and is neither seen by the library nor sent to other nodes.
type Log struct {
	// Path is that of the file.
	Path string
	// Bolt holds the entries.
	Bolt *boltdb.BoltStore
	// Mark records how far the log has come.
	Mark *highwater.File
	// Unsealed accepts entries without a checksum: those of earlier builds.
	Unsealed bool
}

// seal returns the entry as it is stored.
func seal(l *raft.Log) *raft.Log {
	sealed := *l
	sealed.Extensions = binary.BigEndian.AppendUint32(slices.Clip(l.Extensions), EntrySum(l, l.Extensions))
	return &sealed
}

// unseal undoes seal. It reports false, and changes nothing, if the checksum is missing or wrong.
func unseal(l *raft.Log) bool {
	n := len(l.Extensions) - SumSize
	if n < 0 || binary.BigEndian.Uint32(l.Extensions[n:]) != EntrySum(l, l.Extensions[:n]) {
		return false
	}
	if l.Extensions = l.Extensions[:n:n]; n == 0 {
		l.Extensions = nil
	}
	return true
}

// EntrySum is the checksum of an entry that has these extensions.
func EntrySum(l *raft.Log, extensions []byte) uint32 {
	var head [25]byte
	binary.BigEndian.PutUint64(head[:], l.Index)
	binary.BigEndian.PutUint64(head[8:], l.Term)
	binary.BigEndian.PutUint64(head[16:], uint64(len(l.Data)))
	head[24] = byte(l.Type)
	sum := crc32.Update(0, Castagnoli, head[:])
	return crc32.Update(crc32.Update(sum, Castagnoli, l.Data), Castagnoli, extensions)
}

// FirstIndex implements raft.LogStore.
func (c *Log) FirstIndex() (i uint64, err error) {
	err = Guard(c.Path, func() error { i, err = c.Bolt.FirstIndex(); return err })
	return i, err
}

// LastIndex implements raft.LogStore.
func (c *Log) LastIndex() (i uint64, err error) {
	err = Guard(c.Path, func() error { i, err = c.Bolt.LastIndex(); return err })
	return i, err
}

// GetLog implements raft.LogStore.
func (c *Log) GetLog(index uint64, l *raft.Log) error {
	var found raft.Log
	err := Guard(c.Path, func() error { return c.Bolt.GetLog(index, &found) })
	if errors.Is(err, raft.ErrLogNotFound) || errors.Is(err, ErrDamaged) {
		return err
	}
	if err != nil { // the bytes cannot be decoded
		return Damaged(c.Path, "entry %d: %v", index, err)
	}
	if found.Index != index || !unseal(&found) && !c.Unsealed {
		return Damaged(c.Path, "entry %d fails its checksum", index)
	}
	*l = found
	return nil
}

// StoreLog implements raft.LogStore.
func (c *Log) StoreLog(l *raft.Log) error { return c.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (c *Log) StoreLogs(logs []*raft.Log) error {
	sealed := make([]*raft.Log, len(logs))
	for i, l := range logs {
		sealed[i] = seal(l)
	}
	if err := Guard(c.Path, func() error { return c.Bolt.StoreLogs(sealed) }); err != nil {
		return err
	}
	if len(logs) > 0 {
		c.Mark.Record(func(m *highwater.Progress) { m.Index = max(m.Index, logs[len(logs)-1].Index) })
	}
	return nil
}

// DeleteRange implements raft.LogStore.
func (c *Log) DeleteRange(from, to uint64) error {
	// The mark must never tell of more than is there, also after a loss of power.
	if err := c.Mark.Lower(from, to); err != nil {
		return err
	}
	return Guard(c.Path, func() error { return c.Bolt.DeleteRange(from, to) })
}

// Entries reads all entries, so that whatever is damaged or missing of them shows.
func (c *Log) Entries(each func(*raft.Log) error) (first, last uint64, err error) {
	if first, err = c.FirstIndex(); err != nil {
		return 0, 0, err
	}
	if last, err = c.LastIndex(); err != nil || last == 0 {
		return 0, 0, err
	}
	for i := first; i <= last; i++ {
		var l raft.Log
		err := c.GetLog(i, &l)
		if errors.Is(err, raft.ErrLogNotFound) {
			err = Damaged(c.Path, "entry %d is missing", i)
		}
		if err == nil {
			err = each(&l)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return first, last, nil
}

// SealAll gives all entries their checksums. It may be repeated.
func (c *Log) SealAll() error {
	const batch = 256
	unsealed := Log{Path: c.Path, Bolt: c.Bolt, Mark: c.Mark, Unsealed: true}
	var next []*raft.Log
	_, _, err := unsealed.Entries(func(l *raft.Log) error {
		if next = append(next, l); len(next) < batch {
			return nil
		}
		err := c.StoreLogs(next)
		next = nil
		return err
	})
	if err == nil && len(next) > 0 {
		err = c.StoreLogs(next)
	}
	return err
}
