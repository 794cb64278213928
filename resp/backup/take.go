package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/resp/backup/internal/storage"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/moment"
)

// TakeConfig says where a backup comes from and goes to.
type TakeConfig struct {
	// Source is the cluster; one address is enough.
	Source client.Config
	// To is the place of the backup: a directory, which is made, "-" for a stream, or s3://bucket/prefix. A
	// place that has a backup is refused.
	To     string
	Access Access
	// Progress counts bytes that have been read; may be nil.
	Progress *Progress

	started func() // called after the moment, for tests
}

// Progress is how far something has come. Its fields may be read at any time.
type Progress struct{ Bytes, Total atomic.Int64 }

// tidyTimeout is how long the files of a backup that has failed may take to be removed.
const tidyTimeout = 10 * time.Second

// Take takes a backup. Without an error its place has all of it.
func Take(ctx context.Context, cfg TakeConfig) (*Manifest, error) {
	if cfg.Progress == nil {
		cfg.Progress = new(Progress)
	}
	cfg.Source.Route = client.Forward // any node knows the others
	ring, err := client.Open(ctx, cfg.Source)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer ring.Close()
	target, err := storage.OpenTarget(ctx, cfg.To, cfg.Access) // after the source, so that one that is away leaves no directory
	if err != nil {
		return nil, err
	}
	defer target.Close() // once more where all went well, which is no harm
	t := &taker{cfg: &cfg, target: target, ring: ring}
	if err := t.claim(ctx); err != nil {
		return nil, err
	}
	defer t.release(ctx)
	m, err := t.take(ctx)
	if err == nil {
		err = t.manifest(ctx, m)
	}
	if err != nil {
		return nil, t.tidy(ctx, err)
	}
	return m, target.Close()
}

type taker struct {
	cfg    *TakeConfig
	target storage.Target
	ring   *client.Ring
	names  []string // of files
	ends   bool     // the manifest may be there
}

// claim reserves the place, which must have no backup.
func (t *taker) claim(ctx context.Context) error {
	err := t.refuseOther(ctx)
	if err != nil {
		return err
	}
	if err = t.target.Claim(ctx); err == nil {
		err = t.refuseOther(ctx) // one that has ended meanwhile
	}
	if err != nil {
		t.release(ctx)
	}
	return err
}

// refuseOther refuses a place that has a backup.
func (t *taker) refuseOther(ctx context.Context) error {
	has, err := t.target.Has(ctx, manifestName)
	if err == nil && has {
		err = fmt.Errorf("%s holds a backup already: use another place", t.cfg.To)
	}
	return err
}

// release has other runs use the place.
func (t *taker) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	t.target.Release(ctx)
}

// tidy removes what a backup that has failed has written, the manifest first: files without it are no backup. It returns
// the error of the backup, and why files stay.
func (t *taker) tidy(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	if !t.target.Claimed(ctx) {
		return fmt.Errorf("%w; its files stay in %s, where another run may write by now", failed, t.cfg.To)
	}
	if t.ends {
		if err := t.target.Remove(ctx, manifestName); err != nil {
			return fmt.Errorf("%w; nothing is removed, since it is not known whether the manifest is there: ringside backup --verify tells whether the backup is complete: %w", failed, err)
		}
	}
	for _, name := range t.names {
		_ = t.target.Remove(ctx, name)
	}
	return failed
}

func (t *taker) take(ctx context.Context) (*Manifest, error) {
	r, err := moment.Open(ctx, t.ring)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m := &Manifest{Format: formatVersion, Moment: r.Moment, Files: make([]File, len(r.Moment.Parts)), Users: []string{}, Functions: []string{}}
	m.Moment.Parts = nil
	m.Time = time.UnixMilli(m.Moment.AtMS).UTC()
	for i, p := range r.Moment.Parts {
		t.names = append(t.names, fmt.Sprintf("%04d.rdb", i+1))
		t.cfg.Progress.Total.Add(p.BytesAbout)
	}
	if t.cfg.started != nil {
		t.cfg.started()
	}
	if m.Users, err = t.ring.Do(ctx, "ACL", "LIST").Texts(); err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	if m.Functions, err = moment.Libraries(ctx, t.ring); err != nil {
		return nil, fmt.Errorf("functions: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for i, p := range r.Moment.Parts {
		running.Go(func() {
			m.Files[i] = File{Name: t.names[i], Node: p.Node, Ranges: p.Ranges}
			if err := t.file(ctx, &m.Files[i], r.Part(ctx, i)); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return m, nil
}

// file reads a part into its file.
func (t *taker) file(ctx context.Context, f *File, part *moment.PartReader) error {
	out, err := t.target.Create(ctx, f.Name)
	if err != nil {
		return err
	}
	defer out.Abort()
	sum := sha256.New()
	f.Bytes, err = io.Copy(io.MultiWriter(out, sum, t.cfg.Progress), part)
	if err != nil {
		return fmt.Errorf("%s of node %s: %w", f.Name, f.Node, err)
	}
	f.Keys, f.SHA256 = part.Keys, hex.EncodeToString(sum.Sum(nil))
	if err := out.Commit(); err != nil {
		return fmt.Errorf("%s of node %s: %w", f.Name, f.Node, err)
	}
	return nil
}

// manifest writes the manifest, behind all files.
func (t *taker) manifest(ctx context.Context, m *Manifest) error {
	text, err := durable.Seal(m)
	if err != nil {
		return err
	}
	out, err := t.target.Create(ctx, manifestName)
	if err != nil {
		return err
	}
	defer out.Abort()
	_, err = out.Write(text)
	if err == nil && !t.target.Claimed(ctx) {
		err = fmt.Errorf("the claim to %s is gone, so another run may write there", t.cfg.To)
	}
	if err == nil {
		t.ends = true
		err = out.Commit()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	return nil
}

// Write implements io.Writer: it counts.
func (p *Progress) Write(b []byte) (int, error) {
	p.Bytes.Add(int64(len(b)))
	return len(b), nil
}
