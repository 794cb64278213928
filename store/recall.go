package store

import "sync"

// A recall is what has been made of elements of collections, by the generation of each, for
// those who would have to make it again. It says nothing of whether it is still true: who
// remembers something sees to it that he can tell. Its methods may be called from any
// goroutine.
type recall struct {
	mu    sync.Mutex
	all   map[uint64]recalled
	bytes int
	now   uint64 // rises with each use
}

type recalled struct {
	what  any
	bytes int
	used  uint64
}

// maxRecall is how many bytes are remembered at most.
const maxRecall = 8 << 20

func (r *recall) get(gen uint64) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.all[gen]
	if !ok {
		return nil
	}
	r.now++
	e.used = r.now
	r.all[gen] = e
	return e.what
}

func (r *recall) put(gen uint64, what any, bytes int) {
	if bytes > maxRecall {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[uint64]recalled)
	}
	r.now++
	r.bytes += bytes - r.all[gen].bytes
	r.all[gen] = recalled{what, bytes, r.now}
	for r.bytes > maxRecall {
		oldest, found := recalled{used: r.now}, uint64(0)
		for gen, e := range r.all {
			if e.used < oldest.used {
				oldest, found = e, gen
			}
		}
		r.bytes -= oldest.bytes
		delete(r.all, found)
	}
}

// Recall returns what was remembered last of the collection that v is, or nil. It may be of an
// earlier state, or of one that never came about.
func (u *Unit) Recall(v *Value) any { return u.s.recall.get(v.gen) }

// Remember keeps something, of about so many bytes, that nobody changes any more, for Recall
// with the same collection; it may be forgotten at any time.
func (u *Unit) Remember(v *Value, what any, bytes int) { u.s.recall.put(v.gen, what, bytes) }
