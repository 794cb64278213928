package resp

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/keyspace"
	"github.com/ringside-kv/ringside/resp/internal/spanset"
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
	gaps   bool // some range has no node that serves it
	// far are the spans of the other nodes, in the order of links, once they are asked for.
	far     [][]ring.Range
	findFar sync.Once
}

// farSpans are the spans of the other nodes, in the order of links.
func (r *Routes) farSpans() [][]ring.Range {
	r.findFar.Do(func() {
		r.far = make([][]ring.Range, len(r.links))
		for i := range r.links {
			r.far[i] = r.spansOf(int32(i))
		}
	})
	return r.far
}

// findOwn completes the routes once the owners are known.
func (r *Routes) findOwn() {
	sum := xxhash.New()
	var b []byte
	if n := r.policies().Revision(); n > 0 {
		b = binary.BigEndian.AppendUint64(nil, n)
		_, _ = sum.Write(b)
	}
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
		}
	}
	r.spans = r.spansOf(ownerSelf)
	r.digest = sum.Sum64()
}

// agreement is what a node and another that asks it for its part of a command on data must have in common: who serves
// what, the changes of all policies, and, if keys are removed, the step at which moves stand.
//
// Invariant: the node that asks has paused the moves that it knows of. So all nodes empty their parts by one step during
// which no key moves, and each confirms a later step only when its part is over (Quiesce). No key is copied from a
// node that has not emptied its part to one that has.
func (r *Routes) agreement(cmd *command.Row, data int) string {
	return strconv.FormatUint(r.digest^r.steps(cmd, data), 16)
}

// steps tells the steps of the data that a command empties from each other, with what is known; 0 for other commands.
func (r *Routes) steps(cmd *command.Row, data int) uint64 {
	if cmd.Full == "flushall" {
		data = -1
	} else if !cmd.MayWrite {
		return 0
	}
	return r.policies().Steps(data) + r.known()
}

// spansOf are the spans of an owner. Nodes whose routes have the same digest, and nothing on
// hold, find the same ones.
func (r *Routes) spansOf(owner int32) []ring.Range {
	return spanset.OfRows(r.Placement, func(row int) bool { return r.owner[row] == owner })
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

// own runs something on the node's own spans: all of the store on a lone node. For another node it is those of the part.
// If they are not this node's any more, do fails with ErrMoved, and has changed nothing: for a client of this node it runs
// again. What only reads fails with ErrMoved, too, if they have changed while it ran for another node: what was seen may
// be in part a third node's.
func (x *call) own(do func(spans []ring.Range) error) error {
	for range maxOwnTries {
		now, routes := x.srv.routes.Load(), x.agreed.routes
		if routes == nil && now != nil && now.Policies.Swapping() && !x.InScript && x.awaitRoutes(now, x.srv.forwardTimeout()) {
			continue
		}
		err := x.underLease(func() error {
			if routes != nil {
				return do(x.agreed.spans)
			}
			if routes = x.srv.routes.Load(); routes == nil { // behind the mark of the lease
				return do([]ring.Range{ring.Whole})
			}
			return do(routes.spans)
		})
		if err == nil && asksNode(x) && !x.Row.MayWrite && x.srv.routes.Load().ownTerm != routes.ownTerm {
			return command.ErrMoved
		}
		if asksNode(x) || !errors.Is(err, command.ErrMoved) {
			return err
		}
	}
	return command.ReplyError(command.MsgMoving)
}

// maxOwnTries is how often a client's command runs again since ranges change hands.
const maxOwnTries = 100

// AllKeys are the keys as the command is to see them: in a script with what that has changed.
func (x *call) allKeys() keyspace.Stored {
	if x.InScript {
		return x.Unit
	}
	return x.srv.store
}

// eachOwn visits every key that the node serves, until visit returns false.
func (x *call) eachOwn(visit func(store.Entry) bool) error {
	return x.own(func(spans []ring.Range) error {
		var pace background.Pacer
		more := true
		for _, span := range spans {
			_, _, err := x.allKeys().ScanIn(span, store.CursorAt(span.Start), maxCount, func(e store.Entry) bool {
				if more = visit(e); !x.InScript { // a script holds latches
					pace.Step()
				}
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

// OwnSize estimates the keys and bytes that the node serves by its routes: a slice of 2¹⁶ tokens that
// a range cuts counts in proportion.
func (s *Server) OwnSize() (keys, size int64) { return s.store.SizeOf(s.ownSpans()) }

// copySize estimates, as OwnSize does, the keys and bytes of which the node is a backup.
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

const maxCount = math.MaxInt // no limit to the keys of a scan
