package collection

import (
	"math"
	"math/rand/v2"
	"sync"
)

// Draws remember which members come next where they are popped at random, so that not every
// pop looks for a place of its own in a large table, nor comes by all that was popped there
// before: members are read some at a time, in the order of a scan, from a random place on,
// and shuffled. They may be gone by then, which is found out when they are popped.
//
// All methods may be called from any goroutine; what is drawn of a key, by whoever holds its
// latch.
type Draws struct {
	mu    sync.Mutex
	byKey map[string]*draw
}

// A draw is the members of one key that come next.
type draw struct {
	members [][]byte
	next    uint32 // the order to go on from
}

const (
	maxDraws     = 1024 // keys that are remembered
	drawnMembers = 128  // members that are read at a time,
	drawnBytes   = 16 << 10
)

// of returns the draw of a key.
func (d *Draws) of(key []byte) *draw {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found, ok := d.byKey[string(key)]; ok {
		return found
	}
	if d.byKey == nil {
		d.byKey = make(map[string]*draw)
	}
	for k := range d.byKey { // any
		if len(d.byKey) < maxDraws {
			break
		}
		delete(d.byKey, k)
	}
	begun := &draw{next: randomOrder()}
	d.byKey[string(key)] = begun
	return begun
}

func (d *Draws) forget(key []byte) {
	d.mu.Lock()
	delete(d.byKey, string(key))
	d.mu.Unlock()
}

// Pop removes a field at random and returns it; false if there is none. The field is valid
// until the unit ends. With an error nothing was changed.
func (t *Table) Pop(d *Draws) (field []byte, ok bool, err error) {
	if t.v.Whole() {
		if field, _, ok, err = t.Random(); err == nil && ok {
			_, err = t.Delete(field)
		}
		return field, ok, err
	}
	from := d.of(t.key)
	for rounds := 0; ; {
		for n := len(from.members); n > 0; n = len(from.members) {
			field, from.members = from.members[n-1], from.members[:n-1]
			if ok, err = t.Delete(field); ok || err != nil {
				if !t.v.Exists() {
					d.forget(t.key)
				}
				return field, ok, err
			}
		}
		if rounds++; rounds > 3 { // the end came twice
			return nil, false, nil
		}
		if err = from.read(t); err != nil {
			return nil, false, err
		}
	}
}

// PopSeveral is Pop for up to n different fields; with an error some may be gone.
func (t *Table) PopSeveral(d *Draws, n int64, yield func(field []byte)) error {
	if !t.v.Whole() && n*spread <= t.Len() {
		for ; n > 0; n-- {
			field, ok, err := t.Pop(d)
			if err != nil || !ok {
				return err
			}
			yield(field)
		}
		return nil
	}
	var fields [][]byte
	err := t.Sample(n, func(field, _ []byte) { fields = append(fields, append([]byte(nil), field...)) })
	for i := 0; err == nil && i < len(fields); i++ {
		if _, err = t.Delete(fields[i]); err == nil {
			yield(fields[i])
		}
	}
	return err
}

// read reads the next members; none at the end, behind which it goes on at the beginning.
func (d *draw) read(t *Table) error {
	size := 0
	d.members = nil
	ended, err := t.elements(d.next, func(order uint32, field, _ []byte) bool {
		if size += len(field); len(d.members) == drawnMembers || len(d.members) > 0 && size > drawnBytes {
			return false
		}
		d.members = append(d.members, append([]byte(nil), field...))
		d.next = order + 1 // the others of this order come in the next round
		return order < math.MaxUint32
	})
	if ended {
		d.next = 0
	}
	rand.Shuffle(len(d.members), func(i, j int) { d.members[i], d.members[j] = d.members[j], d.members[i] })
	return err
}
