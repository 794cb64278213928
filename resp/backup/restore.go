package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/resp/backup/internal/storage"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/internal/identity"
)

// RestoreConfig says where a backup is restored. From and Import.Target must be given.
type RestoreConfig struct {
	// From is the place of the backup: a directory, "-" for a stream, which is copied into a temporary
	// directory, or s3://bucket/prefix.
	From   string
	Access Access
	// Import says how keys are written; its Resume is set by Restore.
	Import importer.Config
	// State is a file that remembers how far the restore has come; empty: none. It is deleted once all is restored.
	State string
	// Merge lets the target have keys already; those of the backup replace them.
	Merge bool
	// KeepTTL gives keys the time to live that they had at the moment of the backup. Otherwise they expire when
	// they would have, and those whose time has come do not come back.
	KeepTTL bool
	// NoUsers leaves users out.
	NoUsers bool
	// Progress counts what is read to check the files; may be nil.
	Progress *Progress
}

// ErrNotEmpty reports that the target has keys.
var ErrNotEmpty = errors.New("the target has keys already")

// ErrState reports that the state file is of another restore.
var ErrState = errors.New("the state file does not fit")

// stateFormat is the version of the state file. Files of version 1 named no target.
const stateFormat = 2

// A restoreState is what a restore remembers until it has ended.
type restoreState struct {
	Format  int             `json:"format"`
	ID      string          `json:"id"` // of the backup
	Target  identity.Server `json:"target"`
	ShiftMS int64           `json:"shift_ms"`
	Done    int             `json:"done"`   // files
	Offset  int64           `json:"offset"` // in the next one: all keys before are written
}

// Restore writes a backup into a cluster with any number of nodes, any strategy and hash. It checks the
// checksums of all files before it writes anything.
func Restore(ctx context.Context, cfg RestoreConfig) (*Manifest, error) {
	source, err := storage.OpenSource(ctx, cfg.From, cfg.Access)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	m, err := readManifest(ctx, cfg.From, source)
	if err != nil {
		return nil, err
	}
	if cfg.Progress == nil {
		cfg.Progress = new(Progress)
	}
	_, size := m.Keys()
	cfg.Progress.Total.Store(size)
	for i := range m.Files {
		if err := m.Files[i].verify(ctx, source, cfg.Progress, false); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Files[i].Name, err)
		}
	}
	cfg.Import.EnsureDefaults()
	r := &restorer{cfg: &cfg, source: source, m: m}
	target, err := importer.Target(ctx, cfg.Import)
	if err != nil {
		return nil, err
	}
	resumed, err := r.load(target)
	if err != nil {
		return nil, err
	}
	ring, err := client.Open(ctx, cfg.Import.Target)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	defer ring.Close()
	keys, err := keysIn(ctx, ring)
	switch {
	case err != nil:
		return nil, fmt.Errorf("target: %w", err)
	case resumed && keys == "":
		r.begin(target) // it was emptied, or nothing was written yet
		resumed = false
	case !resumed && keys != "" && !cfg.Merge:
		return nil, fmt.Errorf("%w: %s", ErrNotEmpty, keys)
	}
	if !resumed {
		if err := r.prepare(ctx, ring); err != nil {
			return nil, err
		}
	}
	for r.state.Done < len(m.Files) {
		if err := r.file(ctx, &m.Files[r.state.Done]); err != nil {
			return nil, err
		}
	}
	if err := r.limits(ctx, ring); err != nil {
		return m, err
	}
	if !cfg.NoUsers {
		if err := r.users(ctx, ring); err != nil {
			return m, err
		}
	}
	return m, r.end()
}

type restorer struct {
	cfg    *RestoreConfig
	source storage.Source
	m      *Manifest
	state  restoreState
}

// begin sets the state of a restore that has written nothing.
func (r *restorer) begin(target identity.Server) {
	r.state = restoreState{Format: stateFormat, ID: r.m.Moment.ID, Target: target}
	if r.cfg.KeepTTL {
		r.state.ShiftMS = max(0, time.Now().UnixMilli()-r.m.Moment.AtMS)
	}
}

// load reads the state, and reports whether an earlier run has begun.
func (r *restorer) load(target identity.Server) (resumed bool, err error) {
	r.begin(target)
	if r.cfg.State == "" {
		return false, nil
	}
	text, err := os.ReadFile(r.cfg.State)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var was restoreState
	if err == nil {
		err = durable.Unseal(text, &was)
	}
	const again = "delete it to restore from the beginning"
	switch {
	case err != nil:
		return false, fmt.Errorf("state file %s: %w", r.cfg.State, err)
	case was.Format == 1:
		return false, fmt.Errorf("state file %s: %w: it is of an earlier version, which did not note the target: %s, with merge if the target has keys of the backup already", r.cfg.State, ErrState, again)
	case was.Format != stateFormat:
		return false, fmt.Errorf("state file %s: format %d, known is %d", r.cfg.State, was.Format, stateFormat)
	case was.ID != r.m.Moment.ID:
		return false, fmt.Errorf("state file %s: %w: it is of another backup, %s: %s", r.cfg.State, ErrState, was.ID, again)
	case !was.Target.Same(target):
		return false, fmt.Errorf("state file %s: %w: it is of a restore into %v; the target is %v: name another state file, or %s", r.cfg.State, ErrState, was.Target, target, again)
	}
	r.state = was
	return true, nil
}

// end deletes the state: a restore that has ended is not resumed, but done again.
func (r *restorer) end() error {
	if r.cfg.State == "" {
		return nil
	}
	if err := os.Remove(r.cfg.State); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("all is restored, but the state file stays: %w", err)
	}
	return nil
}

func (r *restorer) save() error {
	if r.cfg.State == "" {
		return nil
	}
	if err := durable.ReplaceJSON(r.cfg.State, &r.state); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}

// keysIn says which database has keys, and how many; empty: none has.
func keysIn(ctx context.Context, ring *client.Ring) (string, error) {
	info, err := ring.Do(ctx, "INFO", "keyspace").Text()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(info) {
		name, facts, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && strings.HasPrefix(name, "db") && strings.HasPrefix(facts, "keys=") && !strings.HasPrefix(facts, "keys=0,") {
			return name + " has " + facts, nil
		}
	}
	return "", nil
}

// prepare makes room in the target for all databases, and loads functions.
func (r *restorer) prepare(ctx context.Context, ring *client.Ring) error {
	has, err := ring.Do(ctx, "RING", "DATABASES").Int()
	if err == nil && has < int64(r.m.Moment.Databases) {
		err = ring.Do(ctx, "RING", "DATABASES", strconv.Itoa(r.m.Moment.Databases)).Err()
	}
	if err != nil {
		return fmt.Errorf("target: databases: %w", err)
	}
	for _, n := range r.m.Moment.Together {
		if err := ring.Do(ctx, "RING", "DATABASE", strconv.Itoa(n), "TOGETHER").Err(); err != nil {
			return fmt.Errorf("target: keep database %d together: %w", n, err)
		}
	}
	for _, code := range r.m.Functions {
		if err := ring.Do(ctx, "FUNCTION", "LOAD", "REPLACE", code).Err(); err != nil {
			return fmt.Errorf("target: functions: %w", err)
		}
	}
	return r.save()
}

// file writes the keys of a file.
func (r *restorer) file(ctx context.Context, f *File) error {
	file, err := r.source.Open(ctx, f.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	cfg := r.cfg.Import
	cfg.Shift = time.Duration(r.state.ShiftMS) * time.Millisecond
	cfg.Resume = r.state.Offset
	cfg.Checkpoint = func(offset int64) error {
		r.state.Offset = offset
		return r.save()
	}
	if err := importer.Load(ctx, file, cfg); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	r.state.Done++
	r.state.Offset = 0
	return r.save()
}

// limits sets the quotas and eviction policies of databases, once all keys are there: before, they could refuse or evict
// some. Databases that had neither keep what the target has.
func (r *restorer) limits(ctx context.Context, ring *client.Ring) error {
	for _, l := range r.m.Moment.Limits {
		bytes := "NONE"
		if l.Bytes > 0 {
			bytes = strconv.FormatInt(l.Bytes, 10)
		}
		err := ring.Do(ctx, "RING", "DATABASE", strconv.Itoa(l.Database), "QUOTA", bytes, "POLICY", cmp.Or(l.Policy, "NONE")).Err()
		if err != nil {
			return fmt.Errorf("target: quota of database %d: %w", l.Database, err)
		}
	}
	return nil
}

// users sets all users but the default one, whose password belongs to the settings of the target.
func (r *restorer) users(ctx context.Context, ring *client.Ring) error {
	for _, line := range r.m.Users {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "user" {
			return fmt.Errorf("a user that cannot be read in the manifest: %.40q", line)
		}
		if words[1] == "default" {
			continue
		}
		if err := ring.Do(ctx, slices.Concat([]string{"ACL", "SETUSER", words[1], "reset"}, words[2:])...).Err(); err != nil {
			return fmt.Errorf("target: user %s: %w", words[1], err)
		}
		if !slices.Contains(r.m.Moment.Atomic, words[1]) {
			continue
		}
		if err := ring.Do(ctx, "RING", "USER", words[1], "ATOMIC", "ON").Err(); err != nil {
			return fmt.Errorf("target: user %s: atomic: %w", words[1], err)
		}
	}
	return nil
}
