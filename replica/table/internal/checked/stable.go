package checked

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"slices"
	"sync"

	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

// stableKey is that of the one record which holds all stable values.
var stableKey = []byte("ringside-stable")

// errNoValue has the text by which the library knows that a value was never set.
var errNoValue = errors.New("not found")

// A Stable keeps all stable values in one record with a checksum, so that none of
// them can be lost alone.
type Stable struct {
	// Path is that of the file.
	Path string
	// Bolt holds the record.
	Bolt *boltdb.BoltStore
	// Mark records how often a value was set.
	Mark *highwater.File

	mu     sync.Mutex
	record stableRecord
}

type stableRecord struct {
	// Changes counts how often a value was set.
	Changes uint64            `json:"changes"`
	Values  map[string][]byte `json:"values"`
}

// Load reads the record.
func (s *Stable) Load() error {
	var b []byte
	err := Guard(s.Path, func() (err error) { b, err = s.Bolt.Get(stableKey); return err })
	if errors.Is(err, boltdb.ErrKeyNotFound) {
		return Damaged(s.Path, "the record of terms and votes is missing")
	}
	if err != nil {
		return err
	}
	n := len(b) - SumSize
	if n < 0 || binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], Castagnoli) || json.Unmarshal(b[:n], &s.record) != nil {
		return Damaged(s.Path, "the record of terms and votes fails its checksum")
	}
	return nil
}

// Changes is how often a value was set. No other method may run at the same time.
func (s *Stable) Changes() uint64 { return s.record.Changes }

// TakeOver makes the record of the values that an earlier build has stored one by one.
func (s *Stable) TakeOver() error {
	err := Guard(s.Path, func() error { _, err := s.Bolt.Get(stableKey); return err })
	if err == nil {
		return s.Load()
	}
	if !errors.Is(err, boltdb.ErrKeyNotFound) {
		return err
	}
	r := stableRecord{Changes: 1, Values: make(map[string][]byte)}
	for _, key := range StableKeys {
		var value []byte
		err := Guard(s.Path, func() (err error) { value, err = s.Bolt.Get([]byte(key)); return err })
		if err == nil {
			r.Values[key] = value
		} else if !errors.Is(err, boltdb.ErrKeyNotFound) {
			return err
		}
	}
	return s.store(r)
}

// CurrentTerm is the library's name for the term in which a server is.
var CurrentTerm = []byte("CurrentTerm")

// StableKeys are the library's names of the values that it keeps.
var StableKeys = []string{string(CurrentTerm), "LastVoteTerm", "LastVoteCand"}

// store replaces the record; the caller holds mu or is alone.
func (s *Stable) store(r stableRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, Castagnoli))
	if err := Guard(s.Path, func() error { return s.Bolt.Set(stableKey, b) }); err != nil {
		return err
	}
	s.record = r
	s.Mark.Record(func(m *highwater.Progress) { m.Changes = r.Changes })
	return nil
}

// Set implements raft.StableStore.
func (s *Stable) Set(key, value []byte) error {
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
func (s *Stable) Get(key []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.record.Values[string(key)]
	if !ok {
		return nil, errNoValue
	}
	return slices.Clone(value), nil
}

// SetUint64 implements raft.StableStore.
func (s *Stable) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 implements raft.StableStore.
func (s *Stable) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, Damaged(s.Path, "%s has %d bytes", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}
