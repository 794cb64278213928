package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// feeds are what a primary feeds to others: its office, with taps, connections and
// clocks.
//
// Locks: turning, then mu. mu is taken within the store's taps, so the store is never
// called with it held.
type feeds struct {
	e    *Engine
	poke chan struct{} // something is to be looked at by tend
	fire chan struct{} // somebody is to be released

	turning turnstile // one turn at a time
	seen    *table.State
	gone    bool
	fresh   []*feedLine // to be started after the turn

	mu     sync.Mutex
	office *office
	lines  map[*line]*feedLine
	stills []ring.Range  // held and drained
	change chan struct{} // closed when something has changed, if somebody waits for it
}

func (f *feeds) init(e *Engine) {
	f.e, f.turning = e, newTurnstile()
	f.poke, f.fire = make(chan struct{}, 1), make(chan struct{}, 1)
	f.lines = make(map[*line]*feedLine)
	f.office = newOffice(e.cfg.Self, e.cfg.Incarnation, f.queue)
	f.office.out = e.cfg.rules
}

// shut ends what is left of the taps, and lets no turn begin any more.
func (f *feeds) shut() {
	f.turning.Lock()
	f.gone = true
	f.turning.Unlock()
	f.mu.Lock()
	all := slices.Clone(f.office.old)
	for _, q := range f.office.sets {
		all = append(all, q)
	}
	f.mu.Unlock()
	for _, q := range all {
		if q.follow != nil {
			q.follow.Close(errClosed)
		}
	}
}

// errClosed is what becomes of changes that wait for others when this node ends.
var errClosed = errors.New("this node ends")

// serves tells of rows of a state whether they are open to clients, and whether they are
// held and drained.
func (f *feeds) serves(st *table.State) func(*table.Row) (open, still bool) {
	type serving struct{ open, still bool }
	rows := make(map[ring.Token]serving)
	f.mu.Lock()
	defer f.mu.Unlock()
	for row := range st.Rows() {
		if row.Primary == f.e.cfg.Self && row.Incarnation == f.e.cfg.Incarnation {
			rows[row.Range.Start] = serving{f.office.serves(row), f.isStill(row.Range)}
		}
	}
	return func(row *table.Row) (open, still bool) {
		s := rows[row.Range.Start]
		return s.open, s.still
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// queue puts a frame on its line; mu is held.
func (f *feeds) queue(l *line, frame *feedFrame) {
	fl := f.lines[l]
	if fl == nil {
		return
	}
	idle := len(fl.log.parts) == 0
	fl.log.add(frame)
	if fl.log.bytes > streamLimit {
		f.cut(fl, ErrBehind.Error())
		return
	}
	if !idle || !fl.along() {
		signal(fl.wake)
	}
}

// cut ends a line's session, so that its member will be released; mu is held.
func (f *feeds) cut(fl *feedLine, why string) {
	if fl.l.broken == "" {
		f.office.cut(fl.l, why)
		f.e.cfg.Logger.Warn("a backup is being removed from the in-sync set", "node", fl.l.node, "err", why)
	}
	f.ended(fl)
}

// ended lets a line's goroutines end; mu is held.
func (f *feeds) ended(fl *feedLine) {
	if !fl.over {
		fl.over = true
		fl.log = backlog{}
		fl.cancel()
		signal(fl.wake)
	}
	signal(f.fire)
	f.tell()
}

// tell wakes those who wait; mu is held.
func (f *feeds) tell() {
	if f.change != nil {
		close(f.change)
		f.change = nil
	}
}

// until waits for a condition, which is looked at with mu held.
func (f *feeds) until(ctx context.Context, holds func() (bool, error)) error {
	for {
		f.mu.Lock()
		ok, err := holds()
		if f.change == nil {
			f.change = make(chan struct{})
		}
		change := f.change
		f.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// freed lets replies leave. mu is not held.
func (f *feeds) freed(all []acked) {
	for _, a := range all {
		a.to.Acked(a.number)
	}
}

// follow makes a quorum one that is given changes.
func (f *feeds) follow(q *quorum) {
	q.follow = f.e.cfg.Store.Follow(func(n uint64, batch []byte) {
		f.mu.Lock()
		f.office.give(q, n, batch, time.Now())
		f.mu.Unlock()
		f.e.reached(WriteGiven)
	}, func() { f.pace(q) })
}

// pace holds those back who are about to write in a quorum's rows, while a member is
// behind: each for a bounded time, unless memory would run out.
func (f *feeds) pace(q *quorum) {
	behind := func() (most int64) {
		for _, m := range q.members {
			if l := f.office.lines[m]; l != nil && l.broken == "" {
				if fl := f.lines[l]; fl != nil {
					most = max(most, fl.log.bytes)
				}
			}
		}
		return most
	}
	f.mu.Lock()
	under := behind()
	f.mu.Unlock()
	if under < streamFull {
		return
	}
	late := time.Now().Add(paceMost)
	ctx, cancel := context.WithTimeout(f.e.ctx, paceMost)
	defer cancel()
	_ = f.until(ctx, func() (bool, error) { return behind() < streamFull, nil })
	if time.Now().Before(late) {
		return
	}
	_ = f.until(f.e.ctx, func() (bool, error) { return behind() < streamLimit/2, nil })
}

// errLost is what becomes of changes of rows that the table has taken away.
var errLost = errors.New("the range has another primary now")

// turn brings the office in line with the newest state.
func (f *feeds) turn() {
	f.turning.Lock()
	defer f.turning.Unlock()
	st := f.e.cfg.Table.State()
	if n, known := st.Node(f.e.cfg.Self); f.gone || st == f.seen || !known || n.Incarnation != f.e.cfg.Incarnation {
		return
	}
	f.mu.Lock()
	f.office.min = f.e.cfg.MinInSync()
	u := f.office.consider(st, f.isStill)
	f.mu.Unlock()
	if err := f.take(u, st, nil, nil); err != nil {
		f.e.cfg.Logger.Error("subscribing to the writes of ranges failed", "err", err)
		return
	}
	f.seen = st
	f.open(u.opening)
}

// anew has the next turn look at all again.
func (f *feeds) anew() {
	f.turning.Lock()
	f.seen = nil
	f.turning.Unlock()
}

// take makes a turn; turning is held. then is called at the same moment.
func (f *feeds) take(u *turn, st *table.State, end []Outgoing, then func()) error {
	moves := make([]Retapped, 0, len(u.moves))
	for _, m := range u.moves {
		to := Retapped{Range: m.r}
		if m.to != nil {
			if m.to.follow == nil {
				f.follow(m.to)
			}
			to.To = m.to.follow
		}
		moves = append(moves, to)
	}
	var freed []acked
	var done []*quorum
	at := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if then != nil {
			then()
		}
		fresh, ended := f.office.take(u, st)
		for _, l := range fresh {
			f.begin(l)
		}
		for _, l := range ended {
			if fl := f.lines[l]; fl != nil {
				delete(f.lines, l)
				f.ended(fl)
			}
		}
		for l, fl := range f.lines {
			if l.broken != "" {
				f.ended(fl)
			}
		}
		f.rejoin(u.joins)
		freed, done = f.office.freed(), f.office.done()
		f.tell()
		signal(f.fire)
	}
	if len(moves) == 0 && len(end) == 0 {
		at()
	} else if err := f.e.cfg.Store.Retap(moves, end, at); err != nil {
		return err
	}
	for _, q := range u.fail {
		if q.follow != nil {
			q.follow.Close(errLost)
		}
	}
	// Other rows may have been of the same quorum and go on: what they show of its
	// changes waits until their members have it, as ever.
	f.mu.Lock()
	f.office.old = append(f.office.old, u.fail...)
	f.mu.Unlock()
	f.freed(freed)
	f.close(done)
	f.start()
	return nil
}

// close ends quorums that nothing is left of.
func (f *feeds) close(done []*quorum) {
	for _, q := range done {
		if q.follow != nil {
			q.follow.Close(nil)
		}
	}
}

// rejoin tells all members of rows that these go on under other bounds; mu is held.
func (f *feeds) rejoin(ts []*tenure) {
	for node, l := range f.office.lines {
		var rows []joinRow
		for _, t := range ts {
			if slices.Contains(t.members, node) {
				rows = append(rows, joinRow{Ref: t.Ref})
			}
		}
		if len(rows) > 0 {
			f.office.emit(l, &feedFrame{kind: feedJoin, rows: rows}, time.Now())
		}
	}
}

// isStill tells whether a range was held and drained; mu is held.
func (f *feeds) isStill(r ring.Range) bool {
	return slices.ContainsFunc(f.stills, func(s ring.Range) bool { return within(r, s) })
}

// learns notes that ranges come by a stream.
func (f *feeds) learns(rs []ring.Range) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.office.learns(rs)
}

// follows notes that this node is about to follow another in rows.
func (f *feeds) follows(rows []joinRow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.office.follows(rows)
}

// beatEvery is how often a member is asked to say that it is there.
const beatEvery = 250 * time.Millisecond

// tend keeps the front and the office by the newest state, and the clocks.
func (e *Engine) tend(ctx context.Context) {
	f := &e.feeds
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	tick := time.NewTicker(min(beatEvery, e.cfg.Patience/4))
	defer tick.Stop()
	var beaten, tidied time.Time
	for {
		e.publish()
		select {
		case <-changes:
		case <-f.poke:
		case now := <-tick.C:
			f.mu.Lock()
			for _, l := range f.office.overdue(now, e.cfg.Patience) {
				if fl := f.lines[l]; fl != nil {
					f.cut(fl, fmt.Sprintf("it acknowledged nothing for %v", e.cfg.Patience))
				}
			}
			if now.Sub(beaten) >= beatEvery {
				f.office.beat(now)
				beaten = now
			}
			done := f.office.done()
			changed := f.office.min != e.cfg.MinInSync()
			f.mu.Unlock()
			f.close(done)
			if changed {
				f.anew()
			}
			if now.Sub(tidied) > rememberFor/4 {
				e.followers.tidy(now)
				tidied = now
			}
		case <-ctx.Done():
			return
		}
	}
}

// dismiss has the table release whoever is not fed any more, and goes on until it has.
func (e *Engine) dismiss(ctx context.Context) {
	f := &e.feeds
	for ctx.Err() == nil {
		f.mu.Lock()
		all := f.office.dismissals(e.cfg.Table.State())
		f.mu.Unlock()
		// Invariant: a primary without a lease releases no backup. It serves nobody, and the
		// fence of its own failover has just ended its sessions: if the release came first,
		// it would be left as the only member, and nobody could replace it.
		if len(all) > 0 && !e.lease.Valid() {
			pause(ctx, leasePause)
			continue
		}
		for _, d := range all {
			e.reached(ShrinkDue)
			err := e.cfg.Table.Apply(ctx, &table.Release{Node: d.node, Rows: d.rows})
			if err == nil {
				e.reached(ShrinkDecided)
			}
			if err != nil && ctx.Err() == nil {
				e.cfg.Logger.Info("removing a backup from the in-sync set failed", "node", d.node, "err", err)
			}
		}
		if len(all) > 0 {
			e.publish()
			pause(ctx, 10*time.Millisecond)
			continue
		}
		select {
		case <-f.fire:
		case <-ctx.Done():
		}
	}
}
