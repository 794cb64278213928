package store

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/tuning"
)

// Config says how a Store is opened.
type Config struct {
	// Dir is the data directory; it is created if it does not exist.
	Dir string
	// Strategy and Hash name the token function. They are recorded when the
	// store is created, and must be the same ever after; see Replaceable.
	Strategy, Hash string
	// Replaceable allows a directory of another strategy or hash: if it has no key, it becomes one of
	// these.
	Replaceable bool
	// Used tells that the directory, if it is a store, has been open before: one without a
	// database is refused. Directories note it themselves since version 2 of the format.
	Used bool
	// Token is the function that they name.
	Token ring.TokenFunc
	// Fsync says what an acknowledged write has gone through; default everysec.
	Fsync Fsync
	// Cache is the size of the cache of hot values, in bytes; 0 for none.
	Cache int64
	// BlockCache is the size of Pebble's cache of table blocks, in bytes.
	BlockCache int64
	// MemTable is the size of one of Pebble's memtables, in bytes.
	MemTable int64
	// MinFreeDisk is the free space, in bytes, below which no writes are
	// accepted, so that there is room to end in good order; 0 for no check.
	MinFreeDisk int64
	// DamageGrace is for how long writes are still accepted after damage has been found that
	// keeps tables from being merged: for a [Store.DiscardRanges] to end it meanwhile. 0: they
	// are refused at once.
	DamageGrace time.Duration
	// ExpireFields removes up to so many fields whose time has come by the unit's Now from the hash v
	// at key, and returns how many: see package collection, which has one. Nil: none are removed.
	ExpireFields func(u *Unit, key []byte, v *Value, most int) (n int, err error)
	// Logger receives what an operator should know; default: discarded.
	Logger *slog.Logger
	// InMemory keeps everything in memory, so that nothing outlives the store: for one
	// that holds no data, such as a proxy's. Dir is then only a name.
	InMemory bool
	// FS is the file system; default: the operating system's. For tests.
	FS vfs.FS

	// healthPeriod is how often the store looks at the disk and tries to recover;
	// default: a second. For tests.
	healthPeriod time.Duration
	// mostDirty is how many bytes may be dirty; default: by the sizes of memtables and cache. For tests.
	mostDirty int64
	// closing bounds what Close does. For tests.
	closing closingLimits
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Fsync == "" {
		c.Fsync = FsyncEverySec
	}
	if c.BlockCache == 0 {
		c.BlockCache = 128 << 20
	}
	if c.MemTable == 0 {
		c.MemTable = tuning.MemTable
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.FS == nil {
		c.FS = vfs.Default
		if c.InMemory {
			c.FS = vfs.NewMem()
		}
	}
	if c.healthPeriod == 0 {
		c.healthPeriod = time.Second
	}
	c.closing.ensureDefaults(c.MemTable)
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("store: no data directory"))
	}
	if c.Token == nil {
		errs = append(errs, errors.New("store: no token function"))
	}
	switch c.Fsync {
	case FsyncAlways, FsyncEverySec, FsyncNo:
	default:
		errs = append(errs, fmt.Errorf("store: fsync %q is not one of always, everysec, no", c.Fsync))
	}
	for name, n := range map[string]int64{"cache": c.Cache, "block cache": c.BlockCache, "free disk space": c.MinFreeDisk} {
		if n < 0 {
			errs = append(errs, fmt.Errorf("store: %s of %d bytes is negative", name, n))
		}
	}
	if c.MemTable < 1<<20 || c.MemTable > 1<<30 {
		errs = append(errs, fmt.Errorf("store: memtable of %d bytes is not between 1 MiB and 1 GiB", c.MemTable))
	}
	return errors.Join(errs...)
}
