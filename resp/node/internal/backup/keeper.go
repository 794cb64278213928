package backup

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/internal/rehome"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// Times of a backup.
const (
	// maxHold is how long commits wait for a release at most. Primaries put a backup out of the in-sync set
	// that has acknowledged nothing for a second, so it is well below.
	maxHold = 500 * time.Millisecond
	// ackTimeout is how long the backups in sync may take to acknowledge what was pinned.
	ackTimeout = 5 * time.Second
	// pinLife is how long a pin stays without being read or renewed.
	pinLife = 30 * time.Second
	// maxPins is how many backups may be read at a time.
	maxPins = 4
)

// Config is what a node tells its Keeper.
type Config struct {
	Self, Version string
	Store         *store.Store // nil: the node holds no data
	State         func() *table.State
	Lease         *lease.Lease
	// Served returns the rows that the node serves. ok is false if one of its rows is on hold.
	Served func() (rows []ring.Row, ok bool)
	// Ask sends a message to the Keeper of another node, which may get it twice.
	Ask    func(ctx context.Context, node string, message []byte) ([]byte, error)
	Logger *slog.Logger
	// PauseMoves has no key move within its database until resume; nil if none ever does.
	PauseMoves func(ctx context.Context) (resume func(context.Context), err error)
}

// A Keeper is a node's part in backups. Its methods may be called from any goroutine.
type Keeper struct {
	cfg Config

	mu     sync.Mutex
	open   map[string]*session
	closed bool
	ends   sync.WaitGroup

	clients *clients
}

// New returns a Keeper, which the caller closes before the store.
func New(cfg Config) *Keeper {
	return &Keeper{cfg: cfg, open: make(map[string]*session), clients: newClients()}
}

// A session is a backup that this node is part of.
type session struct {
	k     *Keeper
	id    string
	pin   *store.Pin
	rows  []ring.Row
	order *database.Order // of the databases
	// policies tell which one of two copies of a key counts that moves.
	policies *database.Policies
	still    func() bool
	thaw     func()
	// timer ends the hold, or then the session, if nothing comes. Keeper.mu guards it and held.
	timer *time.Timer
	held  bool
	gone  bool // the client may be gone

	reading sync.Mutex // one chunk at a time
	stream  *stream    // once it is read
}

// Close ends all holds and streams.
func (k *Keeper) Close() {
	k.clients.close()
	k.mu.Lock()
	k.closed = true
	for _, s := range k.open {
		k.dropLocked(s)
	}
	k.mu.Unlock()
	k.ends.Wait()
}

// dropLocked ends a session.
func (k *Keeper) dropLocked(s *session) {
	if k.open[s.id] != s {
		return
	}
	delete(k.open, s.id)
	s.timer.Stop()
	s.thaw()
	k.ends.Go(func() { // readers may need a while
		if stream := s.stopStream(); stream != nil {
			stream.close()
		}
		s.pin.Close()
	})
}

// Answer answers a message of another node, or of this one.
func (k *Keeper) Answer(ctx context.Context, message []byte) []byte {
	var q request
	if err := json.Unmarshal(message, &q); err != nil {
		a := refuse(false, "a request that cannot be read: %v", err)
		return a.encode(nil)
	}
	a, data := k.answer(ctx, &q)
	return a.encode(data)
}

func (k *Keeper) answer(ctx context.Context, q *request) (a answer, data []byte) {
	switch q.Verb {
	case verbPrepare:
		if a = k.awaitSteps(ctx, q.Steps); a.Error == "" {
			a = k.prepare()
		}
		return a, nil
	case verbHold:
		return k.hold(q.ID, min(time.Duration(q.HoldMS)*time.Millisecond, maxHold)), nil
	case verbRelease:
		return k.release(ctx, q.ID), nil
	case verbRead:
		return k.read(ctx, q.ID, q.Offset)
	case verbRenew:
		if k.renewed(q.ID) == nil {
			return k.unknown(), nil
		}
		return answer{}, nil
	case verbGone:
		return k.gone(q.ID), nil
	case verbStop:
		k.mu.Lock()
		defer k.mu.Unlock()
		if s := k.open[q.ID]; s != nil {
			k.dropLocked(s)
		}
		return answer{}, nil
	}
	return refuse(false, "node %s does not know the request %.20q", k.cfg.Self, q.Verb), nil
}

// awaitSteps waits until the node knows of steps by which keys have moved.
func (k *Keeper) awaitSteps(ctx context.Context, steps uint64) answer {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	for steps > 0 && policiesOf(k.cfg.State(), nil).Steps(-1) < steps {
		timer := time.NewTimer(time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return refuse(true, "node %s has not heard that the moving of keys is paused", k.cfg.Self)
		}
	}
	return answer{}
}

func (k *Keeper) unknown() answer {
	return refuse(false, "node %s does not have the backup any more: it was restarted, or the client of the backup was gone, or nobody has read or renewed the backup for %v", k.cfg.Self, pinLife)
}

// prepare does what can be done before commits wait. Without it, those of a node with little in its cache would wait for
// those of a node with much.
func (k *Keeper) prepare() (a answer) {
	if k.cfg.Store == nil {
		return a // hold refuses
	}
	if err := k.cfg.Store.PrepareFreeze(); err != nil {
		return refuse(false, "node %s: %v", k.cfg.Self, err)
	}
	return a
}

// hold has no commit begin for at most d, and pins what there is.
func (k *Keeper) hold(id string, d time.Duration) answer {
	if k.cfg.Store == nil {
		return refuse(true, "node %s holds no data", k.cfg.Self)
	}
	k.mu.Lock()
	n, closed := len(k.open), k.closed
	k.mu.Unlock()
	switch {
	case closed:
		return refuse(false, "node %s is closing", k.cfg.Self)
	case n >= maxPins:
		return refuse(false, "node %s has %d backups open already", k.cfg.Self, n)
	}
	// The mark comes before the rows, and both before the pin.
	lapses, _ := k.cfg.Lease.Mark()
	s := &session{k: k, id: id, still: func() bool { return k.cfg.Lease.HeldSince(lapses) }, held: true}
	if s.order, _ = orderOf(k.cfg.State()); s.order.Change() != 0 {
		return refuse(true, "databases are being swapped")
	}
	unit := k.cfg.Store.NewUnit() // which never begins
	s.policies = policiesOf(k.cfg.State(), func(stored []byte) uint64 { return rehome.PositionOf(unit.Place(stored)) })
	var ok bool
	if s.rows, ok = k.cfg.Served(); !ok {
		return refuse(true, "ranges of node %s are changing hands", k.cfg.Self)
	}
	var err error
	if s.pin, s.thaw, err = k.cfg.Store.Freeze(); err != nil {
		return refuse(errors.Is(err, store.ErrFrozen), "node %s: %v", k.cfg.Self, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.open[id] != nil {
		s.thaw()
		s.pin.Close()
		return refuse(false, "node %s is closing, or knows the backup already", k.cfg.Self)
	}
	k.open[id] = s
	s.timer = time.AfterFunc(d, func() { k.expire(s) })
	a := answer{Swaps: s.order.Swaps(), Steps: s.policies.Steps(-1)}
	for _, r := range s.rows {
		a.Rows = append(a.Rows, row{uint32(r.Range.Start), uint32(r.Range.End), r.Epoch})
	}
	return a
}

// expire ends a session for which nothing has come.
func (k *Keeper) expire(s *session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open[s.id] != s {
		return
	}
	what := "nobody has read or renewed it"
	if s.gone {
		what = "its client is gone"
	}
	if s.held {
		what = "the release of writes did not come in time"
	}
	k.cfg.Logger.Warn("a backup was given up", "err", what)
	k.dropLocked(s)
}

// release lets commits begin again, and says whether the moment counts here.
func (k *Keeper) release(ctx context.Context, id string) answer {
	k.mu.Lock()
	s := k.open[id]
	if s == nil || !s.held || !s.timer.Stop() {
		k.mu.Unlock()
		return refuse(true, "node %s could not hold writes until all other nodes did", k.cfg.Self)
	}
	s.held = false
	s.timer = time.AfterFunc(ackTimeout+pinLife, func() { k.expire(s) })
	k.mu.Unlock()
	rows, ok := k.cfg.Served()
	same, leased := ok && slices.EqualFunc(s.rows, rows, sameRow), s.still()
	s.thaw()
	a := answer{HeldMicros: time.Since(s.pin.Since).Microseconds()}
	for _, r := range s.rows {
		keys, size := k.cfg.Store.SizeOf([]ring.Range{r.Range})
		a.KeysAbout += keys
		a.BytesAbout += size
	}
	switch {
	case !same:
		a = refuse(true, "ranges of node %s have changed hands", k.cfg.Self)
	case !orderIs(k.cfg.State(), s.order):
		a = refuse(true, "databases are being swapped")
	case !leased:
		a = refuse(true, "node %s has lost its lease", k.cfg.Self)
	default:
		if err := awaitAll(ctx, k.cfg.Store); err != nil {
			a = refuse(true, "what node %s has written was not acknowledged by its backups: %v", k.cfg.Self, err)
		} else if !s.still() {
			a = refuse(true, "node %s has lost its lease", k.cfg.Self)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.Error != "" {
		k.dropLocked(s)
	} else if k.open[id] == s {
		s.timer.Reset(pinLife)
	}
	return a
}

func sameRow(a, b ring.Row) bool {
	return a.Range == b.Range && a.Epoch == b.Epoch && a.Primary == b.Primary
}

// settled is a store.Waiter that does not block.
type settled chan error

// Settled implements store.Waiter.
func (s settled) Settled(err error) { s <- err }

// awaitAll waits until all that can be seen is durable here, and acknowledged.
func awaitAll(ctx context.Context, s *store.Store) error {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	done := make(settled, 1)
	if !s.AwaitAll(done) {
		return nil
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renewed returns a session whose moment counts, and lets it live on; nil if there is none.
func (k *Keeper) renewed(id string) *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.open[id]
	if s == nil || s.held || !s.timer.Stop() {
		return nil
	}
	s.timer.Reset(pinLife)
	s.gone = false
	return s
}
