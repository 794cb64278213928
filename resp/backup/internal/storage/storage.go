package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// A Target gets the files of a backup. Several files may be written at a time, each by one goroutine.
type Target interface {
	// Has reports whether a file is there.
	Has(ctx context.Context, name string) (bool, error)
	// Create begins a file. The context counts until the file is committed or aborted.
	Create(ctx context.Context, name string) (File, error)
	// Remove removes a file; nil if there is none.
	Remove(ctx context.Context, name string) error
	// Claim reserves the place for this run. The error wraps ErrClaimed if another run has it.
	Claim(ctx context.Context) error
	// Claimed reports whether the place is still reserved for this run. It is false, too, if that cannot be found out.
	Claimed(ctx context.Context) bool
	// Release ends what Claim has begun.
	Release(ctx context.Context)
	// Close ends a target that has all its files, without waiting for unfinished ones.
	Close() error
}

// A File is a file that is being written.
type File interface {
	io.Writer
	// Commit returns nil once the file is in its place and stays there.
	Commit() error
	// Abort forgets a file that was not committed, and does nothing after Commit.
	Abort()
}

// A Source returns the files of a backup.
type Source interface {
	// Open opens a file. The error wraps fs.ErrNotExist if there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Close removes what the source itself has made.
	Close() error
}

// Access is what places other than directories need. The zero value is that of the process.
type Access struct {
	// Env returns a variable of the environment, which has the credentials of buckets; nil is os.Getenv.
	Env func(string) string
	// In and Out are what "-" stands for; nil are the standard input and output.
	In  io.Reader
	Out io.Writer
}

// Input returns what "-" stands for as a Source.
func (a Access) Input() io.Reader { return a.ensureDefaults().In }

func (a Access) ensureDefaults() Access {
	if a.Env == nil {
		a.Env = os.Getenv
	}
	if a.In == nil {
		a.In = os.Stdin
	}
	if a.Out == nil {
		a.Out = os.Stdout
	}
	return a
}

// Stream is the name of the place that is a stream.
const Stream = "-"

const bucketScheme = "s3://"

// ErrPlace reports a place that cannot be one.
var ErrPlace = errors.New("is neither a directory nor - nor s3://bucket/prefix")

// Check returns an error that wraps ErrPlace if a place cannot be one. It looks at nothing but its name.
func Check(place string) error {
	scheme, _, ok := strings.Cut(place, "://")
	switch {
	case strings.HasPrefix(place, bucketScheme):
		_, _, err := splitBucket(place)
		return err
	case ok:
		return fmt.Errorf("a place that begins with %.20q %w", scheme+"://", ErrPlace)
	case place == "":
		return fmt.Errorf("an empty name %w", ErrPlace)
	}
	return nil
}

// OpenTarget opens a place to write to.
func OpenTarget(ctx context.Context, place string, access Access) (Target, error) {
	access = access.ensureDefaults()
	if err := Check(place); err != nil {
		return nil, err
	}
	switch {
	case place == Stream:
		return newStreamTarget(access.Out), nil
	case strings.HasPrefix(place, bucketScheme):
		return openBucket(ctx, place, access.Env)
	}
	return newDirectory(place)
}

// OpenSource opens a place to read from. A stream is first copied into a temporary directory.
func OpenSource(ctx context.Context, place string, access Access) (Source, error) {
	access = access.ensureDefaults()
	if err := Check(place); err != nil {
		return nil, err
	}
	switch {
	case place == Stream:
		return spool(ctx, access.In)
	case strings.HasPrefix(place, bucketScheme):
		return openBucket(ctx, place, access.Env)
	}
	return &directory{path: place}, nil
}
