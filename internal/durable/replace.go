package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace gives a file new contents, and returns once they are on the disk. Whatever
// happens, the file is the old one or the new one. Only its owner may read it. Two calls
// for one file must not be under way at the same time.
func Replace(path string, contents []byte) error { return ReplaceAs(path, contents, 0o600) }

// ReplaceAs is Replace for a file with other permissions.
func ReplaceAs(path string, contents []byte, permissions os.FileMode) error {
	next := path + ".new"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(contents)
	if err == nil {
		err = f.Chmod(permissions)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a directory last.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
