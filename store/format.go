package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/identity"
	"github.com/ringside-kv/ringside/store/internal/layout"
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
	if err := s.identity.Opened(); err != nil {
		s.log.Warn("recording that the store has a database failed; the next start repeats it", "err", err)
	}
}

// Assign records the name of the node that the directory belongs to. The name is durable
// when Assign returns. A directory keeps its name: another one is refused with
// ErrMismatch. Call Assign before other goroutines use the store.
func (s *Store) Assign(node string) error { return s.identity.Assign(node) }

// ensureFormat makes the directory one that may hold such a header before a unit writes the first: of a type of a module,
// of a list with chunks, or else of a hash with fields that expire. If that is not possible the unit fails.
func ensureFormat(u *Unit, h *layout.Header) {
	version := identity.FieldVersion
	if h.Type.IsOfModule() {
		version = identity.ObjectVersion
	} else if h.Type == List {
		version = identity.ChunkVersion
	}
	if err := u.s.identity.Ensure(version); err != nil {
		u.Fail(fmt.Errorf("%w: %w", ErrReadOnly, err))
	}
}
