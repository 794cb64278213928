package store

import (
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// What units do with dirty lines: see package cleaner.

// mayStayDirty reports whether a change of a unit need not reach Pebble with its unit.
func (c *change) mayStayDirty(u *Unit) bool {
	return c.base == 0 && c.gen == 0 && !u.copying && u.s.cache.MayBeDirty(c.key, c.line)
}

// dirtyLimit is how many bytes of a cache may be dirty.
func (c *Config) dirtyLimit(cache int64) int64 {
	if c.mostDirty > 0 {
		return c.mostDirty
	}
	return min(2*c.MemTable, cache/4)
}

func (s *Store) newCleaner() *cleaner.Cleaner {
	return cleaner.New(cleaner.Config{
		DB: s.db, Cache: s.cache, Commits: &s.commits, Limit: s.cfg.dirtyLimit(s.cache.Size()), Refusals: &s.health.refusals,
		Fatal: s.health.fatal, Log: s.log, Stop: s.stop,
	})
}

// cacheHeaders brings the cache up to date with the headers. What it has no room for as a dirty line goes to
// Pebble.
func (s *Store) cacheHeaders(u *Unit) error {
	for i := range u.changes {
		c := &u.changes[i]
		if c.dirty {
			if s.cache.PutDirty(c.place, c.key, c.line, !u.noTouch) {
				continue
			}
			if err := c.writeHeader(s); err != nil {
				return err
			}
		}
		switch {
		case c.line == nil:
			s.cache.Remove(c.place, c.key)
		case u.copying:
			s.cache.Refresh(c.place, c.key, c.line)
		case u.noTouch:
			s.cache.PutUntouched(c.place, c.key, c.line)
		default:
			s.cache.Put(c.place, c.key, c.line)
		}
	}
	for _, use := range u.set {
		s.cache.SetUsage(use.place, use.key, use.Usage)
	}
	return nil
}

// writeHeader writes the header of a change, which the log has, to Pebble.
func (c *change) writeHeader(s *Store) error {
	b := s.db.NewBatch()
	k := layout.AppendDataPrefix(nil, c.place, c.key)
	if c.line == nil {
		_ = b.Delete(k, nil)
	} else {
		_ = b.Set(k, c.line, nil)
	}
	if err := s.db.Add(b); err != nil {
		return s.health.applyFailed(err)
	}
	return b.Close()
}
