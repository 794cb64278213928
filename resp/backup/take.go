package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/resp/client"
)

// TakeConfig says where a backup comes from and goes to.
type TakeConfig struct {
	// Source is the cluster; one address is enough.
	Source client.Config
	// Dir is the directory of the backup. It is made; one with a backup is refused.
	Dir string
	// Progress counts bytes that have been read; may be nil.
	Progress *Progress

	started func() // called after the moment, for tests
}

// Progress is how far something has come. Its fields may be read at any time.
type Progress struct{ Bytes, Total atomic.Int64 }

const (
	// renewEvery is how often nodes hear that the backup is still wanted.
	renewEvery = 8 * time.Second
	// retryFor is how long a read is tried again that got no answer.
	retryFor = 20 * time.Second
	// retryPause is the time between two attempts.
	retryPause = 200 * time.Millisecond
)

// Take takes a backup. Without an error the directory has all of it, on the disk.
func Take(ctx context.Context, cfg TakeConfig) (*Manifest, error) {
	if cfg.Progress == nil {
		cfg.Progress = new(Progress)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, manifestName)); err == nil {
		return nil, fmt.Errorf("%s holds a backup already: use another directory", cfg.Dir)
	}
	cfg.Source.Route = client.Forward // any node knows the others
	ring, err := client.Open(ctx, cfg.Source)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer ring.Close()
	t := &taker{cfg: &cfg, ring: ring}
	m, err := t.take(ctx)
	if err == nil {
		err = durable.ReplaceJSON(filepath.Join(cfg.Dir, manifestName), m)
	}
	if err != nil {
		t.tidy()
		return nil, err
	}
	return m, nil
}

type taker struct {
	cfg   *TakeConfig
	ring  *client.Ring
	parts []part
}

// A part is what one node held, as the node says it.
type part struct {
	Node       string   `json:"node"`
	Ranges     []string `json:"ranges"`
	BytesAbout int64    `json:"bytes_about"`

	name string
}

// tidy removes what a backup that has failed has written.
func (t *taker) tidy() {
	for _, p := range t.parts {
		_ = os.Remove(filepath.Join(t.cfg.Dir, p.name))
		_ = os.Remove(filepath.Join(t.cfg.Dir, p.name+".part"))
	}
}

func (t *taker) take(ctx context.Context) (*Manifest, error) {
	text, err := t.ring.Do(ctx, "RING", "BACKUP", "START").Bytes()
	if err != nil {
		return nil, fmt.Errorf("no moment: %w", err)
	}
	m := &Manifest{Format: formatVersion, Files: []File{}, Users: []string{}, Functions: []string{}}
	var start struct {
		Parts []part `json:"parts"`
	}
	if err := errors.Join(json.Unmarshal(text, &m.Moment), json.Unmarshal(text, &start)); err != nil {
		return nil, fmt.Errorf("the reply to RING BACKUP START: %w", err)
	}
	m.Time = time.UnixMilli(m.Moment.AtMS).UTC()
	t.parts = start.Parts
	for i := range t.parts {
		t.parts[i].name = fmt.Sprintf("%04d.rdb", i+1)
		t.cfg.Progress.Total.Add(t.parts[i].BytesAbout)
	}
	defer t.stop(m.Moment.ID)
	if t.cfg.started != nil {
		t.cfg.started()
	}
	if m.Users, err = t.ring.Do(ctx, "ACL", "LIST").Texts(); err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	if m.Functions, err = t.functions(ctx); err != nil {
		return nil, fmt.Errorf("functions: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running, renewing sync.WaitGroup
	defer renewing.Wait()
	defer cancel(nil)
	renewing.Go(func() { t.renew(ctx, m.Moment.ID) })
	m.Files = make([]File, len(t.parts))
	for i := range t.parts {
		running.Go(func() {
			f, err := t.file(ctx, m.Moment.ID, &t.parts[i])
			if err != nil {
				cancel(fmt.Errorf("node %s: %w", t.parts[i].Node, err))
			}
			m.Files[i] = f
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return m, durable.SyncDir(t.cfg.Dir)
}

// functions returns the code of all libraries.
func (t *taker) functions(ctx context.Context) ([]string, error) {
	list, err := t.ring.Do(ctx, "FUNCTION", "LIST", "WITHCODE").List()
	codes := []string{}
	for _, l := range list {
		library, err := l.Map()
		if err != nil {
			return nil, err
		}
		code, err := library["library_code"].Text()
		if err != nil {
			return nil, err
		}
		codes = append(codes, code)
	}
	return codes, err
}

// renew keeps the nodes from giving the backup up while others are read. A node that does not answer is found
// by its reader.
func (t *taker) renew(ctx context.Context, id string) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, p := range t.parts {
			_ = t.ring.Do(ctx, "RING", "BACKUP", "RENEW", id, p.Node).Err()
		}
	}
}

// stop has the nodes forget the backup. Without it they do so after half a minute.
func (t *taker) stop(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, p := range t.parts {
		_ = t.ring.Do(ctx, "RING", "BACKUP", "STOP", id, p.Node).Err()
	}
}

// file reads a part into its file, which has another name until it is complete.
func (t *taker) file(ctx context.Context, id string, p *part) (f File, err error) {
	path := filepath.Join(t.cfg.Dir, p.name)
	out, err := os.OpenFile(path+".part", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return f, err
	}
	f = File{Name: p.name, Node: p.Node, Ranges: p.Ranges}
	sum := sha256.New()
	err = t.read(ctx, id, &f, out, sum)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return f, err
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return f, os.Rename(path+".part", path)
}

func (t *taker) read(ctx context.Context, id string, f *File, out *os.File, sum hash.Hash) error {
	for {
		reply, err := t.ask(ctx, "RING", "BACKUP", "READ", id, f.Node, strconv.FormatInt(f.Bytes, 10))
		if err != nil {
			return err
		}
		line, data, _ := bytes.Cut(reply, []byte("\n"))
		var head struct {
			Bytes int   `json:"bytes"`
			End   bool  `json:"end"`
			Keys  int64 `json:"keys"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.Bytes != len(data) {
			return fmt.Errorf("a reply with %d bytes that cannot be read: %w", len(data), err)
		}
		if head.End {
			f.Keys = head.Keys
			return nil
		}
		if _, err := out.Write(data); err != nil {
			return err
		}
		_, _ = sum.Write(data)
		f.Bytes += int64(len(data))
		t.cfg.Progress.Bytes.Add(int64(len(data)))
	}
}

// ask repeats a request that got no reply. A node answers a repeated read with the same bytes.
func (t *taker) ask(ctx context.Context, args ...string) ([]byte, error) {
	for began := time.Now(); ; {
		reply := t.ring.Do(ctx, args...)
		err := reply.Err()
		if err == nil {
			return reply.Bytes()
		}
		var server *client.ServerError
		if ctx.Err() != nil || errors.As(err, &server) && server.Code == "ERR" || time.Since(began) > retryFor {
			return nil, err
		}
		timer := time.NewTimer(retryPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}
