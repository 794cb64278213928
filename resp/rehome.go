package resp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/rehome"
	"github.com/ringside-kv/ringside/resp/internal/types/keys"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// Keys of a database whose policy changes move from one place to another: see package rehome.

// A rehomer is what a server has for keys that move.
type rehomer struct {
	position database.Position
	node     rehome.Node
}

func (h *rehomer) init(s *Server) {
	unit := s.store.NewUnit() // which never begins
	h.position = func(stored []byte) uint64 { return rehome.PositionOf(unit.Place(stored)) }
	h.node.Scan = s.store.ScanIn
	h.node.Tell = func() {
		s.tracking.mu.Lock()
		s.tracking.adapt()
		s.tracking.mu.Unlock()
	}
}

// storedKey returns the stored key of a key in the database of the connection.
func storedKey(x *call, key []byte) []byte {
	return database.AppendKey(nil, x.srv.policies().HeadFor(numberOf(x), key), key)
}

// dividesGroup reports whether some keys that have one tag cannot be used together for now.
func dividesGroup(c *conn, r *request, policies *database.Policies, keys []command.KeyRef) bool {
	if c.from != nil || len(keys) < 2 || !policies.AnyMoves() {
		return false
	}
	stored := make([][]byte, len(keys))
	for i, k := range keys {
		stored[i] = c.args[r.first+k.Pos]
	}
	return policies.Divide(stored)
}

// cmdRingMoved is RING FETCH, PLACE or DROP data step key [key ...], with a copy behind each key of PLACE.
//
// Invariant: a unit goes by the routes that it has entered, and Quiesce waits for it once there are others. So an order
// of an earlier step is over, or refused, when an owner confirms a later one.
func cmdRingMoved(x *call) {
	data, ok := wire.ParseInt(x.Args[2])
	step, err := strconv.ParseUint(string(x.Args[3]), 10, 64)
	v, words := rehome.VerbOf(x.Row.Name)
	var stored [][]byte
	for i := 4; i < len(x.Args); i += words {
		stored = append(stored, x.Args[i])
		ok = ok && err == nil && rehome.Admit(x.conn.routes.policies(), int(data), step, v, x.Args[i])
	}
	switch {
	case !ok || (len(x.Args)-4)%words != 0:
		x.Error("TRYAGAIN the step is not the present one")
	case v == rehome.Fetch:
		keys.FetchAll(&x.Call, stored, rehome.FetchBytes)
	case v == rehome.Place:
		keys.PlaceAll(&x.Call, x.Args[4:])
	default:
		keys.DropAll(&x.Call, stored)
	}
}

// cmdRingStride is RING STRIDE data step PLAN|KEYS|GARBAGE: what this node's keys are to a step.
func cmdRingStride(x *call) {
	data, ok := wire.ParseInt(x.Args[2])
	step, err := strconv.ParseUint(string(x.Args[3]), 10, 64)
	if !ok || err != nil {
		x.Error(command.MsgNotInteger)
		return
	}
	at := len(x.Buf)
	if err = x.own(func(spans []ring.Range) error {
		routes := x.srv.routes.Load()
		p := routes.policies().Of(int(data))
		if !p.Moving || p.Step != step {
			return command.ErrMoved
		}
		q := rehome.Question{What: string(x.Args[4]), Policies: routes.Policies, Policy: p, Spans: spans, Token: togetherAt(x, p)}
		q.Epoch = routes.Placement.Lookup(q.Token).Epoch
		x.Buf = x.Buf[:at]
		return x.srv.rehome.node.Answer(&q, x.Writer)
	}); err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err)
	}
}

// togetherAt returns the token of a database whose keys move, at which they lie together before or after.
func togetherAt(x *call, p database.Policy) ring.Token {
	return x.Unit.Place(database.AppendKey(nil, rehome.TogetherHead(p), nil)).Token()
}

// MoveKeys goes on with moving the keys of data, until all have moved, this node does not lead the cluster any more, or
// something fails.
func MoveKeys(ctx context.Context, s *Server, data int) error {
	c, err := s.dialSelf()
	if err != nil {
		return err
	}
	return rehome.Order(ctx, c, data)
}

// cmdRingRehome is RING REHOME data, by which a node has itself drive a move: see MoveKeys.
func cmdRingRehome(x *call) {
	data, ok := wire.ParseInt(x.Args[2])
	if _, own := x.conn.net.(ownConn); !own || !ok {
		x.Error("ERR RING REHOME is what a node sends itself")
		return
	}
	changer, ok := policyChanger(x)
	if !ok {
		return
	}
	ctx, cancel := rehome.Until(x.conn.gone, x.srv.stop)
	defer cancel()
	if err := rehome.Drive(ctx, remoteOf(x, changer, int(data))); err != nil {
		x.Error("ERR " + err.Error())
		return
	}
	x.OK()
}

// policyChanger has replied if ok is false.
func policyChanger(x *call) (changer PolicyChanger, ok bool) {
	ok = x.WithOperator(false, func(_ context.Context, o Operator) (err error) {
		changer, err = o.Policies()
		return err
	})
	return changer, ok
}

// remoteOf returns how a call asks the owners of the keys of data.
func remoteOf(x *call, changer PolicyChanger, data int) *rehome.Remote {
	return &rehome.Remote{
		Data: data, Policies: x.srv.policies, CrossSlot: msgCrossSlot, Leads: changer.Leads, Limit: changer.Rate,
		Values: func() (*agreed.Values, <-chan struct{}) {
			routes := x.srv.routes.Load()
			return routes.Values, routes.next
		},
		Change: func(ctx context.Context, c agreed.Change) error {
			_, err := x.srv.cfg.Operator.Agree(ctx, []agreed.Change{c})
			return err
		},
		Ask: func(raw []byte) ([]byte, string) { return x.ask(raw, x.srv.policies(), true) },
		All: func(timeout time.Duration, words [][]byte) ([][]byte, error) {
			at := len(x.Buf)
			defer func() { x.Buf = x.Buf[:at] }()
			replies, ok := x.scatter(timeout, words...)
			if !ok {
				return nil, errors.New(string(bytes.TrimSpace(x.Buf[at:])))
			}
			return replies, nil
		},
		Owner: func(stored []byte) int { return int(x.srv.routes.Load().of(x.Unit.Place(stored).Token())) },
	}
}

// whileUnmoved runs a command on all keys of data, or of all databases with a number below 0.
func whileUnmoved(x *call, data int, run func()) {
	if x.conn.from != nil || x.srv.routes.Load() == nil {
		run()
		return
	}
	at := len(x.Buf)
	if msg := rehome.WhileUnmoved(movesOf{x}, data, func(retry bool) {
		if retry && !x.conn.closing {
			x.Buf = x.Buf[:at]
		}
		run()
	}); msg != "" && !x.conn.closing {
		x.Buf = x.Buf[:at]
		x.Error(msg)
	}
}

// movesOf implements rehome.Pauser.
type movesOf struct{ *call }

func (m movesOf) Policies() *database.Policies { return m.srv.policies() }

func (m movesOf) Pause(data int) (pause uint64, msg string) {
	err := m.within(func(ctx context.Context) error {
		changer, err := m.srv.cfg.Operator.Policies()
		if err == nil {
			pause, err = changer.PauseMove(ctx, data)
		}
		if err == nil && pause != 0 {
			err = remoteOf(m.call, changer, data).Paused(ctx, pause)
		}
		return err
	})
	if err != nil {
		msg = "TRYAGAIN keys of the database move, and that cannot be paused: " + err.Error()
	}
	return pause, msg
}

func (m movesOf) Resume(data int, pause uint64) {
	_ = m.within(func(ctx context.Context) error { // or the leader does
		changer, err := m.srv.cfg.Operator.Policies()
		if err == nil {
			err = changer.ResumeMove(ctx, data, pause)
		}
		return err
	})
}

// listKeys is KEYS while keys move: a scan, of which no key is listed twice.
func listKeys(x *call) {
	l := x.newLister(x.Args[1], math.MaxInt)
	s := newScan(x, &command.ScanOptions{Count: math.MaxInt64, Pattern: x.Args[1]}, l)
	var err error
	for hops := 0; err == nil && (hops == 0 || !s.done()); hops++ {
		s.enough = false
		err = s.cluster()
	}
	if err == nil && !x.conn.closing {
		body := x.Buf[l.at+listHead:]
		body, l.n = wire.Distinct(body)
		x.Buf = x.Buf[:l.at+listHead+len(body)]
	}
	l.end(err, nil)
}
