package lease

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// aLease has a clock of the test and a table of which every index is applied.
func aLease(now *time.Duration, skip Rules) *Lease {
	l := New(Config{Clock: func() time.Duration { return *now }, Consensus: nobody{}})
	l.holder.Disabled = skip
	l.Refresh = func() {}
	return l
}

// nobody is a consensus that decides nothing.
type nobody struct{}

func (nobody) Leader() (string, bool)                                  { return "", false }
func (nobody) Confirm(context.Context) (uint64, error)                 { return 0, errors.New("nobody") }
func (nobody) Barrier(context.Context) error                           { return errors.New("nobody") }
func (nobody) Term() uint64                                            { return 0 }
func (nobody) ApplyIn(context.Context, uint64, table.Command) error    { return table.ErrTerm }
func (nobody) Alone() (uint64, bool)                                   { return 0, false }
func (nobody) Fault() error                                            { return nil }
func (nobody) TransferLeadership(context.Context) error                { return nil }
func (nobody) TransferLeadershipFromStalledDisk(context.Context) error { return nil }

func (l *Lease) grantedNow() {
	l.Advance(func(h *Holder) { h.AddGrant(l.Cfg.Clock(), l.Cfg.Clock(), 0, 0) })
}

func TestLeaseEndsEarly(t *testing.T) {
	now := time.Hour
	l := aLease(&now, Rules{})
	if l.Valid() {
		t.Error("valid before it was granted")
	}
	l.grantedNow()
	now += Length - Margin - 1
	if !l.Valid() {
		t.Error("over too soon")
	}
	now++
	if l.Valid() {
		t.Error("valid at its end")
	}
}

// What began under a lease that has been over since is not answered as if nothing had
// happened, though there is one again.
func TestLeaseThatWasOverIsAnother(t *testing.T) {
	now := time.Hour
	l := aLease(&now, Rules{})
	l.grantedNow()
	spell, _ := l.Mark()
	for range 10 {
		now += RenewEvery
		l.grantedNow()
		if !l.HeldSince(spell) {
			t.Fatal("over although it was renewed in time")
		}
	}
	now += Length
	if l.HeldSince(spell) {
		t.Error("over, but still")
	}
	l.grantedNow()
	if !l.Valid() || l.HeldSince(spell) {
		t.Error("what was before it was over passes as what is")
	}
	if again, _ := l.Mark(); !l.HeldSince(again) {
		t.Error("what is does not pass")
	}
	// Without the rule an old answer would leave.
	l.holder.Disabled.SameInterval = true
	if !l.HeldSince(spell) {
		t.Error("this test proves nothing")
	}
}

// Whoever sees the new lease sees the ranges of the table that it was granted by.
func TestRoutesPrecedeTheLease(t *testing.T) {
	now := time.Hour
	l := aLease(&now, Rules{})
	looked := 0
	l.Refresh = func() {
		looked++
		if l.Valid() {
			t.Error("the lease is there before the routes")
		}
	}
	l.grantedNow()
	now += RenewEvery
	l.grantedNow()
	now += 2 * Length
	l.grantedNow()
	if looked != 2 {
		t.Errorf("looked %d times", looked)
	}
}

func TestWaitingForALease(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		now := time.Hour
		l := aLease(&now, Rules{})
		l.grantedNow()
		_, rows := l.Mark()
		now += 2 * Length
		await := func(most time.Duration, done chan struct{}) chan bool {
			is := make(chan bool, 1)
			go func() { is <- l.WaitUnchanged(rows, nil, most, done, nil) }()
			synctest.Wait()
			return is
		}
		if <-await(time.Second, nil) {
			t.Error("there was none")
		}
		done := make(chan struct{})
		ended := await(time.Hour, done)
		close(done)
		if <-ended {
			t.Error("nobody waited any more")
		}
		same := await(time.Hour, nil)
		l.grantedNow()
		if !<-same {
			t.Error("nothing has changed")
		}
		now += 2 * Length
		l.Refresh = func() { l.RowsChanged([]ServedRow{{ring.Whole, 1, 1}}, []ServedRow{{ring.Whole, 1, 3}}) }
		lost := await(time.Hour, nil)
		l.grantedNow()
		if <-lost {
			t.Error("the ranges are others")
		}
	})
}

// Only so many grants wait to count, and the newest always does.
func TestGrantsThatDoNotCountYetAreFew(t *testing.T) {
	var h Holder
	for i := range uint64(1000) {
		h.AddGrant(time.Duration(i), time.Duration(i), i+1, 0)
	}
	if len(h.pending) > maxPendingOfHolder || h.Until != 0 {
		t.Errorf("%d wait, until %v", len(h.pending), h.Until)
	}
	h.ApplyIndex(1000)
	if want := 999 + Length - Margin; h.Until != want || len(h.pending) != 0 {
		t.Errorf("until %v, want %v", h.Until, want)
	}
}

func TestStoppedLeaderDoesNotReplaceNodesAtOnce(t *testing.T) {
	var g Granter
	now := time.Hour
	g.BeginTerm(3, now)
	tick := func(d time.Duration) {
		for end := now + d; now < end; now += SuperviseInterval {
			g.NoteAwake(now)
		}
	}
	tick(10 * time.Second)
	a := NodeStart{"a", 1}
	if err := g.Grant(a, 3, now, NodeCondition{}, 0); err != nil {
		t.Fatal(err)
	}
	now += time.Minute // in which it did nothing
	g.NoteAwake(now)
	if g.LeaseOver(a, now) {
		t.Error("who could not ask is not away")
	}
	tick(Length + Margin)
	if !g.LeaseOver(a, now) {
		t.Error("who has had its time is")
	}
}

// A leader that is stopped again and again still replaces a node that asks no more.
func TestLeaderThatStallsAgainAndAgainReplacesADeadNode(t *testing.T) {
	var g Granter
	now := time.Hour
	g.BeginTerm(1, now)
	dead, alive := NodeStart{"dead", 1}, NodeStart{"alive", 1}
	if err := g.Grant(dead, 1, now, NodeCondition{}, 0); err != nil {
		t.Fatal(err)
	}
	began := now
	for !g.LeaseOver(dead, now) {
		if now-began > 10*time.Second {
			t.Fatal("not over after 10 s in which the leader was at work for 4 s")
		}
		now += 600 * time.Millisecond // stopped
		g.NoteAwake(now)
		for range 4 {
			if err := g.Grant(alive, 1, now, NodeCondition{}, 0); err != nil {
				t.Fatal(err)
			}
			now += SuperviseInterval
			g.NoteAwake(now)
		}
		if g.LeaseOver(alive, now) {
			t.Fatal("a node that asks whenever the leader is at work is over")
		}
	}
	if now-began < Length+Margin {
		t.Errorf("over after %v", now-began)
	}
}

// A start that does not apply what it was granted is granted nothing more, and is over like
// one that is dead; one that lags for less goes on.
func TestStartThatDoesNotApplyTheTableIsGrantedNothing(t *testing.T) {
	var g Granter
	now := time.Hour
	g.BeginTerm(1, now)
	a := NodeStart{"a", 1}
	ask := func(applied, index uint64) error {
		g.NoteAwake(now)
		return g.Grant(a, 1, now, NodeCondition{Applied: applied}, index)
	}
	applied, index := uint64(7), uint64(7)
	for range 10 { // it lags by one renewal
		applied, index = index, index+1
		if err := ask(applied, index); err != nil {
			t.Fatal(err)
		}
		now += RenewEvery
	}
	var err error
	last := now
	for began := now; now < began+stuckAfter+RenewEvery; now += RenewEvery {
		if err = ask(applied, index); err == nil {
			last = now
		}
	}
	if !errors.Is(err, ErrStuck) {
		t.Fatalf("granted: %v", err)
	}
	if g.LeaseOver(a, last+Length) {
		t.Error("over before its last grant is")
	}
	if !g.LeaseOver(a, last+Length+Margin) {
		t.Error("not over when its last grant is")
	}
	now = last + Length + Margin
	if err := ask(applied, index); !errors.Is(err, ErrStuck) {
		t.Errorf("granted before it is replaced: %v", err)
	}
	if err := ask(index, index); err != nil {
		t.Errorf("when it has caught up: %v", err)
	}
	if err := g.Grant(NodeStart{"old", 1}, 1, now, NodeCondition{}, index); err != nil || len(g.pending[NodeStart{"old", 1}]) != 0 {
		t.Errorf("a build that does not tell what it has applied: %v, %v", err, g.pending)
	}
	for range 1000 {
		now += time.Millisecond
		index++
		_ = ask(applied, index)
	}
	if n := len(g.pending[a]); n > maxPendingOfStart {
		t.Errorf("%d grants are kept", n)
	}
}

// A start that serves rows before it has asked for a lease has the time to ask for one.
func TestStartingNodeIsNotReplaced(t *testing.T) {
	var g Granter
	g.BeginTerm(1, 0)
	old, fresh := NodeStart{"a", 1}, NodeStart{"a", 2}
	end := Length + Margin
	g.NoteServing(map[NodeStart]bool{old: true}, 0)
	if g.LeaseOver(old, end-1) || !g.LeaseOver(old, end) {
		t.Error("what an earlier leader may have granted is over at another moment")
	}
	later := 10 * end
	g.NoteServing(map[NodeStart]bool{old: true, fresh: true}, later)
	if !g.LeaseOver(old, later) {
		t.Error("a start that is long gone is waited for")
	}
	if g.LeaseOver(fresh, later+end-1) || !g.LeaseOver(fresh, later+end) {
		t.Error("a start that has not asked yet is replaced at another moment than after a lease")
	}
	g.NoteServing(nil, later+1)
	g.NoteServing(map[NodeStart]bool{fresh: true}, 2*later)
	if len(g.servingSince) != 1 || g.LeaseOver(fresh, 2*later+end-1) {
		t.Errorf("known are %v", g.servingSince)
	}
}

func TestClocksOnTheWallAreCompared(t *testing.T) {
	l := New(Config{Clock: func() time.Duration { return 0 }, Consensus: nobody{}})
	began := time.UnixMilli(1_000_000)
	for _, c := range []struct {
		ahead, took time.Duration
		skewed      bool
	}{
		{0, 10 * time.Millisecond, false},
		{520 * time.Millisecond, 10 * time.Millisecond, true},
		{-2 * time.Second, 10 * time.Millisecond, true},
		{520 * time.Millisecond, 200 * time.Millisecond, false}, // perhaps the answer took its time
	} {
		ended := began.Add(c.took)
		l.Counters.Compare("b", began, ended, began.Add(c.took/2+c.ahead).UnixMilli())
		s := l.Stats("a")
		if d := s.ClockOffset - c.ahead; d > time.Millisecond || d < -time.Millisecond || s.ClockSkewed != c.skewed || s.ClockOf != "b" {
			t.Errorf("%+v: %v of %q, skewed: %v", c, s.ClockOffset, s.ClockOf, s.ClockSkewed)
		}
	}
}

// The lapse is looked for after the lease was found valid: here the lease ends and is regained right after
// the clock was read.
func TestLapseIsNoticedThatComesWhileValidityIsChecked(t *testing.T) {
	now := time.Hour
	l := aLease(&now, Rules{})
	l.grantedNow()
	var afterRead func()
	l.Cfg.OwnClock = func() time.Duration {
		read := now
		if f := afterRead; f != nil {
			afterRead = nil
			f()
		}
		return read
	}
	spell, _ := l.Mark()
	if !l.HeldSince(spell) {
		t.Fatal("not held")
	}
	afterRead = func() {
		now += 2 * Length
		l.grantedNow()
	}
	if l.HeldSince(spell) {
		t.Error("held, though it has lapsed since the mark")
	}
	if spell, _ := l.Mark(); !l.HeldSince(spell) {
		t.Error("not regained")
	}
}

func TestClockOfLeasesThatStandsStillIsNoticed(t *testing.T) {
	real := time.Now()
	w := ClockWatch{At: time.Hour, Real: real}
	if w.HasStopped(time.Hour, real.Add(time.Millisecond)) || w.HasStopped(time.Hour+ClockCheck*9/10, real.Add(ClockCheck)) {
		t.Error("a clock that goes on has stopped")
	}
	at := w.At
	if !w.HasStopped(at, real.Add(2*ClockCheck)) || !w.Stopped {
		t.Error("not noticed")
	}
	if w.HasStopped(at, real.Add(3*ClockCheck)) || !w.Stopped {
		t.Error("told twice, or forgotten")
	}
	if w.HasStopped(at+ClockCheck, real.Add(4*ClockCheck)) || w.Stopped {
		t.Error("it goes on and counts as stopped")
	}
	// While the machine is suspended the timers of the process stand still.
	if w.HasStopped(at+time.Hour, real.Add(5*ClockCheck)) || w.Stopped {
		t.Error("a clock that has gone ahead has stopped")
	}
}

// A node whose own clock has gone ahead answers nothing before its lease is renewed.
func TestLeaseIsOverWhenOwnClockGoesAhead(t *testing.T) {
	now, own := time.Hour, time.Hour
	l := New(Config{Clock: func() time.Duration { return now }, OwnClock: func() time.Duration { return own }, Consensus: nobody{}})
	l.Refresh = func() {}
	grant := func() { l.Advance(func(h *Holder) { h.AddGrant(own, own, 0, 0) }) }
	grant()
	spell, _ := l.Mark()
	if !l.HeldSince(spell) {
		t.Error("no lease")
	}
	own += Length
	if l.Valid() || l.HeldSince(spell) {
		t.Error("valid after a pause")
	}
	grant()
	if !l.Valid() || l.HeldSince(spell) {
		t.Error("what was begun before the pause passes")
	}
}

func TestRevokedLeaseIsOverUntilItIsGrantedAgain(t *testing.T) {
	now := time.Hour
	l := aLease(&now, Rules{})
	l.grantedNow()
	spell, _ := l.Mark()
	l.Revoke()
	if l.Valid() || l.HeldSince(spell) {
		t.Error("valid after it was revoked")
	}
	now += time.Millisecond
	l.grantedNow()
	if !l.Valid() || l.HeldSince(spell) {
		t.Error("what was begun before it was revoked passes")
	}
}
