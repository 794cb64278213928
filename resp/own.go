package resp

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// owned says what a node serves by its routes: not more may be counted, listed or
// flushed on it, whatever else lies in its store.
type owned struct {
	// spans are the node's own ranges, in the order of their tokens: those that lie
	// side by side are one, the one that wraps is two. A range on hold is not among
	// them.
	spans []ring.Range
	// ownTerm rises whenever spans change. Who has read them, and finds the same
	// term after the work, knows that all of it was this node's meanwhile.
	ownTerm uint64
	// digest is the same on all nodes that agree on who serves what.
	digest uint64
	held   bool // some range is on hold
	gaps   bool // some range is served by nobody
}

// findOwn completes the routes once the owners are known.
func (r *Routes) findOwn() {
	sum := xxhash.New()
	var b []byte
	tail := false // the last row's piece before token 0 is this node's
	for i := range r.owner {
		row := r.Placement.Row(i)
		b = binary.BigEndian.AppendUint32(b[:0], uint32(row.Range.Start))
		b = append(append(b, row.Primary...), ',')
		_, _ = sum.Write(b)
		switch r.owner[i] {
		case ownerHeld:
			r.held = true
		case ownerNone:
			r.gaps = true
		case ownerSelf:
			if row.Range.Wraps() {
				tail = true
				r.addSpan(ring.Range{Start: row.Range.Start})
				continue
			}
			r.addSpan(row.Range)
		}
	}
	if tail {
		last := r.Placement.Row(r.Placement.Len() - 1)
		spans := r.spans
		r.spans = nil
		r.addSpan(ring.Range{End: last.Range.End})
		for _, span := range spans {
			r.addSpan(span)
		}
	}
	r.digest = sum.Sum64()
}

// addSpan adds a span that begins at or behind the end of those before it.
func (r *Routes) addSpan(span ring.Range) {
	if n := len(r.spans); n > 0 && r.spans[n-1].End == span.Start {
		r.spans[n-1].End = span.End
		return
	}
	r.spans = append(r.spans, span)
}

// spanOf is the own span of a token, or else the next one; ok is false if there is
// none up to the end of the circle.
func (r *Routes) spanOf(t ring.Token) (span ring.Range, ok bool) {
	for _, span := range r.spans {
		if span.End == 0 || t < span.End {
			return span, true
		}
	}
	return ring.Range{}, false
}

// errMoved says that ranges have changed hands in the middle of something. A node
// that was asked by another answers that it has not done it.
var errMoved = errors.New(msgNotMine)

// own runs something on the node's own spans: all of the store on a lone node. For
// another node it fails with errMoved if they have changed meanwhile, so that what was
// done, or seen, may be in part a third node's. For a client of this node it begins anew
// if do itself finds that they have.
func (x *call) own(do func(spans []ring.Range) error) error {
	for range maxOwnTries {
		routes := x.srv.routes.Load()
		if routes == nil {
			return do([]ring.Range{ring.Whole})
		}
		err := x.underLease(func() error { return do(routes.spans) })
		if err == nil && x.conn.from != nil && x.srv.routes.Load().ownTerm != routes.ownTerm {
			return errMoved
		}
		if x.conn.from != nil || !errors.Is(err, errMoved) {
			return err
		}
	}
	return replyError(msgMoving)
}

// maxOwnTries is how often a client's command begins anew since ranges change hands.
const maxOwnTries = 100

// allKeys are the keys as the command is to see them: in a script with what that has changed.
func (x *call) allKeys() interface {
	ScanIn(span ring.Range, from store.Cursor, count int, visit func(store.Entry) bool) (next store.Cursor, ended bool, err error)
	RandomKeyIn(spans []ring.Range) ([]byte, error)
} {
	if x.scripted {
		return x.unit
	}
	return x.srv.store
}

// eachOwn visits every key that the node serves, until visit returns false.
func (x *call) eachOwn(visit func(store.Entry) bool) error {
	return x.own(func(spans []ring.Range) error {
		more := true
		for _, span := range spans {
			_, _, err := x.allKeys().ScanIn(span, store.CursorAt(span.Start), maxCount, func(e store.Entry) bool {
				more = visit(e)
				return more
			})
			if err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// ownSpans are the node's own spans at present.
func (s *Server) ownSpans() []ring.Range {
	if routes := s.routes.Load(); routes != nil {
		return routes.spans
	}
	return []ring.Range{ring.Whole}
}

// ownSize estimates the keys and bytes that the node serves: a slice of 2¹⁶ tokens that
// a range cuts counts in proportion.
func (s *Server) ownSize() (keys, size int64) { return s.store.SizeOf(s.ownSpans()) }

// copySize estimates, as ownSize does, the keys and bytes of which the node is a backup.
func (s *Server) copySize() (keys, size int64) {
	routes := s.routes.Load()
	if routes == nil {
		return 0, 0
	}
	var spans []ring.Range
	for row := range routes.Placement.Rows() {
		switch {
		case !slices.Contains(row.Backups, routes.Self):
		case row.Range.Wraps():
			spans = append(spans, ring.Range{Start: row.Range.Start}, ring.Range{End: row.Range.End})
		default:
			spans = append(spans, row.Range)
		}
	}
	return s.store.SizeOf(spans)
}

// OwnSize estimates the keys and bytes that the node serves by its routes.
func (s *Server) OwnSize() (keys, size int64) { return s.ownSize() }

// maxCount is no limit to the keys of a scan.
const maxCount = math.MaxInt
