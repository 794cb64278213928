package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ringside-kv/ringside/internal/durable"
)

// A directory is a place of the file system. Files are for their owner only.
type directory struct {
	path  string
	claim *os.File // locked; nil if the place is not claimed
}

func newDirectory(path string) (*directory, error) {
	return &directory{path: path}, os.MkdirAll(path, 0o700)
}

// Has implements Target.
func (d *directory) Has(_ context.Context, name string) (bool, error) {
	_, err := os.Stat(filepath.Join(d.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Create implements Target. The file has another name until it is committed.
func (d *directory) Create(_ context.Context, name string) (File, error) {
	path := filepath.Join(d.path, name)
	f, err := os.OpenFile(path+".part", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &directoryFile{File: f, path: path}, nil
}

// Remove implements Target.
func (d *directory) Remove(_ context.Context, name string) error {
	err := os.Remove(filepath.Join(d.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Open implements Source. A file may lie in pieces, as after the extraction of a stream.
func (d *directory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	path := filepath.Join(d.path, name)
	f, err := os.Open(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	first, pieceErr := os.Open(piecePath(path, 1))
	if pieceErr != nil {
		return nil, err
	}
	return &pieces{path: path, number: 1, file: first}, nil
}

// Close implements Target and Source.
func (d *directory) Close() error { return nil }

type directoryFile struct {
	*os.File
	path  string
	ended bool
}

// Commit implements File.
func (f *directoryFile) Commit() error {
	err := f.Sync()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	f.ended = true
	return durable.SyncDir(filepath.Dir(f.path))
}

// Abort implements File.
func (f *directoryFile) Abort() {
	if !f.ended {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

// piecePath returns the name of a piece of a file.
func piecePath(path string, number int) string { return fmt.Sprintf("%s.%06d", path, number) }

// pieces reads a file that lies in pieces.
type pieces struct {
	path   string
	number int
	file   *os.File
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	for {
		n, err := p.file.Read(b)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		next, err := os.Open(piecePath(p.path, p.number+1))
		if errors.Is(err, fs.ErrNotExist) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		_ = p.file.Close()
		p.file, p.number = next, p.number+1
	}
}

// Close implements io.Closer.
func (p *pieces) Close() error { return p.file.Close() }
