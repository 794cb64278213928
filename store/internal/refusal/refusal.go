package refusal

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrReadOnly says that the store accepts no writes at the moment; the error that wraps it says why.
// Nothing was executed.
var ErrReadOnly = errors.New("store does not accept writes")

// A Reason is what keeps a store from making writes durable. Reasons are independent of one another.
type Reason uint8

// The reasons.
const (
	DiskLow  Reason = iota // too little free space; what only removes is accepted
	DiskFull               // too little even for that
	Log                    // the log failed; healed by a new segment
	Tables                 // a flush or compaction failed; healed by the next that succeeds
	Fatal                  // Pebble cannot go on; only a restart helps
	Damage                 // a table is damaged
	Shutdown               // the store is being closed
	numReasons
)

// Reasons are those why a store refuses writes. It goes on answering reads, and accepts writes again when
// none is left. Any goroutine may call their methods.
type Reasons struct {
	log *slog.Logger
	// writes is why no write is accepted, and removals why not even a removal is.
	writes, removals atomic.Pointer[error]
	mu               sync.Mutex
	errs             [numReasons]error
}

// Init is called once, before all other methods.
func (r *Reasons) Init(log *slog.Logger) { r.log = log }

// Writes returns nil, or an error that wraps ErrReadOnly and says why no write is accepted.
func (r *Reasons) Writes() error { return load(&r.writes) }

// Removals is Writes for what only removes.
func (r *Reasons) Removals() error { return load(&r.removals) }

func load(p *atomic.Pointer[error]) error {
	if err := p.Load(); err != nil {
		return *err
	}
	return nil
}

// Update sets a reason to what now returns, or clears it when that is nil. Of calls at the same time, the
// last has asked last.
func (r *Reasons) Update(reason Reason, now func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, err := r.errs[reason], now()
	r.errs[reason] = err
	switch {
	case before == nil && err != nil && reason != Shutdown:
		r.log.Error("writes are refused", "err", err)
	case before != nil && err == nil:
		r.log.Info("recovered", "from", before)
	}
	var any, stuck *error // the first ones
	for i, err := range slices.Backward(r.errs[:]) {
		if err != nil {
			refusal := fmt.Errorf("%w: %w", ErrReadOnly, err)
			any = &refusal
			if Reason(i) != DiskLow {
				stuck = &refusal
			}
		}
	}
	r.writes.Store(any)
	r.removals.Store(stuck)
}

// Set sets a reason, or clears it when err is nil.
func (r *Reasons) Set(reason Reason, err error) { r.Update(reason, func() error { return err }) }

// Of returns what was set for a reason.
func (r *Reasons) Of(reason Reason) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errs[reason]
}

// AreOnly reports whether there are no other reasons than these.
func (r *Reasons) AreOnly(reasons ...Reason) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for reason, err := range r.errs {
		if err != nil && !slices.Contains(reasons, Reason(reason)) {
			return false
		}
	}
	return true
}
