package identity

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A Keeper has the identity of an open directory, and changes it. Its methods may be called from several goroutines at
// once, except those that say otherwise.
type Keeper struct {
	mu  sync.Mutex
	cfg Config
	id  Identity
	// format is that of id.
	format atomic.Int64
}

// Open begins with the identity that a directory has on disk. It is called once, before all other methods.
func (k *Keeper) Open(cfg Config, id Identity) {
	k.cfg = cfg
	k.set(id)
}

func (k *Keeper) set(id Identity) {
	k.id = id
	k.format.Store(int64(id.Format))
}

// Identity returns what the directory is.
func (k *Keeper) Identity() Identity {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.id
}

// Place makes the directory one of the configuration's strategy and hash; see [Identity.Replace].
func (k *Keeper) Place(empty bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, err := k.id.Replace(k.cfg, empty)
	if err == nil {
		k.id = id
	}
	return err
}

// change writes what edit makes of the identity, if that is anything else.
func (k *Keeper) change(edit func(*Identity) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := k.id
	if err := edit(&id); err != nil {
		return err
	}
	if id != k.id {
		if err := id.Write(k.cfg); err != nil {
			return err
		}
	}
	k.set(id)
	return nil
}

// Opened notes that the directory has a database.
func (k *Keeper) Opened() error {
	return k.change(func(id *Identity) error {
		id.Opened = true
		return nil
	})
}

// Assign records the name of the node that the directory belongs to, on stable storage. Another name than it has is
// refused with [ErrMismatch].
func (k *Keeper) Assign(node string) error {
	return k.change(func(id *Identity) error {
		if id.Node != "" && id.Node != node {
			return fmt.Errorf("%w: %s belongs to node %s, not to %s", ErrMismatch, k.cfg.Dir, id.Node, node)
		}
		id.Node = node
		return nil
	})
}

// HasFieldTimes reports whether there may be hashes with fields that expire.
func (k *Keeper) HasFieldTimes() bool { return k.format.Load() >= FieldVersion }

// Ensure makes the directory one of a version at least, on stable storage: [FieldVersion] before the first field that
// expires is written, and so on.
func (k *Keeper) Ensure(version int) error {
	if k.format.Load() >= int64(version) {
		return nil
	}
	err := k.change(func(id *Identity) error {
		id.Format = max(id.Format, version)
		return nil
	})
	if err != nil {
		return fmt.Errorf("raise the format version: %w", err)
	}
	return nil
}
