package recall

import "sync"

// A Cache is what has been made of elements of collections, by the generation of each, for
// those who would have to make it again. It says nothing of whether it is still true: who
// remembers something sees to it that he can tell. Its methods may be called from any
// goroutine.
type Cache struct {
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

// Get returns what was put last for a generation, or nil.
func (r *Cache) Get(gen uint64) any {
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

// Put keeps something, of about so many bytes, for a generation.
func (r *Cache) Put(gen uint64, what any, bytes int) {
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
