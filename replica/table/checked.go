package table

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const sumSize = 4

// damaged is the error for what a file of the table should hold and does not.
func damaged(path, format string, args ...any) error {
	return fmt.Errorf("table: %s: %w: "+format+": %s", append(append([]any{path, ErrDamaged}, args...), cure)...)
}

// cure is what an operator can do about damaged files of the table. The names are those
// that the node gives its directory.
const cure = "restore the node's directory from a copy; or, if a majority of the cluster's nodes runs, delete its directory raft, " +
	"and the node gets the table from them; or, if the node is a cluster of its own, delete raft and cluster.json, and it founds a new one with its data"

// guarded runs f and returns a panic of it as an error. bbolt panics, or reads beyond the
// end of a mapped file, where a file is not as it wrote it.
func guarded(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged(path, "%v", p)
		}
	}()
	return f()
}

// checkedLog adds a checksum to each entry of a log. The checksum lies behind the entry's
// own extensions and is neither seen by the library nor sent to other nodes.
type checkedLog struct {
	path string
	bolt *boltdb.BoltStore
	mark *highwater.File
	// unsealed accepts entries without a checksum: those of earlier builds.
	unsealed bool
}

// seal returns the entry as it is stored.
func seal(l *raft.Log) *raft.Log {
	sealed := *l
	sealed.Extensions = binary.BigEndian.AppendUint32(slices.Clip(l.Extensions), entrySum(l, l.Extensions))
	return &sealed
}

// unseal undoes seal. It reports false, and changes nothing, if the checksum is missing or wrong.
func unseal(l *raft.Log) bool {
	n := len(l.Extensions) - sumSize
	if n < 0 || binary.BigEndian.Uint32(l.Extensions[n:]) != entrySum(l, l.Extensions[:n]) {
		return false
	}
	if l.Extensions = l.Extensions[:n:n]; n == 0 {
		l.Extensions = nil
	}
	return true
}

func entrySum(l *raft.Log, extensions []byte) uint32 {
	var head [25]byte
	binary.BigEndian.PutUint64(head[:], l.Index)
	binary.BigEndian.PutUint64(head[8:], l.Term)
	binary.BigEndian.PutUint64(head[16:], uint64(len(l.Data)))
	head[24] = byte(l.Type)
	sum := crc32.Update(0, castagnoli, head[:])
	return crc32.Update(crc32.Update(sum, castagnoli, l.Data), castagnoli, extensions)
}

// FirstIndex implements raft.LogStore.
func (c *checkedLog) FirstIndex() (i uint64, err error) {
	err = guarded(c.path, func() error { i, err = c.bolt.FirstIndex(); return err })
	return i, err
}

// LastIndex implements raft.LogStore.
func (c *checkedLog) LastIndex() (i uint64, err error) {
	err = guarded(c.path, func() error { i, err = c.bolt.LastIndex(); return err })
	return i, err
}

// GetLog implements raft.LogStore.
func (c *checkedLog) GetLog(index uint64, l *raft.Log) error {
	var found raft.Log
	err := guarded(c.path, func() error { return c.bolt.GetLog(index, &found) })
	if errors.Is(err, raft.ErrLogNotFound) || errors.Is(err, ErrDamaged) {
		return err
	}
	if err != nil { // the bytes cannot be decoded
		return damaged(c.path, "entry %d: %v", index, err)
	}
	if found.Index != index || !unseal(&found) && !c.unsealed {
		return damaged(c.path, "entry %d fails its checksum", index)
	}
	*l = found
	return nil
}

// StoreLog implements raft.LogStore.
func (c *checkedLog) StoreLog(l *raft.Log) error { return c.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (c *checkedLog) StoreLogs(logs []*raft.Log) error {
	sealed := make([]*raft.Log, len(logs))
	for i, l := range logs {
		sealed[i] = seal(l)
	}
	if err := guarded(c.path, func() error { return c.bolt.StoreLogs(sealed) }); err != nil {
		return err
	}
	if len(logs) > 0 {
		c.mark.Record(func(m *highwater.Progress) { m.Index = max(m.Index, logs[len(logs)-1].Index) })
	}
	return nil
}

// DeleteRange implements raft.LogStore.
func (c *checkedLog) DeleteRange(from, to uint64) error {
	// The mark must never tell of more than is there, also after a loss of power.
	if err := c.mark.Lower(from, to); err != nil {
		return err
	}
	return guarded(c.path, func() error { return c.bolt.DeleteRange(from, to) })
}

// entries reads all entries, so that whatever is damaged or missing of them shows.
func (c *checkedLog) entries(each func(*raft.Log) error) (first, last uint64, err error) {
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
			err = damaged(c.path, "entry %d is missing", i)
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

// sealAll gives all entries their checksums. It may be repeated.
func (c *checkedLog) sealAll() error {
	const batch = 256
	unsealed := checkedLog{path: c.path, bolt: c.bolt, mark: c.mark, unsealed: true}
	var next []*raft.Log
	_, _, err := unsealed.entries(func(l *raft.Log) error {
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

// stableKey is that of the one record which holds all stable values.
var stableKey = []byte("ringside-stable")

// errNoValue has the text by which the library knows that a value was never set.
var errNoValue = errors.New("not found")

// A checkedStable keeps all stable values in one record with a checksum, so that none of
// them can be lost alone.
type checkedStable struct {
	path string
	bolt *boltdb.BoltStore
	mark *highwater.File

	mu     sync.Mutex
	record stableRecord
}

type stableRecord struct {
	// Changes counts how often a value was set.
	Changes uint64            `json:"changes"`
	Values  map[string][]byte `json:"values"`
}

// load reads the record.
func (s *checkedStable) load() error {
	var b []byte
	err := guarded(s.path, func() (err error) { b, err = s.bolt.Get(stableKey); return err })
	if errors.Is(err, boltdb.ErrKeyNotFound) {
		return damaged(s.path, "the record of terms and votes is missing")
	}
	if err != nil {
		return err
	}
	n := len(b) - sumSize
	if n < 0 || binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) || json.Unmarshal(b[:n], &s.record) != nil {
		return damaged(s.path, "the record of terms and votes fails its checksum")
	}
	return nil
}

// takeOver makes the record of the values that an earlier build has stored one by one.
func (s *checkedStable) takeOver() error {
	err := guarded(s.path, func() error { _, err := s.bolt.Get(stableKey); return err })
	if err == nil {
		return s.load()
	}
	if !errors.Is(err, boltdb.ErrKeyNotFound) {
		return err
	}
	r := stableRecord{Changes: 1, Values: make(map[string][]byte)}
	for _, key := range stableKeys {
		var value []byte
		err := guarded(s.path, func() (err error) { value, err = s.bolt.Get([]byte(key)); return err })
		if err == nil {
			r.Values[key] = value
		} else if !errors.Is(err, boltdb.ErrKeyNotFound) {
			return err
		}
	}
	return s.store(r)
}

// stableKeys are the library's names of the values that it keeps.
var stableKeys = []string{string(currentTerm), "LastVoteTerm", "LastVoteCand"}

// store replaces the record; the caller holds mu or is alone.
func (s *checkedStable) store(r stableRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if err := guarded(s.path, func() error { return s.bolt.Set(stableKey, b) }); err != nil {
		return err
	}
	s.record = r
	s.mark.Record(func(m *highwater.Progress) { m.Changes = r.Changes })
	return nil
}

// Set implements raft.StableStore.
func (s *checkedStable) Set(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := stableRecord{Changes: s.record.Changes + 1, Values: make(map[string][]byte, len(s.record.Values)+1)}
	for k, v := range s.record.Values {
		r.Values[k] = v
	}
	r.Values[string(key)] = slices.Clone(value)
	return s.store(r)
}

// Get implements raft.StableStore.
func (s *checkedStable) Get(key []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.record.Values[string(key)]
	if !ok {
		return nil, errNoValue
	}
	return slices.Clone(value), nil
}

// SetUint64 implements raft.StableStore.
func (s *checkedStable) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 implements raft.StableStore.
func (s *checkedStable) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, damaged(s.path, "%s has %d bytes", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}
