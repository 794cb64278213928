package store

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// The index of expiry times: one empty entry for each key with an expiry, under
//
//	kind | expiry 8 B BE, ms since 1970 | place | length of user key | user key
//
// in order of time. The header decides; an index entry whose header says otherwise
// (a range that was dropped whole leaves such) is only removed.

func expiryKey(dst []byte, at int64, p Place, key []byte) []byte {
	dst = append(dst, kindExpiry)
	dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	return appendPlacedKey(dst, p, key)
}

// An expiring is a key that the index says is due.
type expiring struct {
	place Place
	key   []byte
	at    int64 // 0: the index entry is not known
}

const (
	expireBatch  = 256
	expirePeriod = 100 * time.Millisecond
)

// expireDue removes what has expired, a batch at a time, and returns how many
// index entries it has worked off.
func (s *Store) expireDue(now int64) (int, error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{kindExpiry},
		UpperBound: binary.BigEndian.AppendUint64([]byte{kindExpiry}, uint64(now)+1),
	})
	if err != nil {
		return 0, s.readFailed(err)
	}
	var due []expiring
	for iter.First(); iter.Valid() && len(due) < expireBatch; iter.Next() {
		k := iter.Key()
		if len(k) < 9 {
			err = errLayout
			break
		}
		p, key, _, splitErr := splitPlacedKey(k[9:])
		if splitErr != nil {
			err = splitErr
			break
		}
		due = append(due, expiring{p, append([]byte(nil), key...), int64(binary.BigEndian.Uint64(k[1:]))})
	}
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return 0, s.readFailed(err)
	}
	if len(due) == 0 {
		return 0, nil
	}
	_, err = s.expireKeys(now, due, nil)
	return len(due), err
}

// expireKeys removes those of the given keys whose time has come. It returns the
// number of its commit; see settler.
func (s *Store) expireKeys(now int64, due []expiring, w Waiter) (uint64, error) {
	u := s.NewUnit()
	places := make([]Place, len(due))
	for i := range due {
		places[i] = due[i].place
	}
	u.Begin(now, places)
	for _, d := range due {
		// load removes an expired key by itself.
		h, err := u.load(d.place, d.key)
		if err != nil {
			u.Abort()
			return 0, err
		}
		if d.at != 0 && h.expiry != d.at {
			u.pbuf = expiryKey(u.pbuf[:0], d.at, d.place, d.key)
			_ = u.batched().Delete(u.pbuf, nil)
		}
	}
	_, err := u.Commit(w)
	return u.after, err
}

// expireLoop runs expireDue until the store is closed.
func (s *Store) expireLoop() {
	tick := time.NewTicker(expirePeriod)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		for s.Writable() == nil {
			n, err := s.expireDue(s.now())
			if err != nil {
				s.log.Error("remove expired keys", "err", err)
			}
			if err != nil || n < expireBatch || s.stopping() {
				break
			}
		}
	}
}
