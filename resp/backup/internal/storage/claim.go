package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
)

// A claim keeps two runs from writing into one place. In a directory it is a locked file, so it ends with the process at
// the latest. In a bucket it is an object, which stays if the run is killed: nothing tells whether a run still writes, so
// the error says what to delete.

// claimName is the name of the file or object.
const claimName = "backup.claim"

// ErrClaimed reports that another run writes into a place.
var ErrClaimed = errors.New("another backup writes there")

// maxClaimAttempts is how often a run tries to lock the claim while others remove theirs.
const maxClaimAttempts = 100

// Claim implements Target.
func (d *directory) Claim(ctx context.Context) error {
	path := filepath.Join(d.path, claimName)
	for range maxClaimAttempts {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if errors.Is(err, syscall.ELOOP) {
			return fmt.Errorf("%s is a link, not a claim: remove it, or use another place", path)
		}
		if err != nil {
			return err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			_ = f.Close()
			return fmt.Errorf("%s: %w", d.path, ErrClaimed)
		}
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("locking %s failed: %w", path, err)
		}
		d.claim = f
		mine, err := d.claims()
		if err != nil || mine {
			return err
		}
		d.claim = nil
		_ = f.Close() // the run before has removed it meanwhile
	}
	return fmt.Errorf("%s: %w: its claim was replaced %d times", d.path, ErrClaimed, maxClaimAttempts)
}

// claims reports whether the file that is locked is still the claim of the place.
func (d *directory) claims() (bool, error) {
	if d.claim == nil {
		return false, nil
	}
	mine, err := d.claim.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(d.claim.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, now), err
}

// Claimed implements Target.
func (d *directory) Claimed(context.Context) bool {
	mine, err := d.claims()
	return err == nil && mine
}

// Release implements Target.
func (d *directory) Release(ctx context.Context) {
	if d.Claimed(ctx) {
		_ = os.Remove(d.claim.Name())
	}
	if d.claim != nil {
		_ = d.claim.Close()
		d.claim = nil
	}
}

// Claim implements Target. Where the service knows no conditional writes, two runs that begin at the same moment are told
// apart by Claimed.
func (b *bucket) Claim(ctx context.Context) error {
	if text, err := b.readClaim(ctx); err == nil {
		return b.claimed(text)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.claim = fmt.Appendf(nil, "backup that began at %s (%s)", time.Now().UTC().Format(time.RFC3339), rand.Text())
	err := b.putClaim(ctx, true)
	if minio.ToErrorResponse(err).Code == "NotImplemented" {
		err = b.putClaim(ctx, false)
	}
	text, readErr := b.readClaim(ctx) // a request whose answer was lost is repeated, and refused then
	switch {
	case readErr == nil && bytes.Equal(text, b.claim):
		return nil
	case readErr == nil:
		b.claim = nil
		return b.claimed(text)
	}
	return errors.Join(b.fault(err), readErr)
}

func (b *bucket) claimed(text []byte) error {
	return fmt.Errorf("bucket %s: %w: %s; if it was killed, delete the object %s, or use another place", b.name, ErrClaimed, text, b.prefix+claimName)
}

func (b *bucket) putClaim(ctx context.Context, onlyNew bool) error {
	opts := minio.PutObjectOptions{DisableContentSha256: true}
	if onlyNew {
		opts.SetMatchETagExcept("*")
	}
	_, err := b.client.PutObject(ctx, b.name, b.prefix+claimName, bytes.NewReader(b.claim), int64(len(b.claim)), "", sumOf(b.claim), opts)
	return err
}

// maxClaim bounds what is read of a claim, in bytes.
const maxClaim = 200

func (b *bucket) readClaim(ctx context.Context) ([]byte, error) {
	o, err := b.get(ctx, claimName, 0, "")
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return io.ReadAll(io.LimitReader(o, maxClaim))
}

// Claimed implements Target.
func (b *bucket) Claimed(ctx context.Context) bool {
	text, err := b.readClaim(ctx)
	return err == nil && b.claim != nil && bytes.Equal(text, b.claim)
}

// Release implements Target.
func (b *bucket) Release(ctx context.Context) {
	if b.Claimed(ctx) {
		_ = b.Remove(ctx, claimName)
	}
	b.claim = nil
}

// Claim implements Target. A stream has one writer.
func (*streamTarget) Claim(context.Context) error { return nil }

// Claimed implements Target.
func (*streamTarget) Claimed(context.Context) bool { return true }

// Release implements Target.
func (*streamTarget) Release(context.Context) {}
