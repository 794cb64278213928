package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/resp/internal/identity"
)

// stateFormat is the version of the state file. Files of version 1 named no target.
const stateFormat = 2

// A State is what an import remembers, so that another run can resume it.
type State struct {
	Format int `json:"format"`
	// Source and Target are what the keys come from and go to.
	Source identity.Server `json:"source"`
	Target identity.Server `json:"target"`
	// Keys are those that are taken: see [Filter.describe].
	Keys string `json:"keys"`
	// Merge: the target may have keys that are not the source's.
	Merge bool `json:"merge,omitempty"`
	// ReplicationID and Offset name the place in the source's stream up to which all changes have been
	// applied and acknowledged. Database is the one that the next command works in.
	ReplicationID string `json:"replication_id"`
	Offset        int64  `json:"offset"`
	Database      int    `json:"database"`
	// Loaded: the first copy is complete. Otherwise the target has a part of one.
	Loaded bool `json:"loaded"`
}

// ReadState reads a state file; nil if there is none.
func ReadState(path string) (*State, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var head struct{ Format int }
	if err := durable.Unseal(text, &head); err != nil {
		return nil, fmt.Errorf("state file %s: %w", path, err)
	}
	switch head.Format {
	case stateFormat:
	case 1:
		return nil, fmt.Errorf("state file %s: %w: it is of an earlier version, which did not note the target: %s", path, ErrState, beginAnew)
	default:
		return nil, fmt.Errorf("state file %s: format %d, known is %d", path, head.Format, stateFormat)
	}
	s := new(State)
	if err := durable.Unseal(text, s); err != nil {
		return nil, fmt.Errorf("state file %s: %w", path, err)
	}
	return s, nil
}

func (s *State) write(path string) error {
	if path == "" {
		return nil
	}
	s.Format = stateFormat
	if err := durable.ReplaceJSON(path, s); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}

// ErrInUse reports that another import uses the state file.
var ErrInUse = errors.New("another import uses the state file")

// lockState keeps other imports from a state file until unlock is called. The lock ends with the process.
func lockState(path string) (unlock func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state file: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%w %s: %w", ErrInUse, path, err)
	}
	return func() { _ = file.Close() }, nil
}
