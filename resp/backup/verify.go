package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// ErrDamaged reports that a file is not as the manifest says.
var ErrDamaged = errors.New("damaged")

// Verify reads all of a backup and returns all that is wrong with it: sizes, checksums, the form of the files
// and of every value, numbers of keys.
func Verify(ctx context.Context, dir string, progress *Progress) (*Manifest, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = new(Progress)
	}
	_, size := m.Keys()
	progress.Total.Store(size)
	var errs []error
	for i := range m.Files {
		if err := m.Files[i].verify(ctx, dir, progress, true); err != nil {
			errs = append(errs, fmt.Errorf("%s of node %s: %w", m.Files[i].Name, m.Files[i].Node, err))
		}
	}
	return m, errors.Join(errs...)
}

// verify reads a file: its checksum, and with values also what it holds.
func (f *File) verify(ctx context.Context, dir string, progress *Progress, values bool) error {
	file, err := os.Open(filepath.Join(dir, f.Name))
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	src := io.TeeReader(&counted{ctx: ctx, src: file, progress: progress}, sum)
	var fault error
	if values {
		fault = f.verifyValues(src)
	}
	n, err := io.Copy(io.Discard, src)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() != f.Bytes:
		return fmt.Errorf("%w: %d bytes instead of %d", ErrDamaged, info.Size(), f.Bytes)
	case hex.EncodeToString(sum.Sum(nil)) != f.SHA256:
		return errors.Join(fmt.Errorf("%w: wrong checksum", ErrDamaged), fault)
	case fault == nil && values && n > 0:
		return fmt.Errorf("%w: %d bytes behind the end of the file", ErrDamaged, n)
	}
	return fault
}

func (f *File) verifyValues(src io.Reader) error {
	r := rdbfile.NewReader(src, rdbfile.Config{})
	for keys := int64(0); ; {
		e, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			if keys != f.Keys {
				return fmt.Errorf("%w: %d keys instead of %d", ErrDamaged, keys, f.Keys)
			}
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case e.Kind != rdbfile.Key:
		case e.Reason != "":
			return fmt.Errorf("%w: key %q: %s", ErrDamaged, e.Key, e.Reason)
		default:
			if _, err := rdb.Decode(e.Payload, 1<<40); err != nil {
				return fmt.Errorf("%w: key %q: %w", ErrDamaged, e.Key, err)
			}
			if !e.More {
				keys++
			}
		}
	}
}

// counted counts what is read, and ends with a context.
type counted struct {
	ctx      context.Context
	src      io.Reader
	progress *Progress
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.src.Read(b)
	c.progress.Bytes.Add(int64(n))
	return n, err
}
