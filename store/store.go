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

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/engine"
	"github.com/ringside-kv/ringside/store/internal/files"
	"github.com/ringside-kv/ringside/store/internal/gather"
	"github.com/ringside-kv/ringside/store/internal/generation"
	"github.com/ringside-kv/ringside/store/internal/identity"
	"github.com/ringside-kv/ringside/store/internal/keyevent"
	"github.com/ringside-kv/ringside/store/internal/keyversion"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pin"
	"github.com/ringside-kv/ringside/store/internal/readtime"
	"github.com/ringside-kv/ringside/store/internal/recall"
	"github.com/ringside-kv/ringside/store/internal/reclaim"
	"github.com/ringside-kv/ringside/store/internal/stall"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
	"github.com/ringside-kv/ringside/store/internal/tap"
	"github.com/ringside-kv/ringside/store/internal/wal"
)

// A Store is an open data directory. All its methods may be called from any
// goroutine.
type Store struct {
	cfg   Config
	token ring.TokenFunc
	log   *slog.Logger

	identity identity.Keeper

	lock   io.Closer // of the directory
	db     *gather.DB
	blocks *pebble.Cache
	wal    *wal.Log
	files  *files.PebbleFS
	syncs  *syncqueue.Queue
	// onChange is told of what changes; see OnChange.
	onChange atomic.Pointer[ChangeSink]
	cache    *cache.Cache
	recall   recall.Cache
	latches  latch.Table
	// versions count changes of keys that are watched.
	versions keyversion.Counters
	counts   counts.Counts

	// commits is held for reading by every commit to Pebble (beginCommit): from
	// the choice of a journal entry's term until the counts agree with it.
	commits sync.RWMutex
	// checkpoints is held while the counts are written or set to zero as a
	// whole; it comes before the latches.
	checkpoints sync.Mutex
	generations generation.Counter

	pins   pin.Set
	taps   tap.Registry
	events keyevent.Queue

	passive   layout.TokenSet
	passiveMu sync.Mutex // serializes changes of passive
	followed  followed

	// The parts of the store that are types of their own; each has its file. What they export are
	// methods of the store.
	health
	loads
	readTime
	scanner
	digests
	discarder
	dropper     rangeDropper
	gate        *stall.Gate // of all commits
	cleaner     *cleaner.Cleaner
	expirer     expirer
	housekeeper housekeeper
	logKeeper   logKeeper
	reclaim     *reclaim.Reclaimer

	stop    chan struct{}
	written chan struct{} // closed once Close writes no tables any more
	loops   sync.WaitGroup
	closing atomic.Bool

	openedAt time.Time
	// skew is added to the wall clock; for tests.
	skew atomic.Int64
}

type readTime = readtime.Average

// Open opens a data directory, or creates it. The caller must Close the store.
func Open(cfg Config) (*Store, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Store{
		cfg:      cfg,
		token:    database.TokenFunc(cfg.Token),
		log:      cfg.Logger,
		stop:     make(chan struct{}),
		written:  make(chan struct{}),
		openedAt: time.Now(),
	}
	s.taps.SetCommits(&s.commits)
	s.pins.Commits = &s.commits
	s.health.init(&s.cfg)
	s.reclaim = s.newReclaimer()
	s.health.reclaim = s.reclaim
	s.loads.s, s.scanner.s, s.digests.s, s.discarder.s = s, s, s, s
	s.dropper.s, s.expirer.s, s.housekeeper.s = s, s, s
	s.logKeeper = logKeeper{s, make(chan struct{}, 1), make(chan struct{}, 1)}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open %s: %w", cfg.Dir, err)
	}
	return s, nil
}

func (s *Store) open() (err error) {
	fs := s.cfg.FS
	logDir := fs.PathJoin(s.cfg.Dir, "log")
	// Before anything is created: the directory may belong to another program.
	if _, _, err := s.recognizeDir(); err != nil {
		return err
	}
	if err := files.MakeDir(fs, logDir); err != nil {
		return err
	}
	lock, err := identity.Lock(fs, s.cfg.Dir)
	if err != nil {
		return err
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
	// Once more: the process that had the lock before may have created the store.
	id, known, err := s.recognizeDir()
	if err == nil {
		id, err = identity.Ensure(s.cfg.place(), id, known)
	}
	if err != nil {
		return err
	}
	s.identity.Open(s.cfg.place(), id)
	s.counts.OnRemoved(s.reclaim.Remove)
	if err := s.logKeeper.open(logDir); err != nil {
		return err
	}
	undo = append(undo, func() { _ = s.wal.Close() })
	s.files = files.ForPebble(fs, logDir, s.wal.Sync, s.written)
	s.health.files = s.files
	s.blocks = pebble.NewCache(s.cfg.BlockCache)
	undo = append(undo, s.blocks.Unref)
	db, err := engine.Open(engine.Config{
		FS: s.files, Dir: s.cfg.Dir, Used: known && (id.Opened || s.cfg.Used), Blocks: s.blocks, MemTable: s.cfg.MemTable,
		Listener: s.health.listener(), Log: s.log, OnFatal: s.health.noteFatal, Failed: s.health.openFailed,
	})
	if err != nil {
		if s.files.IsParked() {
			undo = nil
		}
		return err
	}
	undo = append(undo, func() { _ = db.Close() })
	s.gate = stall.NewGate(s.health.stallConfig(db, s.stop))
	undo = append(undo, s.gate.Close)
	s.db = gather.New(db, s.cfg.MemTable, s.gate, s.health.fatal)
	if err := s.logKeeper.replay(); err != nil {
		return err
	}
	s.recordOpened()
	if err = errors.Join(s.counts.Load(db, s.identity.HasFieldTimes()), s.generations.Load(db)); err != nil {
		return err
	}
	if s.cache, err = cache.New(s.cfg.Cache); err != nil {
		return fmt.Errorf("cache of %d bytes: %w", s.cfg.Cache, err)
	}
	undo = append(undo, s.cache.Close)
	s.cleaner = s.newCleaner()
	empty, err := s.scanner.isEmpty()
	if err != nil {
		return err
	}
	if err = s.identity.Place(empty); err != nil {
		return err
	}
	if empty {
		s.cache.SetComplete()
	}
	s.housekeeper.garbage.Store(1) // a crash may have left some
	s.expirer.sweepPending.Store(true)
	s.syncs = syncqueue.New(s.wal.Failed, s.logKeeper.write)
	for _, loop := range []func(){s.healthLoop, s.tickLoop, s.expirer.loop, s.housekeeper.loop, s.logKeeper.loop, s.cleaner.Run, s.loads.countTimed,
		func() { s.reclaim.Run(db) }, func() { s.db.Run(s.stop) }} {
		s.loops.Add(1)
		go func() {
			defer s.loops.Done()
			loop()
		}()
	}
	if err := s.discarder.resumeDiscards(); err != nil {
		s.log.Error("deleting damaged ranges failed", "err", err)
	}
	return nil
}

// recognizeDir returns what the directory was created as, known false if it may become
// a store, or an error if it is anything else.
func (s *Store) recognizeDir() (id Identity, known bool, err error) {
	id, known, err = identity.Read(s.cfg.FS, s.cfg.Dir)
	if err != nil {
		return id, known, err
	}
	if known {
		return id, true, id.Check(s.cfg.place())
	}
	return id, false, identity.CheckVacant(s.cfg.place())
}

// Identity returns what the store was created as.
func (s *Store) Identity() Identity { return s.identity.Identity() }

// Fatal is closed when the storage engine has stopped for good.
func (s *Store) Fatal() <-chan struct{} { return s.health.fatal }

func (s *Store) now() int64 { return time.Now().UnixMilli() + s.skew.Load() }

// Now is the time by which keys expire at this moment, in ms since 1970: for [Unit.Begin].
func (s *Store) Now() int64 { return s.now() }

// SetSkew has Now be ahead of the clock on the wall: for tests of clocks that are set.
func (s *Store) SetSkew(ahead time.Duration) { s.skew.Store(ahead.Milliseconds()) }

func (s *Store) isStopping() bool { return s.closing.Load() }
