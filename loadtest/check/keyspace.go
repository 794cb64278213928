package check

import (
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// stripes is how many locks keys have, together.
	stripes = 1024
	// Keys below pagedKeys lie in pages of pageKeys, which are found without a search:
	// that halves what a command costs. Others are in maps.
	pagedKeys = 1 << 22
	pageKeys  = 64
)

// A keyspace has all keys. Each is protected by the lock of its stripe.
type keyspace struct {
	stripes [stripes]stripe
	pages   [pagedKeys / pageKeys]atomic.Pointer[[pageKeys]key]
}

type stripe struct {
	mu   sync.Mutex
	keys map[int64]*key
}

func (s *keyspace) stripe(number int64) *stripe {
	// Neighbours go to different stripes, and so do keys a power of two apart.
	return &s.stripes[uint64(number)*0x9e3779b97f4a7c15>>54]
}

// find needs the stripe's lock. It returns nil if nobody has begun to write the key, or, if
// somebody does now, a new one.
func (s *keyspace) find(number int64, writes bool) *key {
	if number < 0 || number >= pagedKeys {
		return s.search(number, writes)
	}
	at := &s.pages[number/pageKeys]
	page := at.Load()
	if page == nil {
		if !writes {
			return nil
		}
		page = new([pageKeys]key)
		if !at.CompareAndSwap(nil, page) {
			page = at.Load() // by one that has another stripe
		}
	}
	k := &page[number%pageKeys]
	if !k.known {
		if !writes {
			return nil
		}
		k.init()
	}
	return k
}

func (s *keyspace) search(number int64, writes bool) *key {
	keys := s.stripe(number).keys
	k := keys[number]
	if k == nil && writes {
		k = new(key)
		k.init()
		keys[number] = k
	}
	return k
}

// all are the numbers of all keys that somebody has begun to write, in order.
func (s *keyspace) all() []int64 {
	var numbers []int64
	for p := range s.pages {
		page := s.pages[p].Load()
		if page == nil {
			continue
		}
		for i := range page {
			number := int64(p*pageKeys + i)
			lock := s.stripe(number)
			lock.mu.Lock()
			known := page[i].known
			lock.mu.Unlock()
			if known {
				numbers = append(numbers, number)
			}
		}
	}
	for i := range s.stripes {
		lock := &s.stripes[i]
		lock.mu.Lock()
		for number := range lock.keys {
			numbers = append(numbers, number)
		}
		lock.mu.Unlock()
	}
	slices.Sort(numbers)
	return numbers
}
