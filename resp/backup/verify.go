package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/ringside-kv/ringside/resp/backup/internal/storage"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// ErrDamaged reports that a file is not as the manifest says.
var ErrDamaged = errors.New("damaged")

// Verify reads all of a backup and returns all that is wrong with it: sizes, checksums, the form of the files
// and of every value, numbers of keys. A stream is read once and kept nowhere.
func Verify(ctx context.Context, from string, access Access, progress *Progress) (*Manifest, error) {
	if progress == nil {
		progress = new(Progress)
	}
	if from == storage.Stream {
		return verifyStream(ctx, access, progress)
	}
	source, err := storage.OpenSource(ctx, from, access)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	m, err := readManifest(ctx, from, source)
	if err != nil {
		return nil, err
	}
	_, size := m.Keys()
	progress.Total.Store(size)
	var errs []error
	for i := range m.Files {
		f := &m.Files[i]
		if err := f.verify(ctx, source, progress, true); err != nil {
			errs = append(errs, fmt.Errorf("%s of node %s: %w", f.Name, f.Node, err))
		}
	}
	return m, errors.Join(errs...)
}

// verifyStream checks the files of a stream as they come, and compares them with the manifest at the end.
func verifyStream(ctx context.Context, access Access, progress *Progress) (*Manifest, error) {
	var text []byte
	checkers := make(map[string]*checker)
	defer func() {
		for _, c := range checkers {
			_ = c.end()
		}
	}()
	err := storage.ReadStream(access.Input(), func(name string, piece io.Reader) (err error) {
		if name == manifestName {
			more, err := readManifestText(piece)
			if text = append(text, more...); len(text) > maxManifest {
				err = fmt.Errorf("more than %d bytes", maxManifest)
			}
			return err
		}
		c := checkers[name]
		if c == nil {
			c = newChecker(true)
			checkers[name] = c
		}
		_, err = io.Copy(c, &counted{ctx: ctx, src: piece, progress: progress})
		return err
	})
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, errNoManifest("the stream")
	}
	m, err := decodeManifest("the stream", text)
	if err != nil {
		return nil, err
	}
	var errs []error
	for i := range m.Files {
		f := &m.Files[i]
		c := checkers[f.Name]
		if c == nil {
			errs = append(errs, fmt.Errorf("%s of node %s: %w", f.Name, f.Node, fs.ErrNotExist))
		} else if err := c.compare(f); err != nil {
			errs = append(errs, fmt.Errorf("%s of node %s: %w", f.Name, f.Node, err))
		}
	}
	return m, errors.Join(errs...)
}

// verify reads a file: its checksum, and with values also what it holds.
func (f *File) verify(ctx context.Context, source storage.Source, progress *Progress, values bool) error {
	file, err := source.Open(ctx, f.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	c := newChecker(values)
	if _, err := io.Copy(c, &counted{ctx: ctx, src: file, progress: progress}); err != nil {
		_ = c.end()
		return err
	}
	return c.compare(f)
}

// A checker is given the bytes of a file, and compares it with the manifest then.
type checker struct {
	sum  hash.Hash
	size int64

	// Of the goroutine that reads values; pipe is nil without one.
	pipe  *io.PipeWriter
	ended chan struct{}
	// Of its end.
	keys  int64
	rest  int64 // bytes behind the end of the RDB file
	fault error
}

func newChecker(values bool) *checker {
	c := &checker{sum: sha256.New()}
	if !values {
		return c
	}
	r, w := io.Pipe()
	c.pipe, c.ended = w, make(chan struct{})
	go func() {
		defer close(c.ended)
		c.keys, c.fault = readValues(r)
		c.rest, _ = io.Copy(io.Discard, r)
	}()
	return c
}

// Write implements io.Writer.
func (c *checker) Write(b []byte) (int, error) {
	_, _ = c.sum.Write(b)
	c.size += int64(len(b))
	if c.pipe != nil {
		return c.pipe.Write(b)
	}
	return len(b), nil
}

// end waits until all values are read, and returns what is wrong with them.
func (c *checker) end() error {
	if c.pipe == nil {
		return nil
	}
	_ = c.pipe.Close()
	<-c.ended
	return c.fault
}

// compare returns what is wrong with a file.
func (c *checker) compare(f *File) error {
	fault := c.end()
	switch {
	case c.size != f.Bytes:
		return fmt.Errorf("%w: %d bytes instead of %d", ErrDamaged, c.size, f.Bytes)
	case hex.EncodeToString(c.sum.Sum(nil)) != f.SHA256:
		return errors.Join(fmt.Errorf("%w: wrong checksum", ErrDamaged), fault)
	case fault != nil || c.pipe == nil:
		return fault
	case c.rest > 0:
		return fmt.Errorf("%w: %d bytes behind the end of the file", ErrDamaged, c.rest)
	case c.keys != f.Keys:
		return fmt.Errorf("%w: %d keys instead of %d", ErrDamaged, c.keys, f.Keys)
	}
	return nil
}

// readValues reads all keys and values of an RDB file.
func readValues(src io.Reader) (keys int64, err error) {
	for r := rdbfile.NewReader(src, rdbfile.Config{}); ; {
		e, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return keys, nil
		case err != nil:
			return keys, fmt.Errorf("%w: %w", ErrDamaged, err)
		case e.Kind != rdbfile.Key:
		case e.Reason != "":
			return keys, fmt.Errorf("%w: key %q: %s", ErrDamaged, e.Key, e.Reason)
		default:
			if _, err := rdb.Decode(e.Payload, 1<<40); err != nil {
				return keys, fmt.Errorf("%w: key %q: %w", ErrDamaged, e.Key, err)
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
