package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/identity"
)

// FormatVersion is the version of everything in a data directory; see package identity.
const FormatVersion = identity.Version

// Identity is what a store was created as.
type Identity = identity.Identity

// Exists tells whether a directory holds a store, of whatever version, without opening it.
func Exists(dir string) (bool, error) { return identity.Exists(dir) }

// place says where the directory is, and what it is to be.
func (c *Config) place() identity.Config {
	return identity.Config{FS: c.FS, Dir: c.Dir, Strategy: c.Strategy, Hash: c.Hash, Replaceable: c.Replaceable}
}

// ReadIdentity returns what a directory was created as, or false if it is no store. It does not open the store.
func ReadIdentity(dir string) (Identity, bool, error) { return identity.Read(vfs.Default, dir) }

// recordOpened notes that the directory has a database.
func (s *Store) recordOpened() {
	s.identityMu.Lock()
	defer s.identityMu.Unlock()
	id := s.identity
	if id.Opened {
		return
	}
	id.Opened = true
	if err := id.Write(s.cfg.place()); err != nil {
		s.log.Warn("recording that the store has a database failed; the next start repeats it", "err", err)
		return
	}
	s.identity = id
}

// Assign records the name of the node that the directory belongs to. The name is durable
// when Assign returns. A directory keeps its name: another one is refused with
// ErrMismatch. Call Assign before other goroutines use the store.
func (s *Store) Assign(node string) error {
	s.identityMu.Lock()
	defer s.identityMu.Unlock()
	id := s.identity
	switch id.Node {
	case node:
		return nil
	case "":
		id.Node = node
	default:
		return fmt.Errorf("%w: %s belongs to node %s, not to %s", ErrMismatch, s.cfg.Dir, id.Node, node)
	}
	if err := id.Write(s.cfg.place()); err != nil {
		return err
	}
	s.identity = id
	return nil
}

// ensureFieldFormat makes the directory one that may hold fields which expire, on stable storage,
// before a unit writes the first. If that is not possible the unit fails.
func ensureFieldFormat(u *Unit) {
	s := u.s
	if s.hasFieldTimes.Load() {
		return
	}
	s.identityMu.Lock()
	defer s.identityMu.Unlock()
	id := s.identity
	if !id.HasFieldTimes() {
		id.Format = identity.FieldVersion
		if err := id.Write(s.cfg.place()); err != nil {
			u.Fail(fmt.Errorf("%w: raise the format version: %w", ErrReadOnly, err))
			return
		}
		s.identity = id
	}
	s.hasFieldTimes.Store(true)
}
