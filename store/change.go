package store

import (
	"bytes"
	"iter"
)

// A ChangeSink is called with the keys that a unit has changed, once the changes can be read and before any reply tells
// of them, with the latches of the keys held: by several goroutines at a time. author is what [Unit.SetAuthor] said. It
// must neither block nor call the store, nor keep the keys.
//
// If what it returns is not nil, replies that tell of the changes wait for more than durability: told is called when
// that is there, must not block, and calls done once it is enough, from any goroutine.
type ChangeSink func(author int64, keys iter.Seq[[]byte]) (told func(done func()))

// OnChange has a sink told of what units change. What follows another store's units is none of its own; Clear and what
// drops ranges do not tell either. nil ends that; calls may be under way then.
func (s *Store) OnChange(sink ChangeSink) {
	if sink == nil {
		s.onChange.Store(nil)
		return
	}
	s.onChange.Store(&sink)
}

// changeNotices are what the sink of [Store.OnChange] is told of a unit.
type changeNotices struct {
	u *Unit
	// author is whose changes these are.
	author int64
	// notices are what replies about what has been applied wait for.
	notices []func(done func())
	// touched are keys whose pieces or elements have changed, be it without their headers.
	touched [][]byte
}

// SetAuthor says whose changes the unit's are, from now on; 0: of no particular author.
func (cn *changeNotices) SetAuthor(author int64) { cn.author = author }

// notifyChanged tells of what has been applied.
func (cn *changeNotices) notifyChanged() {
	sink := cn.u.s.onChange.Load()
	if sink == nil || cn.u.following || len(cn.u.changes)+len(cn.touched) == 0 {
		return
	}
	if told := (*sink)(cn.author, cn.changedKeys); told != nil {
		cn.notices = append(cn.notices, told)
	}
}

func (cn *changeNotices) changedKeys(yield func([]byte) bool) {
	for i := range cn.u.changes {
		if !yield(cn.u.changes[i].key) {
			return
		}
	}
	for _, key := range cn.touched {
		if !cn.u.Changed(key) && !yield(key) {
			return
		}
	}
}

// touch notes that a piece or an element of a value has changed.
func (cn *changeNotices) touch(key []byte) {
	if n := len(cn.touched); n == 0 || !bytes.Equal(cn.touched[n-1], key) {
		cn.touched = append(cn.touched, key)
	}
}

// awaitNotices returns what is to be told, when the commit is settled, in place of w.
func (cn *changeNotices) awaitNotices(w Waiter) Waiter {
	if w == nil || len(cn.notices) == 0 {
		return w
	}
	w = &noticeWaiter{notices: cn.notices, waiter: w}
	cn.notices = nil
	return w
}

// A noticeWaiter waits, once a commit is settled, until all have been told of its changes.
type noticeWaiter struct {
	notices []func(done func())
	waiter  Waiter
}

// Settled implements Waiter.
func (t *noticeWaiter) Settled(err error) {
	if err != nil || len(t.notices) == 0 {
		t.waiter.Settled(err)
		return
	}
	first := t.notices[0]
	t.notices = t.notices[1:]
	first(func() { t.Settled(nil) })
}
