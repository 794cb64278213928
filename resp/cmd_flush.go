package resp

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/internal/spanset"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// cmdFlushall removes what the node serves with one commit. It takes no longer for many
// keys than for few, so ASYNC and SYNC are the same.
func cmdFlushall(x *call) {
	whileUnmoved(x, -1, func() { flushKeys(x, "FLUSHALL", flushSpans) })
}

// cmdFlushdb removes the keys of one database. A node where other databases hold keys, too, has done
// nothing of its part: its keys are removed one after the other.
func cmdFlushdb(x *call) {
	whileUnmoved(x, x.database(), func() { flushOwnDatabase(x) })
}

func flushOwnDatabase(x *call) {
	if !x.spreads() {
		flushKeys(x, "FLUSHDB", flushDatabase)
		return
	}
	if !flushOptions(x) {
		return
	}
	parts, ok := scatterParts(x, longTimeout, []byte("FLUSHDB"))
	if !ok {
		return
	}
	var left []ring.Range
	for i, reply := range parts.replies {
		if string(reply) == notFlushed {
			left = append(left, parts.spans[i]...)
			parts.Made--
		}
	}
	slices.SortFunc(left, func(a, b ring.Range) int { return cmp.Compare(a.Start, b.Start) })
	flushByKeys(x, left, &parts.Outcome)
	if msg := parts.Msg(true); msg != "" {
		x.Error(msg)
		return
	}
	x.OK()
}

// notFlushed is a node's reply to its part of FLUSHDB if it has removed nothing, since other databases
// hold keys there.
const notFlushed = ":0\r\n"

// flushByKeys removes the keys of a database in some spans one after the other, wherever they are served
// by then: ranges may change hands meanwhile. Each request is a part of o.
//
// Each key that is there throughout is removed once, as SCAN comes by it. What others write meanwhile is
// removed if it is written before.
func flushByKeys(x *call, left []ring.Range, o *outcome.Outcome) {
	if len(left) == 0 {
		return
	}
	by, l := x.srv.policies(), x.newLister(nil, scanReply)
	body := len(x.Buf)
	defer func() {
		if !x.conn.closing {
			x.Buf = x.Buf[:l.at]
		}
	}()
	s := newScan(x, &command.ScanOptions{Count: flushStep, Pattern: []byte("*")}, l)
	for {
		err := s.cluster()
		if err == nil && (x.conn.closing || x.conn.Closed.Load()) {
			err = command.ReplyError(msgUnreachable)
		}
		if err != nil {
			o.Refuse(command.ErrorText(err)) // it only reads
			return
		}
		keys := make([][]byte, 0, l.n)
		for rest := x.Buf[body:]; len(rest) > 0; rest = rest[wire.ValueLen(rest):] {
			name, _ := wire.ReplyText(rest)
			key := database.AppendKey(nil, by.HeadFor(by.Number(database.Head(l.data)), name), name)
			if at := x.Unit.Place(key).Token(); spanset.Cover(left, []ring.Range{{Start: at, End: at + 1}}) {
				keys = append(keys, key)
			}
		}
		x.Buf, l.n, l.full, s.enough = x.Buf[:body], 0, false, false
		if len(keys) > 0 {
			removeStored(x, keys, by, o)
		}
		if o.Over() || s.Ended() {
			return
		}
	}
}

// removeStored removes stored keys, at once if one node serves them.
func removeStored(x *call, keys [][]byte, by *database.Policies, o *outcome.Outcome) {
	words := wire.AppendBulkString(wire.AppendArray(nil, 1+len(keys)), "UNLINK")
	for _, key := range keys {
		words = wire.AppendBulk(words, key)
	}
	_, msg := x.ask(words, by, true)
	if msg != msgCrossSlot || len(keys) == 1 {
		o.Heard(msg)
		return
	}
	for i := 0; i < len(keys) && !o.Over(); i++ {
		removeStored(x, keys[i:i+1], by, o)
	}
}

// flushOptions begins a FLUSH; it has replied, and returns false, if the options are wrong.
func flushOptions(x *call) bool {
	if x.conn.footprint.MarkAll(); len(x.Args) == 1 || len(x.Args) == 2 && (wire.EqualFold(x.Args[1], "async") || wire.EqualFold(x.Args[1], "sync")) {
		return true
	}
	x.Error(command.MsgSyntax)
	return false
}

// flushKeys has each node remove keys of its own.
func flushKeys(x *call, name string, flush func(*call, []ring.Range) error) {
	if !flushOptions(x) {
		return
	}
	if x.spreads() {
		if _, ok := x.scatter(longTimeout, []byte(name)); ok {
			x.OK()
		}
		return
	}
	switch err := x.own(func(spans []ring.Range) error {
		switch {
		case len(spans) == 0:
			return nil
		case x.srv.scarceIn(x.srv.routes.Load(), spans):
			return command.ReplyError(msgNoReplicas)
		}
		return flush(x, spans)
	}); {
	case errors.Is(err, errOthers):
		x.Buf = append(x.Buf, notFlushed...)
		return
	case err != nil:
		x.Fail(err)
		return
	}
	data := x.database()
	x.srv.blocked.dismissGone(func(w *waiter) bool { return name == "FLUSHALL" || database.Of(w.Keys[0]) == data })
	x.OK()
}

// flushSpans empties spans of this node.
func flushSpans(x *call, spans []ring.Range) error {
	var done store.Signal
	return tellFlushed(x, -1, &done, clearSpans(x, spans, &done, nil))
}

// tellFlushed waits until what was flushed is durable and clients and replicas have heard of it: that a database was,
// or, with a number below 0, all.
func tellFlushed(x *call, number int, done *store.Signal, err error) error {
	if err != nil {
		return err
	}
	told := x.srv.tracking.everything()
	err = done.Wait()
	x.srv.keyEvents.Flushed(number)
	<-told.over()
	return err
}

// errOthers says that a database cannot be flushed as a whole, since others hold keys.
var errOthers = errors.New("other databases hold keys")

// flushDatabase empties the database in spans of this node. While no other one has a key there, it is
// one commit. Else the keys are removed one after the other: what others write meanwhile is removed or
// stays, as for each key its turn comes.
func flushDatabase(x *call, spans []ring.Range) error {
	var done store.Signal
	err := tellFlushed(x, x.srv.policies().Number(database.Head(x.database())), &done, clearSpans(x, spans, &done, func(held *store.Held) error {
		for _, span := range spans {
			all, err := held.RangeLoad(span)
			if err != nil {
				return err
			}
			if own, err := held.DatabaseLoad(x.database(), span); err != nil || own.Keys < all.Keys {
				return cmp.Or(err, errOthers)
			}
		}
		return nil
	}))
	if !errors.Is(err, errOthers) || x.conn.from != nil {
		return err
	}
	f := databaseFlush{call: x, spans: spans, by: x.srv.policies(), number: numberOf(x)}
	for _, span := range spans {
		if err := f.flush(span); err != nil && f.began {
			o := outcome.Outcome{Made: 1}
			o.Heard(command.ErrorText(err))
			return command.UnknownError(o.Msg(true))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// A databaseFlush removes the keys of a database one after the other.
type databaseFlush struct {
	*call
	spans  []ring.Range
	by     *database.Policies
	number int
	began  bool // some keys are removed: to start again would remove keys that were written since
}

// flushStep is how many keys a databaseFlush removes with one commit.
const flushStep = 256

func (f *databaseFlush) flush(span ring.Range) error {
	for at, ended := store.CursorAt(span.Start), false; !ended; {
		var keys [][]byte
		var err error
		at, ended, err = f.srv.store.ScanIn(span, at, maxCount, func(e store.Entry) bool {
			if database.Of(e.Key) == f.by.Data(f.number) {
				keys = append(keys, bytes.Clone(e.Key))
			}
			return len(keys) < flushStep
		})
		if err == nil && len(keys) > 0 {
			err = f.remove(keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remove removes keys with one commit, if they are this node's.
func (f *databaseFlush) remove(keys [][]byte) error {
	c, u := f.conn, f.Unit
	routes := c.enter()
	defer c.leave()
	if routes != nil && (!spanset.Cover(routes.spans, f.spans) || routes.Policies.Swapping() || routes.swaps() != f.by.Swaps()) {
		return command.ErrMoved
	}
	if hasLostWrites(c) {
		return command.ReplyError(scripts.MsgAtReplica)
	}
	if err := f.stillWanted(); err != nil {
		return err
	}
	places := make([]store.Place, len(keys))
	for i, key := range keys {
		places[i] = u.Place(key)
	}
	u.Begin(f.srv.store.Now(), places)
	u.RemovesOnly()
	for _, key := range keys {
		v, err := u.Get(key)
		if err != nil {
			u.Abort()
			return err
		}
		u.Delete(key, v)
	}
	var done store.Signal
	wait, err := u.Commit(&done)
	if f.began = f.began || err == nil; wait && err == nil {
		err = done.Wait()
	}
	return err
}

// clearSpans is over before any of the spans changes hands. If one of them is not this
// node's any more, it fails with ErrMoved and has removed nothing. may, unless it is nil, is asked when
// nothing is written any more, and may refuse.
func clearSpans(x *call, spans []ring.Range, done store.Waiter, may func(*store.Held) error) error {
	routes := x.conn.enter()
	defer x.conn.leave()
	// A swap may have changed whose data this is, or a move of keys may have begun.
	stale := x.conn.from != nil && (x.agreed.routes.swaps() != routes.swaps() || x.agreed.routes.steps(x.Row, x.agreed.data) != routes.steps(x.Row, x.agreed.data))
	if routes != nil && (stale || !spanset.Cover(routes.spans, spans) || routes.Policies.Swapping()) {
		return command.ErrMoved
	}
	allowed := func(held *store.Held) error {
		if err := x.stillWanted(); err != nil || may == nil {
			return err
		}
		return may(held)
	}
	if len(spans) == 1 && spans[0] == ring.Whole {
		return x.srv.store.Clear(done, allowed)
	}
	return x.srv.store.ClearRanges(done, allowed, spans...)
}
