package resp

import (
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/rehome"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A scan is one call of SCAN. Its cursor is a place on the circle, so any node can go
// on from any cursor: it asks who serves the place, range after range, until there
// are keys enough or it has worked enough.
type scan struct {
	x *call
	o *command.ScanOptions
	l *lister
	rehome.Course
	// enough: COUNT keys were come by in one range, so that there may be more.
	enough bool
}

// newScan returns a scan from the first place on.
func newScan(x *call, o *command.ScanOptions, l *lister) scan {
	s := scan{x: x, o: o, l: l}
	s.Token = func(stored []byte) ring.Token { return x.Unit.Place(stored).Token() }
	s.Start(x.srv.policies().Of(l.data), 0)
	return s
}

// maxScanHops bounds how many ranges one call goes over, when many of them are empty
// or nothing in them matches.
const maxScanHops = 64

// left is how many keys are still wanted.
func (s *scan) left() int {
	return int(min(max(s.o.Count-int64(s.l.n), 1), maxCount))
}

// done tells whether the call has enough, or has come to the end of the circle.
func (s *scan) done() bool {
	if !s.MayPause() {
		return s.l.full || s.x.conn.closing
	}
	return s.enough || s.Ended() || int64(s.l.n) >= s.o.Count || s.l.isFull()
}

// here scans a span of the store that the cursor lies in.
func (s *scan) here(span ring.Range, policies *database.Policies) (ended bool, err error) {
	next, ended, err := s.x.allKeys().ScanIn(s.Span(span), s.At, s.left(), func(e store.Entry) bool {
		if database.Of(e.Key) == s.l.data && !s.Layout.Lists(policies, e.Key) {
			return true
		}
		if s.o.TypeName != nil && !wire.EqualFold(s.o.TypeName, e.Type.String()) {
			return true
		}
		return s.l.add(e.Key)
	})
	if err != nil {
		return false, err
	}
	s.Visited(next, ended)
	s.enough = !ended
	return ended, nil
}

// own scans this node's ranges and passes over all others: a client of a redirect
// connection asks every node by itself.
func (s *scan) own() error {
	return s.x.own(func(spans []ring.Range) error {
		for _, span := range spans {
			if span.End != 0 && s.At.Token() >= span.End {
				continue
			}
			s.At = max(s.At, store.CursorAt(span.Start))
			if _, err := s.here(span, s.x.srv.policies()); err != nil {
				return err
			}
			if s.done() {
				return nil
			}
		}
		s.At = 0
		return nil
	})
}

// part is what another node has asked for: to the end of the span that the cursor lies
// in.
func (s *scan) part() error {
	return s.x.own(func([]ring.Range) error {
		routes := s.x.srv.routes.Load()
		span, ok := routes.spanOf(s.At.Token())
		if !ok || !span.Contains(s.At.Token()) {
			s.x.srv.stats.NotMine.Add(1)
			return command.ErrMoved
		}
		// It is sent back until both nodes know of the same changes of the policy.
		p := routes.Policies.Of(s.l.data)
		if l, ok := rehome.LayoutOf(p, s.Layout.Head); s.Flips != p.Flips || l.Named && !ok {
			return command.ErrMoved
		}
		_, err := s.here(span, routes.Policies) // own fails if the policy has changed meanwhile
		return err
	})
}

// cluster goes over the ranges of all nodes from the cursor on.
func (s *scan) cluster() error {
	x := s.x
	end := time.Now().Add(x.srv.forwardTimeout())
	for hops := 0; hops == 0 || s.Fresh || hops < maxScanHops && !s.done(); {
		left := time.Until(end)
		if left <= 0 || x.conn.Closed.Load() {
			if hops > 0 {
				return nil // with what there is: the cursor tells where to go on
			}
			return command.ReplyError(msgUnreachable)
		}
		still := x.srv.mark()
		routes := x.srv.routes.Load()
		s.Follow(routes.Policies.Of(s.l.data))
		owner := routes.of(s.At.Token())
		if routes.Policies.Swapping() {
			owner = ownerHeld
		}
		switch owner {
		case ownerNone:
			return command.ReplyError(msgNoCopy)
		case ownerHeld:
			x.awaitRoutes(routes, left)
		case ownerSelf:
			span, _ := routes.spanOf(s.At.Token())
			before, bytes, n := s.Course, len(x.Buf), s.l.n
			if _, err := s.here(span, routes.Policies); err != nil {
				return err
			}
			if now := x.srv.routes.Load(); now.ownTerm == routes.ownTerm && still() {
				hops++
				s.Follow(now.Policies.Of(s.l.data))
				continue
			}
			// It may have been another's meanwhile.
			s.Course, s.enough, s.l.n = before, false, n
			if !x.conn.closing {
				x.Buf = x.Buf[:bytes]
			}
		default:
			ok, err := s.ask(routes.links[owner], left)
			if err != nil {
				return err
			}
			if ok {
				hops++
				s.Follow(x.srv.policies().Of(s.l.data))
				continue
			}
			x.awaitRoutes(routes, min(left, routesPause))
		}
	}
	return nil
}

// ask has another node scan; it returns false if that did not run.
func (s *scan) ask(to *Route, timeout time.Duration) (ok bool, err error) {
	x := s.x
	words := []string{"SCAN", strconv.FormatUint(uint64(s.At), 10), "COUNT", strconv.Itoa(s.left()), "MATCH", string(s.o.Pattern)}
	if s.o.TypeName != nil {
		words = append(words, "TYPE", string(s.o.TypeName))
	}
	if n := s.l.data; n != 0 {
		words = append(words, inDatabase, strconv.Itoa(n))
	}
	if s.Layout.Named {
		words = append(words, inLayout, strconv.Itoa(int(s.Layout.Head)), strconv.FormatUint(s.Flips, 10))
	}
	b := batch{link: to, bytes: wire.AppendRequest(nil, words...), requests: 1}
	x.srv.stats.Forwarded.Add(1)
	start := x.srv.clock()
	b.send(Terms{Part: true}, timeout, nil)
	reply, err := b.reply()
	x.waited += x.srv.clock() - start
	r := request{cmd: x.Row}
	switch f := r.fate(err); {
	case f == outcome.NotRun:
		return false, nil
	case f != outcome.Answered:
		return false, command.ReplyError(f.Refusal(err))
	case reply[0] == '-':
		return false, command.ReplyError(reply[1 : len(reply)-2])
	}
	body, _ := wire.ArrayBody(reply)
	text, ok := wire.ReplyText(body)
	next, valid := command.ParseCursor(text)
	if !ok || !valid || !next.Valid() || next != 0 && next <= s.At {
		return false, command.ReplyError("ERR a node has answered SCAN without a cursor")
	}
	keys := body[wire.ValueLen(body):]
	n := wire.ArrayLen(keys)
	elements, _ := wire.ArrayBody(keys)
	s.l.addEncoded(elements, n)
	// A cursor within a token is not the end of a range: there may be more.
	s.enough = next != store.CursorAt(next.Token())
	s.Visited(next, next == 0)
	return true, nil
}
