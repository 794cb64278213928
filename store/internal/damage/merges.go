package damage

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/store/internal/refusal"
)

// Merges knows whether damage keeps tables from being merged. Until they are too many nothing is lost by going on, so
// writes are refused only after some time, in which the damage may be removed. Any goroutine may call its methods.
type Merges struct {
	grace    time.Duration
	refusals *refusal.Reasons
	log      *slog.Logger

	mu sync.Mutex // of all that follow
	// err is why tables cannot be merged, since when that was found.
	err   error
	since time.Time
	cuts  int         // how often damage has been cut out of the tables
	began map[int]int // compactions that run: job to cuts when it began
}

// Init is called once, before all other methods. Writes are refused once damage is older than the grace.
func (m *Merges) Init(grace time.Duration, refusals *refusal.Reasons, log *slog.Logger) {
	m.grace, m.refusals, m.log, m.began = grace, refusals, log, make(map[int]int)
}

// Begin notes that a compaction begins.
func (m *Merges) Begin(job int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began[job] = m.cuts
}

// End notes that a compaction has ended, and what it met if it has met damage. One that began before damage was cut out
// may have met what is gone: what is not gone, the next one meets.
func (m *Merges) End(job int, met error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	cuts := m.began[job]
	delete(m.began, job)
	if met == nil || cuts != m.cuts {
		return
	}
	if m.err == nil {
		m.err, m.since = fmt.Errorf("%w: tables cannot be merged: %s: %w", Err, Cure, met), time.Now()
		if m.grace > 0 {
			m.log.Error("writes will be refused if the damage stays", "in", m.grace, "err", m.err)
		}
	}
	m.refuse()
}

// Refuse refuses writes once the grace is over. Call it from time to time.
func (m *Merges) Refuse() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse()
}

func (m *Merges) refuse() {
	if m.err != nil && m.refusals.Of(refusal.Damage) == nil && time.Since(m.since) >= m.grace {
		m.refusals.Set(refusal.Damage, m.err)
	}
}

// Removed notes that damage has been cut out of the tables. If there is more, it will be met again.
func (m *Merges) Removed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = nil
	m.cuts++
	m.refusals.Set(refusal.Damage, nil)
}
