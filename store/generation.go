package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/tap"
)

// Generations are never used twice: they are taken from a counter whose ceiling
// is written to the log before any number below it is used, and a store that
// opens goes on from the ceiling.
type generations struct {
	mu      sync.Mutex
	next    uint64
	ceiling uint64
	// inUse holds the generations whose header is not written yet.
	inUse map[uint64]struct{}
}

// generationBlock is how far the ceiling is raised at a time.
const generationBlock = 1 << 20

var generationKey = []byte{layout.KindMeta, 'g', 'e', 'n'}

func (g *generations) load(db *pebble.DB) error {
	g.inUse = make(map[uint64]struct{})
	value, closer, err := db.Get(generationKey)
	if errors.Is(err, pebble.ErrNotFound) {
		g.next, g.ceiling = 1, 1
		return nil
	}
	if err != nil {
		return fmt.Errorf("read generation: %w", err)
	}
	defer func() { _ = closer.Close() }()
	if len(value) != 8 {
		return fmt.Errorf("read generation: %w", layout.ErrHeader)
	}
	g.next = binary.LittleEndian.Uint64(value)
	g.ceiling = g.next
	return nil
}

// A stagedValue is a value whose entries are written before its header is.
type stagedValue struct {
	place Place
	key   []byte
	gen   uint64
	// staged: entries of it have been committed before the header.
	staged bool
	// adopted: a header names it, and taps know.
	adopted bool
	// handed is the holder that has all parts that have been committed; none if there was
	// none then.
	handed tap.Holder
}

// newGeneration returns a generation that no value of this store has had, and
// keeps the garbage collector from it until built is called.
func (s *Store) newGeneration() (uint64, error) {
	g := &s.generations
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == g.ceiling {
		raised := g.ceiling + generationBlock
		b := s.db.NewBatch()
		_ = b.Set(generationKey, binary.LittleEndian.AppendUint64(nil, raised), nil)
		if err := errors.Join(s.writeRemovalNow(b), b.Close()); err != nil {
			return 0, fmt.Errorf("raise generation: %w", err)
		}
		g.ceiling = raised
	}
	gen := g.next
	g.next++
	g.inUse[gen] = struct{}{}
	return gen, nil
}

// release lets the garbage collector have the generation, should it be named.
func (g *generations) release(gen uint64) {
	g.mu.Lock()
	delete(g.inUse, gen)
	g.mu.Unlock()
}

// collectable returns which generations are complete as of now: begun, and not
// being built.
func (g *generations) collectable() func(gen uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	next, building := g.next, maps.Clone(g.inUse)
	return func(gen uint64) bool {
		_, ok := building[gen]
		return gen < next && !ok
	}
}
