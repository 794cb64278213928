package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/ring"
)

// How a memory is compared, and damaged.

// spoil changes what lies here behind everybody's back.
func (m *memory) spoil(key string, value *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value == nil {
		delete(m.data, key)
		return
	}
	m.data[key] = *value
}

// damage lets a key be read no more, until it is discarded.
func (m *memory) damage(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bad = append(m.bad, key)
}

// hide damages a key that is removed, which a merge of tables comes across.
func (m *memory) hide(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hidden = append(m.hidden, key)
	m.seen = append(m.seen, ring.Range{Start: tokenOf(key), End: tokenOf(key) + 1})
}

func (m *memory) discarded() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.discards
}

// readable fails if a key of a range is damaged; mu is held.
func (m *memory) readable(r ring.Range) error {
	for _, key := range m.bad {
		if r.Contains(tokenOf(key)) {
			m.seen = append(m.seen, r)
			return fmt.Errorf("%w: %s", scrub.ErrDamaged, key)
		}
	}
	return nil
}

func (m *memory) Digest(r ring.Range, from []byte, entries int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.readable(r); err != nil {
		return nil, err
	}
	d := memoryDigest{From: string(from), Has: make(map[string]int)}
	for _, key := range m.in(r) {
		if key < string(from) {
			continue
		}
		if entries--; entries < 0 {
			d.To = key
			break
		}
		d.Has[key] = m.data[key]
	}
	return json.Marshal(&d)
}

type memoryDigest struct {
	From, To string // empty: the end
	Has      map[string]int
}

func (m *memory) DifferingSpans(r ring.Range, digest []byte) (parts []scrub.KeySpan, next []byte, err error) {
	var d memoryDigest
	if err := json.Unmarshal(digest, &d); err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.readable(r); err != nil {
		return nil, nil, err
	}
	keys := m.in(r)
	for key := range d.Has {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range slices.Compact(keys) {
		if key < d.From || d.To != "" && key >= d.To {
			continue
		}
		mine, here := m.data[key]
		if theirs, there := d.Has[key]; here != there || mine != theirs {
			parts = append(parts, scrub.KeySpan{From: []byte(key), To: []byte(key + "\x00")})
		}
	}
	if d.To != "" {
		next = []byte(d.To)
	}
	return parts, next, nil
}

func (m *memory) Sums(_ ring.Range, parts []scrub.KeySpan, _ time.Time) ([]uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sums []uint64
	for _, p := range parts {
		h := fnv.New64a()
		if value, ok := m.data[string(p.From)]; ok {
			_, _ = fmt.Fprintf(h, "%s=%d", p.From, value)
		}
		sums = append(sums, h.Sum64())
	}
	return sums, nil
}

type memoryWatch struct {
	m       *memory
	keys    []string
	changes []uint64
}

func (m *memory) Watch(_ ring.Range, parts []scrub.KeySpan) (scrub.ChangeCounter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &memoryWatch{m: m, changes: make([]uint64, len(parts))}
	for _, p := range parts {
		w.keys = append(w.keys, string(p.From))
	}
	m.watches = append(m.watches, w)
	return w, nil
}

func (w *memoryWatch) Changes() []uint64 {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	return slices.Clone(w.changes)
}

func (w *memoryWatch) Close() {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.m.watches = slices.DeleteFunc(w.m.watches, func(o *memoryWatch) bool { return o == w })
}

// watched counts a change; mu is held.
func (m *memory) watched(key string) {
	for _, w := range m.watches {
		for i, k := range w.keys {
			if k == key {
				w.changes[i]++
			}
		}
	}
}

func (m *memory) Check(_ context.Context, r ring.Range, pace func(int)) error {
	m.mu.Lock()
	err := m.readable(r)
	m.mu.Unlock()
	pace(1 << 10)
	return err
}

func (m *memory) CheckTables(ctx context.Context, r ring.Range, pace func(int)) error {
	if err := m.Check(ctx, r, pace); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.hidden, func(key string) bool { return r.Contains(tokenOf(key)) }) {
		return scrub.ErrDamaged
	}
	m.seen = slices.DeleteFunc(m.seen, func(s ring.Range) bool { return spans.Within(s, r) })
	return nil
}

func (m *memory) Damaged() []ring.Range {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

func (m *memory) Discard(ranges ...ring.Range) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stuck {
		return fmt.Errorf("%w: beside it", scrub.ErrDamaged)
	}
	for _, r := range ranges {
		for _, f := range m.follow {
			if slices.ContainsFunc(f.r, func(own ring.Range) bool { return spans.Overlap(own, r) }) {
				return errors.New("a range that is followed is discarded")
			}
		}
		in := func(key string) bool { return r.Contains(tokenOf(key)) }
		for _, key := range m.in(r) {
			delete(m.data, key)
		}
		m.bad, m.hidden = slices.DeleteFunc(m.bad, in), slices.DeleteFunc(m.hidden, in)
		m.seen = slices.DeleteFunc(m.seen, func(s ring.Range) bool { return spans.Overlap(s, r) })
		m.discards++
	}
	return nil
}
