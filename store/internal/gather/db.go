package gather

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/stall"
)

const (
	// dueChanges is from how many changes on a run is written, and mostChanges how many let commits wait for
	// that. Runs of 1,024 saved 8 % of the cost of ZADD and SADD, runs of 4,096 14 % and 21 %, and larger ones
	// little more.
	dueChanges  = 4096
	mostChanges = 2 * dueChanges
	// bytesPerChange bounds the bytes of a run, and changeCost is about what a memtable has beside them for each.
	bytesPerChange = 128
	changeCost     = 128
	// mostBatch is up to how many bytes a batch is gathered.
	mostBatch = 64 << 10
)

// A DB is a Pebble database with changes that wait to be written to it. What it does not have a method of its
// own for does not see these. Any goroutine may call its methods.
type DB struct {
	*pebble.DB
	gate  *stall.Gate
	fatal <-chan struct{} // closed when Pebble has stopped for good
	// dueAt and fullAt are dueChanges and mostChanges, or fewer: a run fills a quarter of a memtable at most, since
	// Pebble makes a memtable of its own of a batch that is larger than half of one.
	dueAt, fullAt int
	due           chan struct{} // has something when a run should be written
	// turn has something while a goroutine writes a run. Only that goroutine changes now, and the run that is
	// not now.
	turn chan struct{}
	// waiting is how many changes Pebble does not have yet. It rises after they can be found, and falls after
	// Pebble has them.
	waiting atomic.Int64

	mu sync.Mutex // a goroutine that has it waits for nothing
	// runs[now] takes changes. The other is empty unless it is being written, or could not be.
	runs [2]run
	now  int
}

// New returns a DB with memtables of so many bytes. The gate is told what Pebble gets. Once fatal is closed, Pebble
// gets nothing any more.
func New(db *pebble.DB, memTable int64, gate *stall.Gate, fatal <-chan struct{}) *DB {
	dueAt := int(min(dueChanges, memTable/8/(bytesPerChange+changeCost)))
	g := &DB{
		DB: db, gate: gate, fatal: fatal, dueAt: dueAt, fullAt: mostChanges / dueChanges * dueAt,
		due: make(chan struct{}, 1), turn: make(chan struct{}, 1),
	}
	for i := range g.runs {
		g.runs[i].keys, g.runs[i].places = make(filter, 1<<12), make(filter, 1<<6)
	}
	return g
}

// Run writes runs that are due until stop is closed.
func (db *DB) Run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-db.due:
			_ = db.write() // after an error the changes stay where they are
		}
	}
}

// Add is Apply for a batch of which Pebble may have the changes later.
func (db *DB) Add(b *pebble.Batch) error {
	if b.Len() > mostBatch {
		return db.Apply(b)
	}
	db.mu.Lock()
	for db.runs[db.now].isFull(db.fullAt) {
		db.mu.Unlock()
		err := db.write()
		if err != nil && !errors.Is(err, errStopped) {
			return err
		}
		db.mu.Lock()
		if err != nil {
			break // the log has it, and no further commits come
		}
	}
	r := &db.runs[db.now]
	before := len(r.changes)
	added := r.add(b)
	db.waiting.Add(int64(len(r.changes) - before))
	full := r.isFull(db.dueAt)
	db.mu.Unlock()
	if !added {
		return db.Apply(b)
	}
	if full {
		select {
		case db.due <- struct{}{}:
		default: // it is known
		}
	}
	return nil
}

// AddAmongOthers is Add for a batch in the order of keys, which costs less to apply at once unless something waits.
// No other goroutine may add or apply anything meanwhile.
func (db *DB) AddAmongOthers(b *pebble.Batch) error {
	if db.waiting.Load() == 0 {
		return db.Apply(b)
	}
	return db.Add(b)
}

// Apply is that of Pebble without a sync, for a batch whose keys no other goroutine changes. All that was added earlier
// is written first: an iterator that sees the batch sees that, too.
func (db *DB) Apply(b *pebble.Batch) error {
	select {
	case <-db.fatal:
		return errStopped
	default:
	}
	if err := db.write(); err != nil {
		return err
	}
	db.gate.Note(b.Len())
	return db.DB.Apply(b, pebble.NoSync)
}

// ApplyRecord applies a batch as the log has it, and waits while memtables are too many. Where tables cannot be
// written, the log has to fit into memory.
func (db *DB) ApplyRecord(record []byte) error {
	b := db.NewBatch()
	err := b.SetRepr(record)
	if err == nil {
		_ = db.gate.AwaitMemTables()
		err = db.Apply(b)
	}
	return errors.Join(err, b.Close())
}

// Get is that of Pebble.
func (db *DB) Get(key []byte) (value []byte, closer io.Closer, err error) {
	if db.waiting.Load() != 0 {
		if value, gone, ok := db.find(key); gone {
			return nil, nil, pebble.ErrNotFound
		} else if ok {
			return value, io.NopCloser(nil), nil
		}
	}
	return db.DB.Get(key)
}

// find returns a copy of what waits to be the value of a key.
func (db *DB) find(key []byte) (value []byte, gone, ok bool) {
	h := hash(key)
	// What a filter does not have any more, Pebble has.
	if !db.runs[0].keys.mayHave(h) && !db.runs[1].keys.mayHave(h) {
		return nil, false, false
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, r := range []*run{&db.runs[db.now], &db.runs[1-db.now]} {
		if c := r.find(key, h); c != nil {
			return bytes.Clone(r.value(c)), c.gone, true
		}
	}
	return nil, false, false
}

// NewIter is that of Pebble.
func (db *DB) NewIter(o *pebble.IterOptions) (*pebble.Iterator, error) {
	if db.waiting.Load() != 0 && (o == nil || db.mayBeWithin(o.LowerBound, o.UpperBound)) {
		if err := db.write(); err != nil {
			return nil, err
		}
	}
	return db.DB.NewIter(o)
}

// mayBeWithin reports whether a key that waits may lie within bounds.
func (db *DB) mayBeWithin(lower, upper []byte) bool {
	if commonPrefix(lower, upper) < placeSize {
		return true
	}
	h := hash(placeOf(lower))
	if !db.runs[0].places.mayHave(h) && !db.runs[1].places.mayHave(h) {
		return false
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.runs[0].mayBeWithin(lower, upper) || db.runs[1].mayBeWithin(lower, upper)
}

// NewSnapshot is that of Pebble.
func (db *DB) NewSnapshot() (*pebble.Snapshot, error) {
	if err := db.write(); err != nil {
		return nil, err
	}
	return db.DB.NewSnapshot(), nil
}

// AsyncFlush is that of Pebble, for a caller that removes the log of what was added before.
func (db *DB) AsyncFlush() (<-chan struct{}, error) {
	if err := db.write(); err != nil {
		return nil, err
	}
	return db.DB.AsyncFlush()
}

// Flush is AsyncFlush, and waits.
func (db *DB) Flush() error { return errors.Join(db.write(), db.DB.Flush()) }

// write writes all that was added before. It does not wait for tables to be written, and returns an error once Pebble
// has stopped.
func (db *DB) write() error {
	if db.waiting.Load() == 0 {
		return nil
	}
	select {
	case <-db.fatal:
		return errStopped
	default:
	}
	select {
	case db.turn <- struct{}{}:
	case <-db.fatal: // who has the turn does not return from Pebble
		return errStopped
	}
	defer func() { <-db.turn }()
	if err := db.writeRun(&db.runs[1-db.now]); err != nil { // that could not be written before
		return err
	}
	db.mu.Lock()
	db.now = 1 - db.now
	db.mu.Unlock()
	return db.writeRun(&db.runs[1-db.now])
}

var errStopped = fmt.Errorf("write gathered changes: %w: Pebble has stopped", refusal.ErrReadOnly)

// writeRun writes a run that takes no more changes. The caller has the turn.
func (db *DB) writeRun(r *run) error {
	if len(r.changes) == 0 {
		return nil
	}
	b := db.DB.NewBatchWithSize(len(r.bytes) + 8*len(r.changes))
	err := r.fill(b)
	if err == nil {
		db.gate.Note(b.Len())
		err = db.DB.Apply(b, pebble.NoSync)
	}
	if err != nil {
		return fmt.Errorf("write gathered changes: %w", err) // Pebble may still hold the batch
	}
	db.mu.Lock()
	db.waiting.Add(-int64(len(r.changes)))
	r.reset()
	db.mu.Unlock()
	return b.Close()
}
