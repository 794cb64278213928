package backup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

const (
	// chunkSize is how many bytes of a stream one answer has at most.
	chunkSize = 2 << 20
	// readTimeout is how long an answer waits for more bytes: one without any is no error.
	readTimeout = 2 * time.Second
	// scanStep is how many keys are looked for at a time.
	scanStep = 256
)

var errStopped = errors.New("the backup was stopped")

// A stream is what a node held, as an RDB file that comes in chunks. Its goroutine is one chunk ahead of the
// reader at most, and holds one value in memory.
type stream struct {
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	chunks chan []byte // closed at the end
	// keys and err are set before chunks is closed.
	keys int64
	err  error

	buf []byte // the chunk that is being filled

	// Of the reader: the chunk that was read last, in case that its answer was lost, and where the next one
	// begins.
	last   []byte
	lastAt int64
	at     int64
}

func (s *session) newStream() *stream {
	st := &stream{ended: make(chan struct{}), chunks: make(chan []byte)}
	st.ctx, st.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(st.ended)
		defer close(st.chunks)
		st.keys, st.err = st.write(s)
		if st.err == nil && len(st.buf) > 0 {
			st.err = st.pass()
		}
	}()
	return st
}

func (st *stream) close() {
	st.cancel()
	<-st.ended
}

// stopStream returns the stream of a session that has ended; nil if it was never read.
func (s *session) stopStream() *stream {
	// A reader that has the session waits for chunks with this locked, and only for so long.
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.stream
}

// read returns what follows an offset of the stream of this node.
func (k *Keeper) read(ctx context.Context, id string, offset int64) (a answer, data []byte) {
	s := k.renewed(id)
	if s == nil {
		return k.unknown(), nil
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	if k.renewed(id) == nil { // it may have ended meanwhile, and then a new stream would not be closed
		return k.unknown(), nil
	}
	if s.stream == nil {
		s.stream = s.newStream()
	}
	st := s.stream
	switch offset {
	case st.at:
	case st.lastAt:
		return answer{}, st.last
	default:
		return refuse(false, "node %s is at byte %d of the stream, not at %d", k.cfg.Self, st.at, offset), nil
	}
	timer := time.NewTimer(readTimeout)
	defer timer.Stop()
	select {
	case data, ok := <-st.chunks:
		switch {
		case ok:
			st.last, st.lastAt = data, st.at
			st.at += int64(len(data))
			return answer{}, data
		case st.err != nil:
			return refuse(false, "node %s: %v", k.cfg.Self, st.err), nil
		}
		return answer{End: true, Keys: st.keys}, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return answer{}, nil
}

// Write implements io.Writer for the RDB file.
func (st *stream) Write(b []byte) (int, error) {
	for n := 0; n < len(b); {
		part := b[n:min(len(b), n+chunkSize-len(st.buf))]
		st.buf = append(st.buf, part...)
		n += len(part)
		if len(st.buf) == chunkSize {
			if err := st.pass(); err != nil {
				return n, err
			}
		}
	}
	return len(b), nil
}

// pass hands the chunk to the reader.
func (st *stream) pass() error {
	select {
	case st.chunks <- st.buf:
		st.buf = make([]byte, 0, chunkSize)
		return nil
	case <-st.ctx.Done():
		return errStopped
	}
}

// write writes all keys of a session's rows.
func (st *stream) write(s *session) (keys int64, err error) {
	w, err := rdbfile.NewWriter(st, rdbfile.MaxWriteVersion)
	if err != nil {
		return 0, err
	}
	for _, fact := range [][2]string{
		{"redis-ver", "7.4.0"}, {"redis-bits", "64"}, {"ctime", strconv.FormatInt(s.pin.Time/1000, 10)},
		{"made-by", "ringside"}, {"backup-id", s.id}, {"backup-node", s.k.cfg.Self},
	} {
		if err := w.Aux(fact[0], fact[1]); err != nil {
			return 0, err
		}
	}
	d := dumper{st: st, s: s, w: w, unit: s.k.cfg.Store.NewUnit(), began: time.Now()}
	for _, span := range spansOf(s.rows) {
		if err := d.span(span); err != nil {
			return 0, err
		}
	}
	return d.keys, w.Close()
}

// A dumper writes pinned keys.
type dumper struct {
	st      *stream
	s       *session
	w       *rdbfile.Writer
	unit    *store.Unit
	payload []byte
	keys    int64
	began   time.Time
	pace    background.Pacer
}

func (d *dumper) span(span ring.Range) error {
	var text []byte
	var ends []int
	for at, ended := store.CursorAt(span.Start), false; !ended; {
		text, ends = text[:0], ends[:0]
		var err error
		at, ended, err = d.s.pin.ScanIn(span, at, scanStep, func(e store.Entry) bool {
			text = append(text, e.Key...)
			ends = append(ends, len(text))
			return true
		})
		if err != nil {
			return err
		}
		from := 0
		for _, end := range ends {
			if err := d.key(bytes.Clone(text[from:end])); err != nil {
				return err
			}
			from = end
		}
	}
	return nil
}

func (d *dumper) key(key []byte) error {
	if !d.s.policies.Serves(key) {
		return nil
	}
	if d.st.ctx.Err() != nil {
		return errStopped
	}
	d.pace.Step()
	var expiry int64
	found := false
	err := d.s.pin.View(d.unit, key, func(v store.Value) (err error) {
		found, expiry = true, v.Expiry
		// A version that holds all there is of a value, which the oldest one does not of a stream.
		d.payload, err = collection.AppendDumpAs(d.payload[:0], d.unit, key, v, rdbfile.MaxWriteVersion)
		return err
	})
	if err != nil || !found || len(d.payload) == 0 { // or the time of all fields of a hash has come
		return err
	}
	if err := d.w.Key(d.s.order.Number(database.HeadOf(key)), database.Name(key), d.payload, expiry); err != nil {
		return err
	}
	if cap(d.payload) > chunkSize {
		d.payload = nil
	}
	d.keys++
	return d.rest()
}

// rest waits where the stream is faster than data may move.
func (d *dumper) rest() error {
	rate := d.s.k.cfg.State().Cluster().Throttle
	if rate <= 0 {
		return nil
	}
	ahead := time.Duration(float64(d.w.Written())/float64(rate)*float64(time.Second)) - time.Since(d.began)
	if ahead < 10*time.Millisecond {
		return nil
	}
	timer := time.NewTimer(min(ahead, readTimeout/2)) // the rate may change
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-d.st.ctx.Done():
		return errStopped
	}
}

// spansOf returns the ranges of rows in order, of which none wraps and no two touch.
func spansOf(rows []ring.Row) []ring.Range {
	var all []ring.Range
	for _, r := range rows {
		all = append(all, r.Range.Cut(1)...)
	}
	slices.SortFunc(all, func(a, b ring.Range) int { return cmp.Compare(a.Start, b.Start) })
	var spans []ring.Range
	for _, r := range all {
		if n := len(spans); n > 0 && spans[n-1].End == r.Start && r.Start != 0 {
			spans[n-1].End = r.End
			continue
		}
		spans = append(spans, r)
	}
	return spans
}
