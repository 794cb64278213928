package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

const (
	// maxExamples is how many faults are told in words.
	maxExamples = 10
	// usualSlack is far more than clocks of healthy machines differ by.
	usualSlack = time.Second
)

// A Config says what a model is of.
type Config struct {
	// Clients is how many clients stamp what they write, numbered from 0 on: those of the
	// workload, and those that fill.
	Clients int
	// Fresh tells that no key was there in the beginning. Otherwise a key is judged from
	// the first acknowledged write on.
	Fresh bool
	// Slack is by how much servers may be early or late when keys expire; default 1 s.
	Slack time.Duration
	// Name is that of a key, by its number; nil is the number.
	Name func(key int64) string
}

// A Model is what all clients have written. Its methods may be called from any goroutine.
//
// A key takes about a hundred bytes, and each write beyond the first forty until another has
// certainly taken its place.
type Model struct {
	cfg   Config
	keys  keyspace
	begun []atomic.Uint64 // how many writes each client has begun
	blind atomic.Bool     // nothing is judged any more

	// low is a time before which nobody began who is still on the way, and looked when
	// that was found out.
	low    atomic.Int64
	looked atomic.Int64

	mu       sync.Mutex
	clients  []*Client
	examples []string
	final    int64
	unread   int64
}

// NewModel returns one that knows of no write.
func NewModel(cfg Config) (*Model, error) {
	var faults []error
	if cfg.Clients < 1 || cfg.Clients > 2*workload.MaxClients {
		faults = append(faults, fmt.Errorf("check: %d clients are not within 1..%d", cfg.Clients, 2*workload.MaxClients))
	}
	if cfg.Slack < 0 {
		faults = append(faults, fmt.Errorf("check: a slack of %s is below 0", cfg.Slack))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	cfg.Slack = cmp.Or(cfg.Slack, usualSlack)
	if cfg.Name == nil {
		cfg.Name = func(key int64) string { return strconv.FormatInt(key, 10) }
	}
	m := &Model{cfg: cfg, begun: make([]atomic.Uint64, cfg.Clients)}
	m.low.Store(int64(never))
	m.looked.Store(int64(never))
	for i := range m.keys.stripes {
		m.keys.stripes[i].keys = map[int64]*key{}
	}
	return m, nil
}

// Clients is how many clients may stamp what they write.
func (m *Model) Clients() int { return len(m.begun) }

// Keys are the numbers of all keys that somebody has begun to write, in order.
func (m *Model) Keys() []int64 { return m.keys.all() }

// Final counts keys that were read once more at the end, and those that could not be.
func (m *Model) Final(keys, unread int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.final += keys
	m.unread += unread
}

// Checked is what was found so far.
func (m *Model) Checked() result.Checked {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := result.Checked{FinalKeys: m.final, FinalUnread: m.unread, Examples: slices.Clone(m.examples)}
	for _, c := range m.clients {
		r.Reads += c.reads.Load()
		r.Lost += c.found[lost].Load()
		r.Stale += c.found[stale].Load()
		r.Corrupt += c.found[corrupt].Load()
	}
	return r
}

// example keeps the first few faults in words.
func (m *Model) example(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.examples) < maxExamples {
		m.examples = append(m.examples, text)
	}
}

// watermark is low, found out anew now and then. Clients say when the oldest began that is
// on the way; who says nothing now, and begins, does so later than the look.
func (m *Model) watermark(now time.Duration) time.Duration {
	low := m.low.Load()
	last := m.looked.Load()
	const pause = 5 * time.Millisecond
	if last != int64(never) && now < time.Duration(last)+pause || !m.looked.CompareAndSwap(last, int64(now)) {
		return time.Duration(low)
	}
	oldest := int64(now)
	m.mu.Lock()
	clients := m.clients
	m.mu.Unlock()
	for _, c := range clients {
		oldest = min(oldest, c.oldest.Load())
	}
	// Another look may be under way that began earlier; what is lower is true as well.
	m.low.Store(oldest)
	return time.Duration(oldest)
}
