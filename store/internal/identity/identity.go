package identity

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/files"
)

// The versions of everything in a directory, this file included. A store opens directories of all of
// them, and makes earlier ones Version or, where they have fields that expire, FieldVersion.
//
// Version 1 has Pebble's options name the directory of logs by its path, the later ones by its place
// beside the tables. Up to version 3 Pebble wrote the log.
const (
	// Version is the one that new directories get.
	Version = 4
	// OldVersion can still be read.
	OldVersion = 1
	// FieldVersion is that of a directory from the first field of a hash on that expires: programs
	// before do not know such fields.
	FieldVersion = 5
	// ObjectVersion is that of a directory from the first value of a type of a module on, JSON or a filter: programs
	// before do not know such types. It may have fields that expire, too.
	ObjectVersion = 6
	// ChunkVersion is that of a directory from the first list with chunks on: programs before do not know them. It may
	// have all of the above.
	ChunkVersion = 7
	// oldFieldVersion is FieldVersion with a log that Pebble wrote.
	oldFieldVersion = 3
)

// File names what a directory is. It is written when the store is created, when
// its version is raised, and when its node gets a name.
const File = "RINGSIDE"

// Errors of a directory.
var (
	// ErrInUse: another process, or another Store, has the directory open.
	ErrInUse = errors.New("data directory is in use")
	// ErrFormat: the directory was written by another version of the format.
	ErrFormat = errors.New("data directory has another format version")
	// ErrMismatch: the directory was created for another strategy or hash.
	ErrMismatch = errors.New("data directory belongs to another placement")
)

// A Config says where a directory is, and what it is to be.
type Config struct {
	FS             vfs.FS
	Dir            string
	Strategy, Hash string
	// Replaceable allows another strategy and hash in a directory without a key; see [Identity.Replace].
	Replaceable bool
}

// Identity is what a store was created as.
type Identity struct {
	Format   int    `json:"format"`
	Strategy string `json:"strategy"`
	Hash     string `json:"hash"`
	// ID tells this directory from every other.
	ID string `json:"id"`
	// Node is the name of the node that the directory belongs to; empty until
	// it is assigned to one.
	Node string `json:"node,omitempty"`
	// Opened tells that the directory has had a database: one that is missing is lost.
	Opened bool `json:"opened,omitempty"`
}

// Exists tells whether a directory holds a store, of whatever version, without opening it.
func Exists(dir string) (bool, error) {
	switch _, err := os.Stat(filepath.Join(dir, File)); {
	case err == nil:
		return true, nil
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	default:
		return false, err
	}
}

// Read returns the identity of a directory, or false if it has none.
func Read(fs vfs.FS, dir string) (id Identity, ok bool, err error) {
	path := fs.PathJoin(dir, File)
	f, err := fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return id, false, nil
	}
	if err != nil {
		return id, false, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return id, false, fmt.Errorf("read %s: %w", path, err)
	}
	if err := durable.Unseal(b, &id); err != nil {
		return id, false, fmt.Errorf("%w: %s, which says what the directory is, cannot be read: restore it from a copy: %w",
			damage.Err, path, err)
	}
	return id, true, nil
}

// HasFieldTimes reports whether the directory may have hashes with fields that expire.
func (id Identity) HasFieldTimes() bool {
	return id.Format == oldFieldVersion || id.Format >= FieldVersion
}

// Check compares a directory's identity with what is asked for, before it is known whether there is a key.
func (id Identity) Check(cfg Config) error {
	if id.Format < OldVersion || id.Format > ChunkVersion {
		return fmt.Errorf("%w: %s has version %d, this program reads versions %d to %d: "+
			"use the program that wrote it, or another directory", ErrFormat, cfg.Dir, id.Format, OldVersion, ChunkVersion)
	}
	if !cfg.Replaceable {
		return id.checkPlacing(cfg)
	}
	return nil
}

func (id Identity) checkPlacing(cfg Config) error {
	if id.Strategy != cfg.Strategy || id.Hash != cfg.Hash {
		return fmt.Errorf("%w: %s was created with --strategy %s --hash %s, but --strategy %s --hash %s was asked for: "+
			"give the former, or another directory", ErrMismatch, cfg.Dir, id.Strategy, id.Hash, cfg.Strategy, cfg.Hash)
	}
	return nil
}

// CheckVacant returns an error if the directory holds anything that a store which
// is just being created does not.
func CheckVacant(cfg Config) error {
	names, err := cfg.FS.List(cfg.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	slices.Sort(names) // a directory lists them in any order, and the error names the first
	for _, name := range names {
		switch name {
		case "log", "LOCK", File + ".new":
		default:
			return fmt.Errorf("%w: it holds %q but no file %s, so it is not a store and not empty: use another directory",
				ErrFormat, name, File)
		}
	}
	return nil
}

// Lock keeps other processes from the directory until the lock is closed.
func Lock(fs vfs.FS, dir string) (io.Closer, error) {
	path := fs.PathJoin(dir, "LOCK")
	lock, err := fs.Lock(path)
	if pathErr := new(os.PathError); errors.As(err, &pathErr) {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: another process, or this one, uses %s: stop it, or use another directory: %w",
			ErrInUse, path, err)
	}
	return lock, nil
}

// Ensure makes an empty directory a store, and one of an older version a store
// of this version. The caller holds the lock of the directory.
func Ensure(cfg Config, id Identity, known bool) (Identity, error) {
	switch {
	case !known:
		id = Identity{Format: Version, Strategy: cfg.Strategy, Hash: cfg.Hash, ID: uuid.NewString()}
	case id.Format == oldFieldVersion:
		id.Format = FieldVersion
	case id.Format < Version:
		id.Format = Version
	default:
		return id, nil
	}
	return id, id.Write(cfg)
}

// Replace makes a directory of another strategy and hash one of the configuration's, if it is empty. Otherwise the error
// is an [ErrMismatch].
func (id Identity) Replace(cfg Config, empty bool) (Identity, error) {
	if err := id.checkPlacing(cfg); err == nil || !empty {
		return id, err
	}
	id.Strategy, id.Hash = cfg.Strategy, cfg.Hash
	return id, id.Write(cfg)
}

// Write replaces the identity of a directory. If the machine stops in between, the
// directory has the old identity or the new one.
func (id Identity) Write(cfg Config) error {
	b, err := durable.Seal(id)
	if err != nil {
		return fmt.Errorf("encode identity: %w", err)
	}
	path := cfg.FS.PathJoin(cfg.Dir, File)
	f, err := cfg.FS.Create(path+".new", "ringside-format")
	if err != nil {
		return fmt.Errorf("create identity: %w", err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write identity: %w", err)
	}
	if err := cfg.FS.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write identity: %w", err)
	}
	return files.SyncDir(cfg.FS, cfg.Dir)
}
