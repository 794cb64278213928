package store

import (
	"errors"

	"github.com/ringside-kv/ringside/store/internal/tap"
)

// A stagedValue is a value whose entries are written before its header is.
type stagedValue struct {
	place Place
	key   []byte
	gen   uint64
	// staged: entries of it have been committed before the header.
	staged bool
	// adopted: a header names it, and taps know.
	adopted bool
	// handed is the holder that has all parts that have been committed; none if there was
	// none then.
	handed tap.Holder
}

// newGeneration returns a generation that no value of this store has had, and
// keeps the garbage collector from it until it is released.
func (s *Store) newGeneration() (uint64, error) {
	return s.generations.New(func(key, value []byte) error {
		b := s.db.NewBatch()
		_ = b.Set(key, value, nil)
		return errors.Join(s.writeRemovalNow(b), b.Close())
	})
}
