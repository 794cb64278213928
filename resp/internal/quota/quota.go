package quota

import (
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A Config says of what a Quota is.
type Config struct {
	Store *store.Store
	// Spans are the ranges of which the node is the primary; see [store.Store.ScanIn]. Called from
	// any goroutine.
	Spans func() []ring.Range
	// IsTogether reports whether data may lie together at one place. Called from any goroutine.
	IsTogether func(data int) bool
	Settings   *settings.Quota
	// Evict deletes keys of these ranges as a client would, and returns how many it has deleted. It is
	// called from any goroutine, which holds no latch.
	Evict func(keys [][]byte) (deleted int)
	// CountsUses is set while uses of keys are counted.
	CountsUses *atomic.Bool
	Log        *slog.Logger
	// Stop ends the evictor when it is closed.
	Stop <-chan struct{}
}

// A Quota is the limits of the data of one node and of its databases. Its methods may be called from any
// goroutine.
type Quota struct {
	cfg     Config
	set     *settings.Quota
	node    account
	limits  atomic.Pointer[limits] // nil if no database has its own
	evicted atomic.Int64
	changed chan struct{} // wakes the evictor after a change of settings
}

// An account is the data that a limit is for, and what of it may be evicted.
type account struct {
	database int // whose limit it is; -1: all databases
	data     int // which the database shows; -1: all
	agreed   Limit
	policy   settings.Policy // of agreed, if that has one
	// share is the part of agreed.Bytes that this node may hold, at least 1; 0 if there is no limit.
	share atomic.Int64
	// stuck tells that writers have found no key to evict. The evictor looks again.
	stuck atomic.Bool

	mu   sync.Mutex
	draw drawer
	pool pool
}

// New returns the quota of a node. Run must be called.
func New(cfg Config) *Quota {
	q := &Quota{cfg: cfg, set: cfg.Settings, changed: make(chan struct{}, 1)}
	q.node.database, q.node.data = -1, -1
	q.node.draw = drawer{store: cfg.Store, spans: cfg.Spans}
	q.SettingsChanged()
	return q
}

// Limits reports whether there is a limit.
func (q *Quota) Limits() bool { return q.set.MaxData.Load() > 0 || q.limits.Load() != nil }

// Evicted returns how many keys were evicted since the quota was made.
func (q *Quota) Evicted() int64 { return q.evicted.Load() }

// SettingsChanged is called after each change of the settings.
func (q *Quota) SettingsChanged() {
	q.each(func(a *account) {
		a.mu.Lock()
		a.pool, a.draw.places = pool{}, nil
		a.mu.Unlock()
		a.stuck.Store(false)
	})
	var f *store.Frequency
	if q.countsUses() {
		f = &store.Frequency{Factor: uint32(q.set.Factor.Load()), Decay: uint32(min(q.set.Decay.Load()*60, math.MaxUint32))}
	}
	q.cfg.Store.CountUses(f)
	q.cfg.CountsUses.Store(f != nil)
	q.each(func(a *account) {
		if used, limit := q.used(a), q.limit(a); limit > 0 && used > limit {
			what := "the data is larger than maxmemory"
			if a.database >= 0 {
				what = fmt.Sprintf("the data of database %d is larger than this node's share of its quota", a.database)
			}
			q.cfg.Log.Warn(what, "bytes", used, "limit", limit, "policy", q.policy(a).String())
		}
	})
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// each calls do with the account of the node, and with those of databases that have their own.
func (q *Quota) each(do func(*account)) {
	do(&q.node)
	if l := q.limits.Load(); l != nil {
		for _, a := range l.all {
			do(a)
		}
	}
}

// limit returns how many bytes an account may hold; 0 if there is no limit.
func (q *Quota) limit(a *account) int64 {
	if a.database < 0 {
		return q.set.MaxData.Load()
	}
	return a.share.Load()
}

// policy returns which keys of an account are evicted.
//
// The databases of a node may differ. The whole is evicted by a policy that evicts any key if one of them has such
// a policy, and [Quota.MayEvict] spares those that a database does not give.
func (q *Quota) policy(a *account) settings.Policy {
	own := q.set.Policy()
	if a.database >= 0 {
		if a.agreed.Policy != "" {
			return a.policy
		}
		return own
	}
	if l := q.limits.Load(); l != nil && (!own.Evicts() || own.IsVolatile()) {
		for _, a := range l.all {
			if p := q.policy(a); p.Evicts() && (!p.IsVolatile() || !own.Evicts()) {
				own = p
			}
		}
	}
	return own
}

// MayEvict reports whether a key may be evicted, by the data that it is of and whether it has an expiry.
func (q *Quota) MayEvict(data int, expires bool) bool {
	p := q.set.Policy()
	if a := q.limits.Load().of(data); a != nil {
		p = q.policy(a)
	}
	return p.Evicts() && (expires || !p.IsVolatile())
}

func (q *Quota) countsUses() bool {
	counts := q.set.Policy().CountsUses()
	q.each(func(a *account) { counts = counts || q.policy(a).CountsUses() })
	return counts
}

// used returns how many bytes of an account this node holds.
func (q *Quota) used(a *account) int64 {
	if a.database < 0 {
		return q.cfg.Store.ActiveBytes()
	}
	return q.cfg.Store.ActiveBytesOf(a.data)
}

// smallest is how many bytes the data grows at least by a write that grows it: so a limit of a few bytes
// refuses all of them, also on an empty node.
const smallest = 16

// Refuses reports whether a write to the data of a database that may grow its data is refused; -1: by the limit of the node
// alone. growth is by how many bytes changes that are not applied yet raise the data.
func (q *Quota) Refuses(data int, growth int64) bool {
	return q.isFull(&q.node, growth) || q.RefusesOwn(data, growth)
}

// RefusesOwn is [Quota.Refuses] by the database's own limit alone.
func (q *Quota) RefusesOwn(data int, growth int64) bool {
	a := q.limits.Load().of(data)
	return a != nil && q.isFull(a, growth)
}

func (q *Quota) isFull(a *account, growth int64) bool {
	limit := q.limit(a)
	return limit > 0 && q.used(a)+max(growth, smallest) > limit && (!q.policy(a).Evicts() || a.stuck.Load())
}

// WantsRoom reports whether [Quota.MakeRoom] has something to do before a write to some database.
func (q *Quota) WantsRoom() (wants bool) {
	q.each(func(a *account) { wants = wants || q.wantsRoom(a) })
	return wants
}

func (q *Quota) wantsRoom(a *account) bool {
	limit := q.limit(a)
	return limit > 0 && q.used(a) > limit && q.policy(a).Evicts() && !a.stuck.Load()
}

// MakeRoom evicts keys for a write of so many bytes to the data of a database while that, or all of the node's, is
// larger than its limit. The goroutine holds no latch.
func (q *Quota) MakeRoom(data int, size int64) {
	q.makeRoom(&q.node, size)
	if a := q.limits.Load().of(data); a != nil {
		q.makeRoom(a, size)
	}
}

// makeRoom evicts twice as many bytes as a write has, so that the data shrinks though others write, and more in
// the time that maxmemory-eviction-tenacity gives. The evictor does the rest.
func (q *Quota) makeRoom(a *account, size int64) {
	before, began, freed, none := q.evicted.Load(), time.Now(), int64(0), false
	for q.wantsRoom(a) && (freed < 2*size || time.Since(began) < q.set.Patience()) {
		found, evicted := q.round(a, q.limit(a))
		if none = found == 0; none {
			break
		}
		if evicted == 0 {
			found = min(found, size) // others have evicted the same keys
		}
		freed += found
	}
	// Only who has looked for keys knows that there are none: others write meanwhile, and the limit changes.
	if none && freed == 0 && q.evicted.Load() == before && q.wantsRoom(a) { // nor has another goroutine evicted any
		a.stuck.Store(true)
	}
}

// evictPeriod is how often the evictor looks at the data.
const evictPeriod = 10 * time.Millisecond

// sharePeriods is after how many periods the evictor looks again which share of a quota this node has.
const sharePeriods = 10

// Run evicts keys before the limit is reached, until Stop is closed.
func (q *Quota) Run() {
	tick := time.NewTicker(evictPeriod)
	tick.Stop()
	defer tick.Stop()
	runs := false
	for ticks := 0; ; ticks++ {
		select {
		case <-q.cfg.Stop:
			return
		case <-q.changed:
		case <-tick.C:
		}
		limits := q.limits.Load()
		switch needed := q.set.MaxData.Load() > 0 && q.policy(&q.node).Evicts() || limits != nil; {
		case needed && !runs:
			tick.Reset(evictPeriod)
			runs = true
		case !needed && runs:
			tick.Stop()
			runs = false
		}
		if limits != nil && ticks%sharePeriods == 0 {
			q.divide(limits)
		}
		if runs {
			q.each(q.keepAhead)
		}
	}
}

// keepAhead evicts keys if the data comes near its limit, until it is a little further away. It looks
// again whether there are any where writers have found none.
func (q *Quota) keepAhead(a *account) {
	limit := q.limit(a)
	if limit == 0 || q.used(a) <= limit-limit/64 {
		a.stuck.Store(false)
		return
	}
	for q.used(a) > limit-limit/50 && q.policy(a).Evicts() {
		select {
		case <-q.cfg.Stop:
			return
		default:
		}
		background.Yield()
		if _, evicted := q.round(a, limit-limit/50); evicted == 0 {
			return
		}
		a.stuck.Store(false)
	}
}

const (
	// roundKeys is how many keys a round evicts at most, with one commit.
	roundKeys = 32
	// drawKeys is how many of them are chosen at most after one draw.
	drawKeys = 8
)

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
	p := q.policy(a)
	samples := int(min(max(q.set.Samples.Load(), 1), maxPool))
	for misses := 0; len(keys) < roundKeys && found < max(size, 1) && misses < 4; {
		none := false
		if !a.pool.isCold(p, drawKeys) {
			drawn, err := a.draw.draw(&request{policy: p, database: a.data, count: (samples + 1) * drawKeys, may: q.MayEvict})
			if err != nil {
				q.cfg.Log.Error("drawing keys to evict failed", "err", err)
				return keys, found
			}
			none = len(drawn) == 0
			a.pool.add(p, drawn)
		}
		misses++
		for _, c := range a.pool.take(drawKeys, max(size-found, 1)) {
			before := c
			if a.draw.look(&c); colder(p, &before, &c) >= 0 { // else it was used since
				keys = append(keys, c.key)
				found += max(c.bytes, 1)
				misses = 0
			}
		}
		if none && len(a.pool.all) == 0 {
			break
		}
	}
	return keys, found
}
