package store

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/ringside-kv/ringside/ring"
)

// A Store is an open data directory. All its methods may be called from any
// goroutine.
type Store struct {
	cfg      Config
	identity Identity
	token    ring.TokenFunc
	log      *slog.Logger

	lock    io.Closer // of the directory
	db      *pebble.DB
	blocks  *pebble.Cache
	wal     *walFS
	settler *settler
	cache   *cache
	latches latches
	counts  counts

	// commits is held for reading from the choice of a journal entry's term
	// until the counts agree with it.
	commits sync.RWMutex
	// checkpoints is held while the counts are written or set to zero as a
	// whole; it comes before the latches.
	checkpoints sync.Mutex
	generations generations
	garbage     atomic.Int64 // generations named as garbage since the last look

	refusal   atomic.Pointer[error]
	troubleMu sync.Mutex
	troubles  [troubleCount]error
	fatal     chan struct{} // closed by Fatalf
	fatalOnce sync.Once

	stop    chan struct{}
	loops   sync.WaitGroup
	closing atomic.Bool

	expired     atomic.Int64
	commitCount atomic.Int64
	stalls      atomic.Int64
	openedAt    time.Time
	// skew is added to the wall clock; for tests.
	skew atomic.Int64
}

// Open opens a data directory, or creates it. The caller must Close the store.
func Open(cfg Config) (*Store, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Store{
		cfg:      cfg,
		token:    cfg.Token,
		log:      cfg.Logger,
		stop:     make(chan struct{}),
		fatal:    make(chan struct{}),
		openedAt: time.Now(),
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open %s: %w", cfg.Dir, err)
	}
	return s, nil
}

func (s *Store) open() (err error) {
	fs := s.cfg.FS
	logDir := fs.PathJoin(s.cfg.Dir, "log")
	if err := makeDir(fs, logDir); err != nil {
		return err
	}
	id, known, err := readIdentity(fs, s.cfg.Dir)
	if err != nil {
		return err
	}
	if known {
		if err := id.check(&s.cfg); err != nil {
			return err
		}
	}
	// Before anything is read: whoever has the lock may be writing.
	lock, err := fs.Lock(fs.PathJoin(s.cfg.Dir, "LOCK"))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInUse, err)
	}
	s.lock = lock
	undo := []func(){func() { _ = lock.Close() }}
	defer func() {
		if err != nil {
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()
	if !known {
		if id, err = s.create(); err != nil {
			return err
		}
	}
	s.identity = id
	s.wal = newWALFS(fs, logDir, s.cfg.Fsync, func(err error) { s.trouble(troubleLog, err) })
	s.wal.lastSync.Store(s.openedAt.UnixNano())
	undo = append(undo, s.wal.close)
	extra, err := s.wal.verify()
	if err != nil {
		return err
	}
	if extra > 0 {
		s.log.Info("recovering writes that were acknowledged before their fsync", "bytes", extra)
	}
	s.blocks = pebble.NewCache(s.cfg.BlockCache)
	undo = append(undo, s.blocks.Unref)
	if s.db, err = pebble.Open(fs.PathJoin(s.cfg.Dir, "data"), s.options()); err != nil {
		if pebble.IsCorruptionError(err) {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return err
	}
	undo = append(undo, func() { _ = s.db.Close() })
	if err = errors.Join(s.counts.load(s.db), s.generations.load(s.db)); err != nil {
		return err
	}
	if s.cache, err = newCache(s.cfg.Cache); err != nil {
		return fmt.Errorf("cache of %d bytes: %w", s.cfg.Cache, err)
	}
	s.garbage.Store(1) // a crash may have left some
	s.settler = newSettler(s.wal, func() error { return s.db.LogData(nil, pebble.Sync) })
	for _, loop := range []func(){s.healLoop, s.expireLoop, s.housekeepingLoop} {
		s.loops.Add(1)
		go func() {
			defer s.loops.Done()
			loop()
		}()
	}
	return nil
}

// create makes the directory a store, unless it holds something else.
func (s *Store) create() (Identity, error) {
	names, err := s.cfg.FS.List(s.cfg.Dir)
	if err != nil {
		return Identity{}, err
	}
	for _, name := range names {
		switch name {
		case "log", "LOCK", formatFile + ".new":
		default:
			return Identity{}, fmt.Errorf("%w: it holds %q but no %s file: not an empty directory, and not one of Ringside's",
				ErrFormat, name, formatFile)
		}
	}
	return writeIdentity(&s.cfg)
}

// options are what measurements on two cores made of Pebble's settings: see
// DESIGN.md in this folder.
func (s *Store) options() *pebble.Options {
	opts := &pebble.Options{
		Cache:                       s.blocks,
		FS:                          s.wal,
		WALDir:                      s.wal.dir,
		Logger:                      pebbleLogger{s},
		EventListener:               s.listener(),
		FormatMajorVersion:          pebble.FormatColumnarBlocks,
		MemTableSize:                uint64(s.cfg.MemTable),
		MemTableStopWritesThreshold: 8,
		L0CompactionThreshold:       12,
		L0StopWritesThreshold:       48,
		LBaseMaxBytes:               256 << 20,
		MaxOpenFiles:                4096,
		WALBytesPerSync:             512 << 10,
		BytesPerSync:                1 << 20,
	}
	for i := range opts.Levels {
		l := &opts.Levels[i]
		l.BlockSize = 16 << 10
		l.IndexBlockSize = 256 << 10
		l.FilterPolicy = bloom.FilterPolicy(10)
		l.FilterType = pebble.TableFilter
	}
	return opts
}

// Identity returns what the store was created as.
func (s *Store) Identity() Identity { return s.identity }

// Fsync returns what an acknowledged write has gone through.
func (s *Store) Fsync() Fsync { return s.cfg.Fsync }

// LastSync returns when everything that had been written until then was last known to
// be on stable storage.
func (s *Store) LastSync() time.Time { return time.Unix(0, s.wal.lastSync.Load()) }

// Fatal is closed when the storage engine has stopped for good.
func (s *Store) Fatal() <-chan struct{} { return s.fatal }

func (s *Store) now() int64 { return time.Now().UnixMilli() + s.skew.Load() }

func (s *Store) stopping() bool { return s.closing.Load() }

// Close ends the store: what has been committed is made durable, whatever the
// fsync mode. All units must have ended.
func (s *Store) Close() error {
	if s.closing.Swap(true) {
		return ErrClosed
	}
	close(s.stop)
	s.loops.Wait()
	s.settler.close()
	s.wal.tick()
	select {
	case <-s.fatal:
		// A goroutine of Pebble's holds its locks for ever; see Fatalf.
		return fmt.Errorf("close %s: %w", s.cfg.Dir, s.Writable())
	default:
	}
	err := s.wal.failed()
	if err == nil {
		err = s.checkpointCounts()
	}
	s.trouble(troubleShutdown, ErrClosed)
	err = errors.Join(err, s.db.Close())
	s.wal.close()
	s.blocks.Unref()
	s.cache.close()
	err = errors.Join(err, s.lock.Close())
	if err != nil {
		return fmt.Errorf("close %s: %w", s.cfg.Dir, err)
	}
	return nil
}
