package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/ringside-kv/ringside/internal/durable"
)

// stateFormat is the version of the state file.
const stateFormat = 1

// A State is what an import remembers, so that another run can resume it.
type State struct {
	Format int    `json:"format"`
	Source string `json:"source"` // address
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
	s := new(State)
	if err := durable.Unseal(text, s); err != nil {
		return nil, fmt.Errorf("state file %s: %w", path, err)
	}
	if s.Format != stateFormat {
		return nil, fmt.Errorf("state file %s: format %d, known is %d", path, s.Format, stateFormat)
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

// infoField returns a field of a reply of INFO.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), name+":"); ok {
			return value
		}
	}
	return ""
}

func splitVersion(text string) []string { return strings.Split(text, ".") }
