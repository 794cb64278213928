package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/resp/backup/internal/storage"
	"github.com/ringside-kv/ringside/resp/internal/moment"
)

const (
	// manifestName is the file that makes a directory a backup.
	manifestName = "manifest.json"
	// maxManifest is how long it is at most.
	maxManifest = 256 << 20
	// formatVersion is the version of the directory.
	formatVersion = 1
)

// Access is what places other than directories need: the variables with the credentials of buckets, and the streams
// that "-" stands for. The zero value is that of the process.
type Access = storage.Access

// CheckPlace returns an error if a name can be neither that of a directory, nor -, nor s3://bucket/prefix.
func CheckPlace(place string) error { return storage.Check(place) }

// A Manifest says what a backup consists of.
type Manifest struct {
	Format int           `json:"format"`
	Time   time.Time     `json:"time"` // of the moment
	Moment moment.Moment `json:"moment"`
	Files  []File        `json:"files"`
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

// ErrNoBackup reports that a place has no manifest: it is no backup, or one that was not completed.
var ErrNoBackup = errors.New("no backup, or not a complete one")

func errNoManifest(place string) error {
	return fmt.Errorf("%s: %w: there is no %s", place, ErrNoBackup, manifestName)
}

// readManifest reads the manifest of a backup.
func readManifest(ctx context.Context, place string, source storage.Source) (*Manifest, error) {
	file, err := source.Open(ctx, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoManifest(place)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := readManifestText(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", place, manifestName, err)
	}
	return decodeManifest(place, text)
}

func readManifestText(src io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(src, maxManifest+1))
	if err == nil && len(text) > maxManifest {
		err = fmt.Errorf("more than %d bytes", maxManifest)
	}
	return text, err
}

func decodeManifest(place string, text []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := durable.Unseal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", place, manifestName, err)
	}
	if m.Format != formatVersion {
		return nil, fmt.Errorf("%s: %s: format %d, known is %d", place, manifestName, m.Format, formatVersion)
	}
	for _, f := range m.Files {
		if f.Name == "" || f.Name != filepath.Base(f.Name) {
			return nil, fmt.Errorf("%s: %s: %q is not the name of a file", place, manifestName, f.Name)
		}
	}
	return m, nil
}
