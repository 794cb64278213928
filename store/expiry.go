package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// expirer removes keys whose time has come, and entries of the index (see [layout.AppendExpiryKey]) that are wrong.
type expirer struct {
	s             *Store
	expired       atomic.Int64 // keys removed since the store was opened
	expiredFields atomic.Int64
	rescan        atomic.Bool // expired keys may lie in what the loop has passed
	off           atomic.Bool // see [Store.SetActiveExpiry]
	// sweepPending: the index holds entries of dropped ranges.
	sweepPending atomic.Bool
	// unfinished are hashes that have more fields to remove than went at a time.
	unfinished []expiring
}

// An expiring is a key that the index says is due.
type expiring struct {
	place Place
	key   []byte
	at    int64 // 0: the index entry is not known
	more  bool  // fields are left that are due
}

const (
	expireBatch  = 256
	expirePeriod = 100 * time.Millisecond
	// expireAgain is how many periods the index is worked off from where the last
	// batch has ended. What was removed before costs every look at it, until a
	// compaction; an expiry that was in the past when it was set has to wait.
	expireAgain = 100
)

// expireDue removes what has expired, a batch at a time, from an entry of the
// index on. It returns how many entries it has worked off, and where to go on.
func (x *expirer) expireDue(now int64, from []byte) (n int, next []byte, err error) {
	background.Yield()
	iter, err := x.s.db.NewIter(&pebble.IterOptions{
		LowerBound: from,
		UpperBound: binary.BigEndian.AppendUint64([]byte{layout.KindExpiry}, uint64(now)+1),
	})
	if err != nil {
		return 0, from, x.s.readFailed(err)
	}
	var due []expiring
	next = from
	for iter.First(); iter.Valid() && n < expireBatch; iter.Next() {
		k := iter.Key()
		at, p, key, splitErr := layout.SplitExpiryKey(k)
		if err = splitErr; err != nil {
			break
		}
		if n++; !x.s.passive.Contains(p.Token()) { // the others wait for their primary
			due = append(due, expiring{place: p, key: append([]byte(nil), key...), at: at})
		}
		next = append(next[:0:0], k...)
	}
	if n > 0 {
		next = append(next, 0)
	}
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return 0, from, x.s.readFailed(err)
	}
	if len(due) == 0 {
		return n, next, nil
	}
	if _, err = x.expireKeys(now, due, nil); err != nil {
		return 0, from, err
	}
	for i := range due {
		switch {
		case !due[i].more:
		case len(x.unfinished) < maxUnfinished:
			x.unfinished = append(x.unfinished, due[i])
		default:
			x.rescan.Store(true)
		}
	}
	return n, next, nil
}

// maxUnfinished bounds how many hashes are gone on with; others are found in the index again.
const maxUnfinished = 1024

// expireUnfinished removes some fields of each hash that had more of them, one after the other, for a period at most.
// The expirer rests in between, unless the removal is late or the disk short of space: no command shows fields that are
// due, and requests need the processors.
func (x *expirer) expireUnfinished(now int64) error {
	var errs []error
	began := time.Now()
	for range len(x.unfinished) {
		d := []expiring{x.unfinished[0]}
		d[0].more = false
		x.unfinished = x.unfinished[1:]
		background.Yield()
		start := time.Now()
		_, err := x.expireKeys(now, d, nil)
		if err != nil {
			errs = append(errs, err)
		} else if d[0].more {
			x.unfinished = append(x.unfinished, d[0])
		}
		if late := now - d[0].at; late < restUntil.Milliseconds() && x.s.Writable() == nil {
			background.Rest(restParts*time.Since(start), x.s.stop)
		}
		if time.Since(began) > expirePeriod || x.s.isStopping() {
			break
		}
	}
	return errors.Join(errs...)
}

const (
	// restParts is how many times as long as the removal of fields took the expirer rests: so that takes an eighth of
	// a processor.
	restParts = 7
	// restUntil is how late the removal of fields may be before it rests no more.
	restUntil = 30 * time.Minute
)

// expireKeys removes those of the given keys whose time has come, and fields of hashes, not many in
// all. It returns the number of its commit; see package syncqueue.
func (x *expirer) expireKeys(now int64, due []expiring, w Waiter) (uint64, error) {
	u := x.s.NewUnit()
	u.peeking, u.excludesReceivers = true, true
	places := make([]Place, len(due))
	for i := range due {
		places[i] = due[i].place
	}
	u.Begin(now, places)
	u.RemovesOnly()
	expired, expiredFields, left := int64(0), int64(0), fieldBatch
	for i := range due {
		gone, fields, err := u.expire(&due[i], left)
		if err != nil {
			u.Abort()
			return 0, err
		}
		if gone {
			expired++
		}
		expiredFields += int64(fields)
		left -= min(left, fields)
	}
	_, err := u.Commit(w)
	if err == nil {
		x.expired.Add(expired)
		x.expiredFields.Add(expiredFields)
	}
	return u.after, err
}

// expire removes a key whose time has come, or up to so many of its fields, or else an index entry
// that is wrong.
func (u *Unit) expire(d *expiring, most int) (gone bool, fields int, err error) {
	var h layout.Header
	l := &u.s.latches[latch.Of(d.place)]
	u.noteRead(l, d.place)
	again := false // it may be due twice
	if c := u.find(d.place, d.key); c != nil {
		if again = true; c.line != nil {
			err = h.Parse(c.line)
		}
	} else if line, _, ok, readErr := u.read(l, d.place, d.key); readErr != nil {
		err = readErr
	} else if ok {
		err = h.Parse(line)
	}
	if err != nil {
		return false, 0, fmt.Errorf("expire key: %w", err)
	}
	if !again && !u.s.passive.Contains(d.place.Token()) {
		switch {
		case h.Expired(u.now):
			u.remove(d.place, d.key, &h)
			u.Note(EventExpired, "expired", d.key)
			gone = true
		case h.HasDueFields(u.now):
			if fields, d.more, err = u.expireFields(d.place, d.key, &h, most); err != nil {
				return false, fields, fmt.Errorf("expire fields: %w", err)
			}
		}
	}
	if d.at != 0 && h.Expiry != d.at && h.FieldExpiry != d.at && fields == 0 {
		u.pbuf = layout.AppendExpiryKey(u.pbuf[:0], d.at, d.place, d.key)
		_ = u.ensureBatch().Delete(u.pbuf, nil)
	}
	return gone, fields, nil
}

// SetActiveExpiry says whether the store removes by itself what has expired, as it does unless told otherwise, or only
// what a command finds: for tests of applications.
func (s *Store) SetActiveExpiry(on bool) {
	if s.expirer.off.Store(!on); on {
		s.expirer.rescan.Store(true)
	}
}

// loop runs expireDue until the store is closed.
func (x *expirer) loop() {
	tick := time.NewTicker(expirePeriod)
	defer tick.Stop()
	var from []byte
	for period := 0; ; period++ {
		select {
		case <-x.s.stop:
			return
		case <-tick.C:
		}
		if x.off.Load() {
			continue
		}
		if period%expireAgain == 0 || x.rescan.Swap(false) {
			from = []byte{layout.KindExpiry}
		} else if x.s.counts.Total().Expires == 0 && !x.s.identity.HasFieldTimes() {
			continue // the index holds nothing but entries of dropped ranges, which can wait
		}
		for !x.off.Load() && x.s.AcceptsRemovals() == nil {
			var n int
			var err error
			n, from, err = x.expireDue(x.s.now(), from)
			if len(x.unfinished) > 0 {
				err = errors.Join(err, x.expireUnfinished(x.s.now()))
			}
			if err != nil {
				x.s.log.Error("deleting what has expired failed", "err", err)
			}
			if err != nil || n < expireBatch && len(x.unfinished) == 0 || x.s.isStopping() {
				break
			}
		}
	}
}
