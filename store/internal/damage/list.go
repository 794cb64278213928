package damage

import (
	"encoding/binary"
	"sync"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A List is where damaged tables have been found. Any goroutine may call its methods.
type List struct {
	mu        sync.Mutex
	intervals []layout.Interval // in order, with gaps between them
}

// Add notes that there is damage in a table with such bounds: its first key in Pebble, and its
// last.
func (l *List) Add(first, last []byte) {
	st := layout.Interval{First: 0, Last: ^layout.Place(0)}
	switch {
	case len(first) == 0 || len(last) == 0 || first[0] > layout.KindData || last[0] < layout.KindData:
		return // nothing of a range
	case first[0] == layout.KindData && len(first) > layout.PlaceSize:
		st.First = layout.Place(binary.BigEndian.Uint64(first[1:]))
	}
	if last[0] == layout.KindData && len(last) > layout.PlaceSize {
		st.Last = layout.Place(binary.BigEndian.Uint64(last[1:]))
	}
	st.First, st.Last = st.First&^(1<<32-1), st.Last|(1<<32-1) // whole tokens
	l.mu.Lock()
	defer l.mu.Unlock()
	l.intervals = layout.Union(append(l.intervals, st))
}

// Remove notes that there is none in an interval.
func (l *List) Remove(st layout.Interval) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.intervals = layout.Without(l.intervals, st)
}

// Ranges returns the ranges of the damaged tables.
func (l *List) Ranges() (ranges []ring.Range) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, st := range l.intervals {
		ranges = append(ranges, ring.Range{Start: st.First.Token(), End: st.Last.Token() + 1})
	}
	return ranges
}
