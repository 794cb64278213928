package generation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Counter gives generations, which are never used twice: they are taken from a counter whose ceiling
// is written to the log before any number below it is used, and a store that
// opens goes on from the ceiling. Its methods may be called from any goroutine.
type Counter struct {
	mu      sync.Mutex
	next    uint64
	ceiling uint64
	// inUse holds the generations whose header is not written yet.
	inUse map[uint64]struct{}
}

// block is how far the ceiling is raised at a time.
const block = 1 << 20

var entry = []byte{layout.KindMeta, 'g', 'e', 'n'}

// Load begins at the ceiling that a database has. It is called once, before all else.
func (c *Counter) Load(db *pebble.DB) error {
	c.inUse = make(map[uint64]struct{})
	value, closer, err := db.Get(entry)
	if errors.Is(err, pebble.ErrNotFound) {
		c.next, c.ceiling = 1, 1
		return nil
	}
	if err != nil {
		return fmt.Errorf("read generation: %w", err)
	}
	defer func() { _ = closer.Close() }()
	if len(value) != 8 {
		return fmt.Errorf("read generation: %w", layout.ErrHeader)
	}
	c.next = binary.LittleEndian.Uint64(value)
	c.ceiling = c.next
	return nil
}

// New returns a generation that no value of this store has had, and keeps the garbage collector from it until
// Release. write makes an entry durable: the ceiling.
func (c *Counter) New(write func(key, value []byte) error) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == c.ceiling {
		raised := c.ceiling + block
		if err := write(entry, binary.LittleEndian.AppendUint64(nil, raised)); err != nil {
			return 0, fmt.Errorf("raise generation: %w", err)
		}
		c.ceiling = raised
	}
	gen := c.next
	c.next++
	c.inUse[gen] = struct{}{}
	return gen, nil
}

// Release lets the garbage collector have the generation, should it be named.
func (c *Counter) Release(gen uint64) {
	c.mu.Lock()
	delete(c.inUse, gen)
	c.mu.Unlock()
}

// Collectable returns which generations are complete as of now: begun, and not
// being built.
func (c *Counter) Collectable() func(gen uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, building := c.next, maps.Clone(c.inUse)
	return func(gen uint64) bool {
		_, ok := building[gen]
		return gen < next && !ok
	}
}

// Exhaust uses all numbers up to the ceiling, so that the next one raises it: for tests of that.
func (c *Counter) Exhaust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = c.ceiling
}
