package storage

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A stream is a tar archive. Files whose sizes are not known yet lie in it as pieces, name.000001 and so on, those of
// several files in any order among each other; a file that fits into one piece lies there under its own name. tar
// makes a directory of it that is a Source, too.

// defaultPiece is how long a piece is at most: each file that is being written has one in memory.
const defaultPiece = 8 << 20

// A streamTarget writes files to a stream.
type streamTarget struct {
	mu sync.Mutex // of the archive
	w  *tar.Writer

	pieceSize int
}

func newStreamTarget(out io.Writer) *streamTarget {
	return &streamTarget{w: tar.NewWriter(out), pieceSize: defaultPiece}
}

// Has implements Target.
func (*streamTarget) Has(context.Context, string) (bool, error) { return false, nil }

// Create implements Target.
func (s *streamTarget) Create(ctx context.Context, name string) (File, error) {
	return &streamFile{ctx: ctx, s: s, name: name}, nil
}

// Remove implements Target. What has been written to a stream stays.
func (*streamTarget) Remove(context.Context, string) error { return nil }

// Close implements Target.
func (s *streamTarget) Close() error { return s.w.Close() }

// entry writes an entry of the archive.
func (s *streamTarget) entry(name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: time.Now()}); err != nil {
		return err
	}
	_, err := s.w.Write(data)
	return err
}

type streamFile struct {
	ctx    context.Context
	s      *streamTarget
	name   string
	number int // of the last piece
	buf    []byte
}

// Write implements io.Writer.
func (f *streamFile) Write(b []byte) (int, error) {
	for n := 0; n < len(b); {
		if len(f.buf) == f.s.pieceSize {
			if err := f.piece(); err != nil {
				return n, err
			}
		}
		part := b[n:min(len(b), n+f.s.pieceSize-len(f.buf))]
		f.buf = append(f.buf, part...)
		n += len(part)
	}
	return len(b), nil
}

func (f *streamFile) piece() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	f.number++
	err := f.s.entry(piecePath(f.name, f.number), f.buf)
	f.buf = f.buf[:0]
	return err
}

// Commit implements File.
func (f *streamFile) Commit() error {
	if f.number == 0 {
		return f.s.entry(f.name, f.buf)
	}
	return f.piece()
}

// Abort implements File.
func (f *streamFile) Abort() { f.buf = nil }

// ErrNoStream reports that a stream is not one that a streamTarget has written.
var ErrNoStream = errors.New("the stream is no backup")

// streamName are the names of files and pieces in a stream.
var streamName = regexp.MustCompile(`^([0-9]{1,9}\.rdb|manifest\.json)(?:\.([0-9]{6,9}))?$`)

// maxStreamFiles is how many files a stream has at most.
const maxStreamFiles = 100_000

// ReadStream calls take with each piece of a stream, in order. The pieces of a file are one after another, those of
// several files may be mixed. take may leave a piece unread.
func ReadStream(in io.Reader, take func(name string, piece io.Reader) error) error {
	r := tar.NewReader(in)
	last := make(map[string]int) // piece of each file; -1 after a whole one
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			_, err = io.Copy(io.Discard, in) // or the writer may meet a broken pipe
			return err
		}
		if err != nil {
			return fmt.Errorf("%w, or is damaged: %w", ErrNoStream, err)
		}
		if h.Typeflag == tar.TypeDir && path.Clean(h.Name) == "." { // of tar -C directory .
			continue
		}
		m := streamName.FindStringSubmatch(path.Clean(h.Name))
		if m == nil || h.Typeflag != tar.TypeReg || isSparse(h) || len(last) > maxStreamFiles {
			return fmt.Errorf("%w: it has %.60q", ErrNoStream, h.Name)
		}
		name, number := m[1], -1
		if m[2] != "" {
			number, _ = strconv.Atoi(m[2])
		}
		if before, seen := last[name]; seen && number != before+1 || !seen && number > 1 || number == 0 || seen && before < 0 {
			return fmt.Errorf("%w: %.60q is not the next piece", ErrNoStream, h.Name)
		}
		last[name] = number
		if err := take(name, r); errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("the stream ends in the middle of %s: %w", name, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// isSparse reports whether an entry has more bytes than the archive.
func isSparse(h *tar.Header) bool {
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// A spooled source is a stream that was copied into a temporary directory.
type spooled struct{ *directory }

// Close implements Source.
func (s spooled) Close() error { return os.RemoveAll(s.path) }

func spool(ctx context.Context, in io.Reader) (_ Source, err error) {
	dir, err := os.MkdirTemp("", "ringside-stream-")
	if err != nil {
		return nil, err
	}
	s := spooled{&directory{path: dir}}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	return s, ReadStream(in, func(name string, piece io.Reader) error {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, &checked{ctx, piece})
		return errors.Join(err, f.Close())
	})
}

// checked reads until a context ends.
type checked struct {
	ctx context.Context
	src io.Reader
}

// Read implements io.Reader.
func (c *checked) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.src.Read(b)
}
