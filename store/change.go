package store

import "iter"

// A ChangeSink is called with the keys that a unit has changed, once the changes can be read
// and before any reply tells of them, with the latches of the keys held: by several goroutines
// at a time. author is what [Unit.By] said. It must neither block nor call the store, nor keep
// the keys.
//
// If what it returns is not nil, replies that tell of the changes wait for more than
// durability: told is called when that is there, must not block, and calls done once it is
// enough, from any goroutine.
type ChangeSink func(author int64, keys iter.Seq[[]byte]) (told func(done func()))

// OnChange has a sink told of what units change. What follows another store's units is none of
// its own; Clear and what drops ranges do not tell either. nil ends that; calls may be under
// way then.
func (s *Store) OnChange(sink ChangeSink) {
	if sink == nil {
		s.onChange.Store(nil)
		return
	}
	s.onChange.Store(&sink)
}

// By says whose changes the unit's are, from now on; 0: nobody's in particular.
func (u *Unit) By(author int64) { u.author = author }

// tellChanged tells of what has been applied.
func (u *Unit) tellChanged() {
	sink := u.s.onChange.Load()
	if sink == nil || u.following || len(u.changes)+len(u.touched) == 0 {
		return
	}
	if told := (*sink)(u.author, u.changedKeys); told != nil {
		u.tolds = append(u.tolds, told)
	}
}

func (u *Unit) changedKeys(yield func([]byte) bool) {
	for i := range u.changes {
		if !yield(u.changes[i].key) {
			return
		}
	}
	for _, key := range u.touched {
		if !yield(key) {
			return
		}
	}
}

// awaitTold returns what is to be told, when the commit is settled, in place of w.
func (u *Unit) awaitTold(w Waiter) Waiter {
	if w == nil || len(u.tolds) == 0 {
		return w
	}
	w = &toldWaiter{tolds: u.tolds, waiter: w}
	u.tolds = nil
	return w
}

// A toldWaiter waits, once a commit is settled, until all have been told of its changes.
type toldWaiter struct {
	tolds  []func(done func())
	waiter Waiter
}

// Settled implements Waiter.
func (t *toldWaiter) Settled(err error) {
	if err != nil || len(t.tolds) == 0 {
		t.waiter.Settled(err)
		return
	}
	first := t.tolds[0]
	t.tolds = t.tolds[1:]
	first(func() { t.Settled(nil) })
}
