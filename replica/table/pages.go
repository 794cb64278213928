package table

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/ringside-kv/ringside/replica/table/internal/boltpages"
	"github.com/ringside-kv/ringside/replica/table/internal/checked"
)

// checkPages returns an error if the pages of a bbolt file contradict each other.
func checkPages(path string) error {
	err := boltpages.Check(path)
	var damage boltpages.Damage
	switch {
	case errors.As(err, &damage):
		return checked.Damaged(path, "%s", string(damage))
	case err != nil:
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// checkFile checks a file of bbolt that no other process has open.
func checkFile(path string) error {
	return checked.Guard(path, func() error {
		// Opened for reading bbolt looks at the roots alone, and takes the lock.
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: openTimeout, ReadOnly: true})
		if err != nil {
			if pages := checkPages(path); errors.Is(pages, ErrDamaged) && !errors.Is(err, bbolterrors.ErrTimeout) {
				return pages
			}
			return fmt.Errorf("table: open %s: %w", path, err)
		}
		return errors.Join(checkPages(path), db.Close())
	})
}
