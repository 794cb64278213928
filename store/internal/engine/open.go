package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/files"
	"github.com/ringside-kv/ringside/store/internal/tuning"
	"github.com/ringside-kv/ringside/store/internal/wal"
)

// Config says how a database is opened.
type Config struct {
	FS  *files.PebbleFS
	Dir string // of the store; data/ and log/ lie in it
	// Used tells that the directory has had a database: it is not made anew.
	Used     bool
	Blocks   *pebble.Cache
	MemTable int64 // size of a memtable in bytes
	Listener *pebble.EventListener
	Log      *slog.Logger
	// OnFatal is called with the reason when Pebble stops for good, maybe more than once.
	OnFatal func(error)
	// Failed has an error once tables could not be written again and again.
	Failed <-chan error
}

// Open opens the database of a store. What is in memtables is written to tables
// meanwhile, and Pebble would try that until it succeeds; after a few errors it ends
// here, and leaves a goroutine and the lock of the directory behind. An error wraps [damage.Err] if the
// directory does not have what was in it.
func Open(cfg Config) (*pebble.DB, error) {
	dir := cfg.FS.PathJoin(cfg.Dir, "data")
	hasFiles, err := hasData(cfg.FS, dir, cfg.FS.PathJoin(cfg.Dir, "log"))
	if err != nil {
		return nil, err
	}
	if cfg.Used && !hasFiles {
		return nil, fmt.Errorf("%w: the store has been in use, but its tables and logs are gone: "+
			"mount the file system that they lie on, if it is not mounted, or restore the directory from a copy; "+
			"to give up what was in it, start with an empty directory "+
			"(RING RECREATE then makes the ranges anew that no other node of the cluster has)", damage.Err)
	}
	fatal := make(chan error, 1)
	opts := options(cfg, fatal)
	opts.ErrorIfNotExists = cfg.Used || hasFiles
	type result struct {
		db  *pebble.DB
		err error
	}
	opened := make(chan result, 1)
	go func() {
		db, err := pebble.Open(dir, opts)
		opened <- result{db, err}
	}()
	select {
	case r := <-opened:
		if isDamage(r.err) {
			return nil, fmt.Errorf("%w: %s: %w", damage.Err, damage.Cure, r.err)
		}
		return r.db, r.err
	case err := <-cfg.Failed:
		select {
		case r := <-opened: // it was something in the background
			return r.db, r.err
		default:
		}
		cfg.FS.Park()
		return nil, fmt.Errorf("write tables: %w", err)
	case err := <-fatal:
		cfg.FS.Park()
		return nil, err
	}
}

// hasData reports whether there are tables, their manifest or logs. Pebble would take a directory
// that lost the name of its manifest for a new one, and delete them.
func hasData(fs *files.PebbleFS, dirs ...string) (bool, error) {
	for _, dir := range dirs {
		names, err := fs.FS.List(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, wal.Suffix) ||
				strings.HasPrefix(name, "marker.manifest.") {
				return true, nil
			}
		}
	}
	return false, nil
}

// isDamage reports whether an error of pebble.Open means that something in the
// directory is not as Pebble left it.
func isDamage(err error) bool {
	return err != nil && (pebble.IsCorruptionError(err) ||
		errors.Is(err, pebble.ErrDBDoesNotExist) || errors.Is(err, os.ErrNotExist) ||
		// Pebble gives this one no identity.
		strings.Contains(err.Error(), "object size mismatch"))
}

// relativeWALDir is the directory of logs in the form of pebble.MakeStoreRelativePath,
// which itself would drop the "..". Pebble stores it in its options.
const relativeWALDir = "{store_path}/../log"

func options(cfg Config, fatal chan<- error) *pebble.Options {
	opts := &pebble.Options{
		Cache:         cfg.Blocks,
		FS:            cfg.FS,
		WALDir:        relativeWALDir,
		DisableWAL:    true,
		Logger:        logger{cfg.Log, fatal, cfg.OnFatal},
		EventListener: cfg.Listener,
	}
	// The logs lie beside the tables. The path that version 1 of the format has in its
	// options may be that of another directory by now, whose logs are none of this store's.
	opts.Unsafe.AllowMissingWALDirs = true
	tuning.Set(opts, cfg.MemTable)
	return opts
}

// logger passes Pebble's messages on.
type logger struct {
	log     *slog.Logger
	fatal   chan<- error // for Open
	onFatal func(error)
}

// Infof implements pebble.Logger.
func (l logger) Infof(format string, args ...any) {
	l.log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

// Errorf implements pebble.Logger.
func (l logger) Errorf(format string, args ...any) {
	l.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger. Pebble calls it where it cannot go on, holding
// locks, and does not expect it to return. Reads do not need those locks; so the
// goroutine stops here, writes are refused, and everything acknowledged is there
// after a restart.
func (l logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("storage engine stopped, restart needed: %s", fmt.Sprintf(format, args...))
	l.onFatal(err)
	select {
	case l.fatal <- err:
	default: // it has one
	}
	select {}
}
