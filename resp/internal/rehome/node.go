package rehome

import (
	"errors"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

const (
	stepKeys  = 512     // of one node, in a step
	stepBytes = 1 << 20 // likewise, but for a larger key
	// groupKeys is how many keys with one token move together: more of them are cut.
	groupKeys = 2048
	// stepVisits is how many keys a node looks at for a step: there may be other databases.
	stepVisits = 64 << 10
	// garbageKeys is how many keys are listed at once that do not count.
	garbageKeys = 4096
)

// ErrIndex says that a node cannot list the keys of a step: it has become their owner since the step began.
var ErrIndex = errors.New("the keys that move have another owner")

// positionShift is by how much a place is longer than a position.
const positionShift = 12

// PositionOf returns the position of a key of a database that is spread.
func PositionOf(p store.Place) uint64 { return uint64(p >> positionShift) }

func cursorAt(position uint64) store.Cursor { return store.Cursor(position) }

// A Node answers the questions of a driver about the keys that its server owns. Its methods may be called from any
// goroutine.
type Node struct {
	// Scan is [store.Store.ScanIn].
	Scan func(span ring.Range, from store.Cursor, count int, visit func(store.Entry) bool) (next store.Cursor, ended bool, err error)
	// Tell has the store tell [Node.Sink] of changes from now on.
	Tell func()

	mu    sync.Mutex
	index *Index
	epoch uint64 // of the range in which the index lies
	// policies are those by which changes are noted.
	policies *database.Policies
}

// each visits the keys of a node at tokens of a span, from a position on. visit returns false to end it.
func (n *Node) each(spans []ring.Range, within ring.Range, from uint64, visit func(e store.Entry) bool) error {
	more := true
	for _, span := range spans {
		for _, part := range span.Cut(1) {
			at := max(cursorAt(from), store.CursorAt(part.Start), store.CursorAt(within.Start))
			if !more || !at.Valid() || !part.Contains(at.Token()) || !within.Contains(at.Token()) {
				continue
			}
			if within.End != 0 && (part.End == 0 || within.End < part.End) {
				part.End = within.End
			}
			if _, _, err := n.Scan(part, at, math.MaxInt, func(e store.Entry) bool {
				more = visit(e)
				return more
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// A cut finds where a step ends: behind whole tokens.
type cut struct {
	keys, visits, group int
	bytes               int64
	last                uint64 // position of the last key
}

// endsBefore reports whether the step ends before a key. of is set for keys that are to move.
func (c *cut) endsBefore(at uint64, of bool, bytes int64) bool {
	token := at>>20 != c.last>>20
	if token {
		c.group = 0
	}
	enough := c.keys >= stepKeys || c.bytes >= stepBytes || c.visits >= stepVisits
	if at != c.last && enough && (token || c.group == 0 || c.group >= groupKeys) {
		return true
	}
	if c.visits++; of {
		c.keys, c.group, c.bytes = c.keys+1, c.group+1, c.bytes+bytes
	}
	c.last = at
	return false
}

// A Question is one of RING STRIDE about a step.
type Question struct {
	What     string
	Policies *database.Policies
	Policy   database.Policy
	// Spans are what the node owns. Token is where the database is kept together, Epoch that of its range.
	Spans []ring.Range
	Token ring.Token
	Epoch uint64
}

// Answer returns the reply to a question.
func (n *Node) Answer(q *Question, w *wire.Writer) error {
	owns := slices.ContainsFunc(q.Spans, func(r ring.Range) bool { return r.Contains(q.Token) })
	if q.What == askPlan {
		until, err := n.plan(q.Policies, q.Policy, q.Spans, q.Token, q.Epoch, owns)
		w.Int(int64(until))
		return err
	}
	var body wire.Writer
	found := 0
	visit := func(stored []byte) {
		body.Bulk(stored)
		found++
	}
	var err error
	if q.What == askKeys {
		err = n.keys(q.Policy, q.Spans, q.Epoch, owns, visit)
	} else {
		err = n.garbage(q.Policies, q.Policy, q.Spans, q.Token, visit)
	}
	w.Array(found)
	w.Buf = append(w.Buf, body.Buf...)
	return err
}

// TogetherHead returns the head of the keys of a policy, or of the one from which they move, at which they lie together.
func TogetherHead(p database.Policy) database.Head {
	if p.Together {
		return p.Head()
	}
	return p.Old().Head()
}

// Ranges returns where requests and orders are that have to be over before a step can go on: the old and the new places
// of the keys that wait, and of those that an earlier step may be copying or deleting.
func Ranges(p database.Policy, token ring.Token) []ring.Range {
	last := max(p.Move.Until, p.Move.High, p.Move.Low+1) - 1
	return []ring.Range{
		{Start: token, End: token + 1},
		{Start: cursorAt(p.Move.Low).Token(), End: cursorAt(last).Token() + 1},
	}
}

// plan returns up to which position a step may go by the keys of this node: it owns spans. epoch is that of the range
// with the token at which the database is kept together, owns whether this node owns that.
func (n *Node) plan(policies *database.Policies, p database.Policy, spans []ring.Range, at ring.Token, epoch uint64, owns bool) (uint64, error) {
	until, c := uint64(database.End), cut{last: p.Move.Cursor}
	if !p.Old().Together {
		err := n.each(spans, ring.Whole, p.Move.Cursor, func(e store.Entry) bool {
			position := PositionOf(e.Place)
			if c.endsBefore(position, database.HeadOf(e.Key) == p.Old().Head(), e.Bytes) {
				until = position
				return false
			}
			return true
		})
		return until, err
	}
	if !owns {
		return until, nil
	}
	index, err := n.indexFor(policies, p, spans, at, epoch)
	if err != nil {
		return 0, err
	}
	keys, until := index.next(p.Move.Cursor, database.End, groupKeys)
	for _, k := range keys {
		if c.endsBefore(k.at, true, k.bytes) {
			return k.at, nil
		}
	}
	return until, nil
}

// indexFor returns an index that has keys at the cursor.
//
// Invariant: changes are told before the scan begins, so that a key is seen by one of the two. Without another epoch no
// other node can have written.
func (n *Node) indexFor(policies *database.Policies, p database.Policy, spans []ring.Range, at ring.Token, epoch uint64) (*Index, error) {
	n.mu.Lock()
	head := p.Old().Head()
	if i := n.index; i != nil && i.head == head && n.epoch == epoch && i.has(p.Move.Cursor, p.Move.Cursor+1) {
		n.mu.Unlock()
		return i, nil
	}
	index := newIndex(head, p.Move.Cursor)
	n.index, n.epoch, n.policies = index, epoch, policies
	n.mu.Unlock()
	n.Tell()
	err := n.each(spans, ring.Range{Start: at, End: at + 1}, 0, func(e store.Entry) bool {
		if database.HeadOf(e.Key) == head {
			index.add(keyAt{policies.Position(e.Key), e.Bytes, string(e.Key)})
		}
		return true
	})
	index.done()
	return index, err
}

// Sink returns what a store is to tell of changes: other, which may be nil, and the node while it keeps an index.
func (n *Node) Sink(other store.ChangeSink) store.ChangeSink {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.index == nil {
		return other
	}
	return func(author int64, keys iter.Seq[[]byte]) func(func()) {
		n.changed(keys)
		if other == nil {
			return nil
		}
		return other(author, keys)
	}
}

// changed notes keys that were written.
func (n *Node) changed(keys iter.Seq[[]byte]) {
	n.mu.Lock()
	index, policies := n.index, n.policies
	n.mu.Unlock()
	if index == nil {
		return
	}
	for key := range keys {
		if database.HeadOf(key) == index.head {
			index.note(key, policies.Position(key))
		}
	}
}

// Follow forgets the index once nothing moves any more.
func (n *Node) Follow(policies *database.Policies) {
	n.mu.Lock()
	drop := n.index != nil && !policies.Of(n.index.head.Number()).Moving
	if drop {
		n.index = nil
	}
	n.mu.Unlock()
	if drop {
		n.Tell()
	}
}

// keys calls visit for the keys of a step at their old places.
func (n *Node) keys(p database.Policy, spans []ring.Range, epoch uint64, owns bool, visit func(stored []byte)) error {
	head := p.Old().Head()
	if !p.Old().Together {
		return n.each(spans, ring.Whole, p.Move.Cursor, func(e store.Entry) bool {
			if PositionOf(e.Place) >= p.Move.Until {
				return false
			}
			if database.HeadOf(e.Key) == head {
				visit(e.Key)
			}
			return true
		})
	}
	if !owns {
		return nil
	}
	n.mu.Lock()
	index := n.index
	known := index != nil && index.head == head && n.epoch == epoch && index.has(p.Move.Cursor, p.Move.Until)
	n.mu.Unlock()
	if !known {
		return ErrIndex
	}
	keys, _ := index.next(p.Move.Cursor, p.Move.Until, math.MaxInt)
	for _, k := range keys {
		visit([]byte(k.key))
	}
	return nil
}

// garbage calls visit for keys that do not count, where earlier steps can have left some: not for all if there are
// many. at is the token at which the database is kept together.
func (n *Node) garbage(policies *database.Policies, p database.Policy, spans []ring.Range, at ring.Token, visit func(stored []byte)) error {
	left := garbageKeys
	look := func(e store.Entry) bool {
		if database.HeadOf(e.Key).Number() == p.Number {
			position := policies.Position(e.Key)
			if position >= p.Move.Low && position < p.Move.High && !policies.Serves(e.Key) {
				visit(e.Key)
				left--
			}
		}
		return left > 0
	}
	if p.Move.Low == p.Move.High {
		return nil
	}
	err := n.each(spans, ring.Whole, p.Move.Low, func(e store.Entry) bool {
		return PositionOf(e.Place) < p.Move.High && look(e)
	})
	if err != nil || left == 0 {
		return err
	}
	return n.each(spans, ring.Range{Start: at, End: at + 1}, 0, look)
}
