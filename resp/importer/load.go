package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// Config says where keys go, and how. Only Target.Addrs must be given.
type Config struct {
	// Target is the cluster that keys are written to.
	Target client.Config
	Filter Filter
	// Lanes is how many batches of keys are on their way at a time; default 8.
	Lanes int
	// RetryFor is how long a write is tried again that the target refuses for now; default 5 minutes.
	RetryFor time.Duration
	// RDB bounds the memory of reading.
	RDB rdbfile.Config
	// Shift is added to expiry times, of keys and of fields.
	Shift time.Duration
	// Resume is the offset in the RDB file at which keys begin that are not written yet. Checkpoint, unless it is
	// nil, is called now and then with such an offset; its error ends the import.
	Resume     int64
	Checkpoint func(offset int64) error
	// Stats counts what is done; never nil after EnsureDefaults.
	Stats *Stats
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Lanes <= 0 {
		c.Lanes = 8
	}
	if c.RetryFor <= 0 {
		c.RetryFor = 5 * time.Minute
	}
	if c.Stats == nil {
		c.Stats = new(Stats)
	}
	if c.Target.Name == "" {
		c.Target.Name = "ringside-import"
	}
	if c.Target.Route == "" {
		c.Target.Route = client.Forward
	}
	c.RDB.EnsureDefaults()
}

// Load writes the keys of an RDB file to the target. It returns once all are acknowledged, or with the
// first error that it cannot continue after; what the counts say is written by then. A key that the target
// had gets the value of the file; other keys stay.
func Load(ctx context.Context, src io.Reader, cfg Config) error {
	cfg.EnsureDefaults()
	target := newCluster(cfg.Target)
	defer target.close()
	if _, err := target.ring(ctx, 0); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	cfg.Stats.enter("load")
	r := rdbfile.NewReader(src, cfg.RDB)
	return load(ctx, r, target, &cfg)
}

// checkpointBytes is how much of a file is read from one checkpoint to the next; tests change it.
var checkpointBytes = int64(64 << 20)

// load writes what a file has.
func load(ctx context.Context, r *rdbfile.Reader, target *cluster, cfg *Config) error {
	l := newLoader(ctx, target, cfg.Stats, cfg.Lanes, cfg.RetryFor)
	defer l.close()
	for marked := cfg.Resume; ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			// What was read is written, so that the counts are right.
			return errors.Join(fmt.Errorf("read RDB: %w", err), l.drain())
		}
		cfg.Stats.read.Store(r.Offset())
		if e.Kind == rdbfile.Key && e.Part == 0 && cfg.Checkpoint != nil && e.Offset-marked >= checkpointBytes {
			marked = e.Offset
			if err := errors.Join(l.drain(), cfg.Checkpoint(marked)); err != nil {
				return err
			}
		}
		if e.Kind == rdbfile.Key && e.Offset < cfg.Resume {
			continue
		}
		if by := cfg.Shift.Milliseconds(); by != 0 && e.Kind == rdbfile.Key {
			moved := *e // the reader keeps the time for the next part
			e = &moved
			if e.ExpireAt != 0 {
				e.ExpireAt = rdb.Later(e.ExpireAt, by)
			}
			if e.Payload, err = rdb.MoveExpiry(e.Payload, cfg.RDB.MaxString, by); err != nil {
				return errors.Join(fmt.Errorf("read RDB: key %.100q: %w", e.Key, err), l.drain())
			}
		}
		if err := loadEntry(l, e, cfg); err != nil {
			return err
		}
	}
	cfg.Stats.read.Store(r.Offset())
	return l.drain()
}

func loadEntry(l *loader, e *rdbfile.Entry, cfg *Config) error {
	switch e.Kind {
	case rdbfile.Aux:
		if strings.HasPrefix(string(e.Name), "keydb-subexpire") {
			l.stats.note("the source is KeyDB and has members with expiry times of their own: these are left out, and the members stay")
		}
	case rdbfile.Function:
		return loadFunction(l, e)
	case rdbfile.ModuleAux:
		l.stats.lose(Loss{Key: e.Reason, Reason: e.Reason, NoKey: true})
		return nil
	case rdbfile.Key:
		database, ok := cfg.Filter.database(e.Database)
		if !ok {
			if e.Part == 0 {
				l.stats.filtered.Add(1)
			}
			return nil
		}
		if e.Part == 0 {
			if !cfg.Filter.takes(e.Key, l.stats) {
				return nil
			}
			if e.ExpireAt != 0 && e.ExpireAt <= time.Now().UnixMilli() {
				l.stats.expired.Add(1)
			}
		} else if l.parts == nil {
			return nil // its first part was left out
		}
		err := l.entry(e, database)
		if !e.More {
			l.parts = nil
		}
		return err
	}
	return nil
}

// loadFunction gives the target a library of functions.
func loadFunction(l *loader, e *rdbfile.Entry) error {
	if e.Reason != "" {
		l.stats.lose(Loss{Key: string(e.Name), Reason: e.Reason, NoKey: true})
		return nil
	}
	ring, err := l.target.ring(l.ctx, 0)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	_, err = must(l.ctx, ring, l.most, []byte("FUNCTION"), []byte("LOAD"), wordReplace, e.Value)
	switch judge(l.ctx, err) {
	case lost:
		head, _, _ := strings.Cut(string(e.Value), "\n")
		l.stats.lose(Loss{Key: head, Reason: fmt.Sprintf("functions %q: %v", head, err), NoKey: true})
	case failed, later:
		return fmt.Errorf("target: %w", err)
	}
	return nil
}
