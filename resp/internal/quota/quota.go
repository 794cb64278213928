package quota

import (
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A Config says of what a Quota is.
type Config struct {
	Store *store.Store
	// Spans are the ranges of which the node is the primary; see [store.Store.ScanIn]. Called from
	// any goroutine.
	Spans    func() []ring.Range
	Settings *settings.Quota
	// Evict deletes keys of these ranges as a client would, and returns how many it has deleted. It is
	// called from any goroutine, which holds no latch.
	Evict func(keys [][]byte) (deleted int)
	// CountsUses is set while uses of keys are counted.
	CountsUses *atomic.Bool
	Log        *slog.Logger
	// Stop ends the evictor when it is closed.
	Stop <-chan struct{}
}

// A Quota is the limit of the data of one node. Its methods may be called from any goroutine.
type Quota struct {
	cfg     Config
	set     *settings.Quota
	node    account
	evicted atomic.Int64
	changed chan struct{} // wakes the evictor after a change of settings
}

// An account is the data that a limit is for, and what of it may be evicted.
type account struct {
	database int // -1: all databases
	// stuck tells that writers have found no key to evict. The evictor looks again.
	stuck atomic.Bool

	mu   sync.Mutex
	draw drawer
	pool pool
}

// New returns the quota of a node. Run must be called.
func New(cfg Config) *Quota {
	q := &Quota{cfg: cfg, set: cfg.Settings, changed: make(chan struct{}, 1)}
	q.node.database = -1
	q.node.draw = drawer{store: cfg.Store, spans: cfg.Spans}
	q.SettingsChanged()
	return q
}

// Limits reports whether there is a limit.
func (q *Quota) Limits() bool { return q.set.MaxData.Load() > 0 }

// Evicted returns how many keys were evicted since the quota was made.
func (q *Quota) Evicted() int64 { return q.evicted.Load() }

// SettingsChanged is called after each change of the settings.
func (q *Quota) SettingsChanged() {
	limit, p := q.set.MaxData.Load(), q.set.Policy()
	a := &q.node
	a.mu.Lock()
	a.pool, a.draw.places = pool{}, nil
	a.mu.Unlock()
	a.stuck.Store(false)
	var f *store.Frequency
	if p.CountsUses() {
		f = &store.Frequency{Factor: uint32(q.set.Factor.Load()), Decay: uint32(min(q.set.Decay.Load()*60, math.MaxUint32))}
	}
	q.cfg.Store.CountUses(f)
	q.cfg.CountsUses.Store(f != nil)
	if used := q.used(&q.node); limit > 0 && used > limit {
		q.cfg.Log.Warn("the data is larger than maxmemory", "bytes", used, "maxmemory", limit, "policy", p.String())
	}
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

func (q *Quota) used(*account) int64 { return q.cfg.Store.ActiveBytes() }

// smallest is how many bytes the data grows at least by a write that grows it: so a limit of a few bytes
// refuses all of them, also on an empty node.
const smallest = 16

// Refuses reports whether a write that may grow the data is refused. growth is by how many bytes
// changes that are not applied yet raise the data.
func (q *Quota) Refuses(growth int64) bool {
	a := &q.node
	limit := q.set.MaxData.Load()
	return limit > 0 && q.used(a)+max(growth, smallest) > limit && (!q.set.Policy().Evicts() || a.stuck.Load())
}

// WantsRoom reports whether [Quota.MakeRoom] has something to do before a write.
func (q *Quota) WantsRoom() bool {
	a := &q.node
	limit := q.set.MaxData.Load()
	return limit > 0 && q.set.Policy().Evicts() && q.used(a) > limit && !a.stuck.Load()
}

// MakeRoom evicts keys for a write of so many bytes while the data is larger than its limit: twice as
// many bytes, so that the data shrinks though others write, and more in the time that
// maxmemory-eviction-tenacity gives. The evictor does the rest. The goroutine holds no latch.
func (q *Quota) MakeRoom(size int64) {
	before, began, freed := q.evicted.Load(), time.Now(), int64(0)
	for q.WantsRoom() && (freed < 2*size || time.Since(began) < q.set.Patience()) {
		found, evicted := q.round(&q.node, q.set.MaxData.Load())
		if found == 0 {
			break
		}
		if evicted == 0 {
			found = min(found, size) // others have evicted the same keys
		}
		freed += found
	}
	if freed == 0 && q.evicted.Load() == before && q.WantsRoom() { // nor has another goroutine evicted any
		q.node.stuck.Store(true)
	}
}

// evictPeriod is how often the evictor looks at the data.
const evictPeriod = 10 * time.Millisecond

// Run evicts keys before the limit is reached, until Stop is closed.
func (q *Quota) Run() {
	tick := time.NewTicker(evictPeriod)
	tick.Stop()
	defer tick.Stop()
	runs := false
	for {
		select {
		case <-q.cfg.Stop:
			return
		case <-q.changed:
		case <-tick.C:
		}
		switch evicts := q.set.MaxData.Load() > 0 && q.set.Policy().Evicts(); {
		case evicts && !runs:
			tick.Reset(evictPeriod)
			runs = true
		case !evicts && runs:
			tick.Stop()
			runs = false
		}
		if runs {
			q.keepAhead(&q.node)
		}
	}
}

// keepAhead evicts keys if the data comes near its limit, until it is a little further away. It looks
// again whether there are any where writers have found none.
func (q *Quota) keepAhead(a *account) {
	limit := q.set.MaxData.Load()
	if q.used(a) <= limit-limit/64 {
		a.stuck.Store(false)
		return
	}
	for q.used(a) > limit-limit/50 && q.set.Policy().Evicts() {
		select {
		case <-q.cfg.Stop:
			return
		default:
		}
		if _, evicted := q.round(a, limit-limit/50); evicted == 0 {
			return
		}
		a.stuck.Store(false)
	}
}

// roundKeys is how many keys a round evicts at most, with one commit.
const roundKeys = 8

// round evicts a few keys, down to so many bytes. It returns the bytes that it has found to evict; some
// of the keys may be gone by then.
func (q *Quota) round(a *account, down int64) (found int64, evicted int) {
	victims, found := q.choose(a, q.used(a)-down)
	if len(victims) == 0 {
		return 0, 0
	}
	evicted = q.cfg.Evict(victims)
	q.evicted.Add(int64(evicted))
	return found, evicted
}

// choose returns the coldest keys that it finds, some bytes together, and how many bytes they have.
func (q *Quota) choose(a *account, size int64) (keys [][]byte, found int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := q.set.Policy()
	samples := int(min(max(q.set.Samples.Load(), 1), maxPool))
	for range 4 {
		none := false
		if !a.pool.isCold(p, roundKeys) {
			drawn, err := a.draw.draw(&request{policy: p, database: a.database, count: (samples + 1) * roundKeys, may: func(int) bool { return true }})
			if err != nil {
				q.cfg.Log.Error("drawing keys to evict failed", "err", err)
				return nil, 0
			}
			a.pool.add(p, drawn)
			none = len(drawn) == 0
		}
		for _, c := range a.pool.take(roundKeys, max(size, 1)) {
			before := c
			if a.draw.look(p, &c); colder(p, &before, &c) >= 0 { // else it was used since
				keys = append(keys, c.key)
				found += max(c.bytes, 1)
			}
		}
		if len(keys) > 0 || none && len(a.pool.all) == 0 {
			break
		}
	}
	return keys, found
}
