package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ringside-kv/ringside/internal/durable"
)

// manifestName is the file that makes a directory a backup.
const manifestName = "manifest.json"

// formatVersion is the version of the directory.
const formatVersion = 1

// A Moment is what the cluster says of the moment that a backup is of: the reply to RING BACKUP START.
type Moment struct {
	ID         string  `json:"id"`
	AtMS       int64   `json:"at_ms"` // ms since 1970
	PauseMS    float64 `json:"pause_ms"`
	Cluster    string  `json:"cluster"`
	Generation string  `json:"generation"`
	Strategy   string  `json:"strategy"`
	Hash       string  `json:"hash"`
	Settings   any     `json:"settings,omitempty"` // of the strategy
	Backups    int     `json:"backups"`
	Databases  int     `json:"databases"`
	Together   []int   `json:"together,omitempty"` // databases that are kept together
	Version    string  `json:"version"`            // of the node that was asked
	TableIndex uint64  `json:"table_index"`
}

// A Manifest says what a backup consists of.
type Manifest struct {
	Format int       `json:"format"`
	Time   time.Time `json:"time"` // of the moment
	Moment Moment    `json:"moment"`
	Files  []File    `json:"files"`
	// Users are the lines of ACL LIST, with hashes of passwords. Functions are the codes of libraries. Both
	// were read a moment after the keys.
	Users     []string `json:"users"`
	Functions []string `json:"functions"`
}

// A File is what one node held, as an RDB file.
type File struct {
	Name   string   `json:"name"`
	Node   string   `json:"node"`
	Ranges []string `json:"ranges"`
	Keys   int64    `json:"keys"`
	Bytes  int64    `json:"bytes"`
	SHA256 string   `json:"sha256"`
}

// Keys is how many keys all files have, and bytes how long they are together.
func (m *Manifest) Keys() (keys, bytes int64) {
	for _, f := range m.Files {
		keys += f.Keys
		bytes += f.Bytes
	}
	return keys, bytes
}

// ErrNoBackup reports that a directory has no manifest: it is no backup, or one that was not completed.
var ErrNoBackup = errors.New("no backup, or not a complete one")

// ReadManifest reads the manifest of a backup.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: there is no %s", dir, ErrNoBackup, manifestName)
	}
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := durable.Unseal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format != formatVersion {
		return nil, fmt.Errorf("%s: format %d, known is %d", path, m.Format, formatVersion)
	}
	for _, f := range m.Files {
		if f.Name == "" || f.Name != filepath.Base(f.Name) {
			return nil, fmt.Errorf("%s: %q is not the name of a file", path, f.Name)
		}
	}
	return m, nil
}
