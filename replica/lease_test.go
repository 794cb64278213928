package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/replica/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
)

// aLease has a clock of the test and a table of which every index is applied.
func aLease(now *time.Duration, skip leaseRules) *Lease {
	l := newLease(LeaseConfig{Clock: func() time.Duration { return *now }, Consensus: nobody{}})
	l.holder.disabled = skip
	l.refresh = func() {}
	return l
}

// nobody is a consensus that decides nothing.
type nobody struct{}

func (nobody) Leader() (string, bool)                                  { return "", false }
func (nobody) Confirm(context.Context) (uint64, error)                 { return 0, errors.New("nobody") }
func (nobody) Barrier(context.Context) error                           { return errors.New("nobody") }
func (nobody) Term() uint64                                            { return 0 }
func (nobody) ApplyIn(context.Context, uint64, table.Command) error    { return table.ErrTerm }
func (nobody) Alone() bool                                             { return false }
func (nobody) Fault() error                                            { return nil }
func (nobody) TransferLeadership(context.Context) error                { return nil }
func (nobody) TransferLeadershipFromStalledDisk(context.Context) error { return nil }

func (l *Lease) grantedNow() {
	l.advance(func(h *holder) { h.addGrant(l.cfg.Clock(), l.cfg.Clock(), 0, 0) })
}

func TestLeaseEndsEarly(t *testing.T) {
	now := time.Hour
	l := aLease(&now, leaseRules{})
	if l.Valid() {
		t.Error("valid before it was granted")
	}
	l.grantedNow()
	now += leaseLength - leaseMargin - 1
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
	l := aLease(&now, leaseRules{})
	l.grantedNow()
	spell, _ := l.Mark()
	for range 10 {
		now += leaseRenew
		l.grantedNow()
		if !l.HeldSince(spell) {
			t.Fatal("over although it was renewed in time")
		}
	}
	now += leaseLength
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
	l.holder.disabled.sameInterval = true
	if !l.HeldSince(spell) {
		t.Error("this test proves nothing")
	}
}

// Whoever sees the new lease sees the ranges of the table that it was granted by.
func TestRoutesAreThereBeforeTheLeaseIs(t *testing.T) {
	now := time.Hour
	l := aLease(&now, leaseRules{})
	looked := 0
	l.refresh = func() {
		looked++
		if l.Valid() {
			t.Error("the lease is there before the routes")
		}
	}
	l.grantedNow()
	now += leaseRenew
	l.grantedNow()
	now += 2 * leaseLength
	l.grantedNow()
	if looked != 2 {
		t.Errorf("looked %d times", looked)
	}
}

func TestWaitingForALease(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		now := time.Hour
		l := aLease(&now, leaseRules{})
		l.grantedNow()
		_, rows := l.Mark()
		now += 2 * leaseLength
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
		now += 2 * leaseLength
		l.refresh = func() { l.rowsVersion.Store(rows + 1) }
		lost := await(time.Hour, nil)
		l.grantedNow()
		if <-lost {
			t.Error("the ranges are others")
		}
	})
}

// Only so many grants wait to count, and the newest always does.
func TestGrantsThatDoNotCountYetAreFew(t *testing.T) {
	var h holder
	for i := range uint64(1000) {
		h.addGrant(time.Duration(i), time.Duration(i), i+1, 0)
	}
	if len(h.pending) > maxPendingOfHolder || h.until != 0 {
		t.Errorf("%d wait, until %v", len(h.pending), h.until)
	}
	h.applyIndex(1000)
	if want := 999 + leaseLength - leaseMargin; h.until != want || len(h.pending) != 0 {
		t.Errorf("until %v, want %v", h.until, want)
	}
}

func TestLeaderThatWasStoppedReplacesNobodyAtOnce(t *testing.T) {
	var g granter
	now := time.Hour
	g.beginTerm(3, now)
	tick := func(d time.Duration) {
		for end := now + d; now < end; now += superviseInterval {
			g.noteAwake(now)
		}
	}
	tick(10 * time.Second)
	a := nodeStart{"a", 1}
	if err := g.grant(a, 3, now, nodeCondition{}, 0); err != nil {
		t.Fatal(err)
	}
	now += time.Minute // in which it did nothing
	g.noteAwake(now)
	if g.leaseOver(a, now) {
		t.Error("who could not ask is not away")
	}
	tick(leaseLength + leaseMargin)
	if !g.leaseOver(a, now) {
		t.Error("who has had its time is")
	}
}

// A leader that is stopped again and again still replaces a node that asks no more.
func TestLeaderThatStallsAgainAndAgainReplacesADeadNode(t *testing.T) {
	var g granter
	now := time.Hour
	g.beginTerm(1, now)
	dead, alive := nodeStart{"dead", 1}, nodeStart{"alive", 1}
	if err := g.grant(dead, 1, now, nodeCondition{}, 0); err != nil {
		t.Fatal(err)
	}
	began := now
	for !g.leaseOver(dead, now) {
		if now-began > 10*time.Second {
			t.Fatal("not over after 10 s in which the leader was at work for 4 s")
		}
		now += 600 * time.Millisecond // stopped
		g.noteAwake(now)
		for range 4 {
			if err := g.grant(alive, 1, now, nodeCondition{}, 0); err != nil {
				t.Fatal(err)
			}
			now += superviseInterval
			g.noteAwake(now)
		}
		if g.leaseOver(alive, now) {
			t.Fatal("a node that asks whenever the leader is at work is over")
		}
	}
	if now-began < leaseLength+leaseMargin {
		t.Errorf("over after %v", now-began)
	}
}

// A start that does not apply what it was granted is granted nothing more, and is over like
// one that is dead; one that lags for less goes on.
func TestStartThatDoesNotApplyTheTableIsGrantedNothing(t *testing.T) {
	var g granter
	now := time.Hour
	g.beginTerm(1, now)
	a := nodeStart{"a", 1}
	ask := func(applied, index uint64) error {
		g.noteAwake(now)
		return g.grant(a, 1, now, nodeCondition{applied: applied}, index)
	}
	applied, index := uint64(7), uint64(7)
	for range 10 { // it lags by one renewal
		applied, index = index, index+1
		if err := ask(applied, index); err != nil {
			t.Fatal(err)
		}
		now += leaseRenew
	}
	var err error
	last := now
	for began := now; now < began+stuckAfter+leaseRenew; now += leaseRenew {
		if err = ask(applied, index); err == nil {
			last = now
		}
	}
	if !errors.Is(err, ErrStuck) {
		t.Fatalf("granted: %v", err)
	}
	if g.leaseOver(a, last+leaseLength) {
		t.Error("over before its last grant is")
	}
	if !g.leaseOver(a, last+leaseLength+leaseMargin) {
		t.Error("not over when its last grant is")
	}
	now = last + leaseLength + leaseMargin
	if err := ask(applied, index); !errors.Is(err, ErrStuck) {
		t.Errorf("granted before it is replaced: %v", err)
	}
	if err := ask(index, index); err != nil {
		t.Errorf("when it has caught up: %v", err)
	}
	if err := g.grant(nodeStart{"old", 1}, 1, now, nodeCondition{}, index); err != nil || len(g.pending[nodeStart{"old", 1}]) != 0 {
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
func TestAStartThatHasJustBegunIsNotReplaced(t *testing.T) {
	var g granter
	g.beginTerm(1, 0)
	old, fresh := nodeStart{"a", 1}, nodeStart{"a", 2}
	end := leaseLength + leaseMargin
	g.noteServing(map[nodeStart]bool{old: true}, 0)
	if g.leaseOver(old, end-1) || !g.leaseOver(old, end) {
		t.Error("what an earlier leader may have granted is over at another moment")
	}
	later := 10 * end
	g.noteServing(map[nodeStart]bool{old: true, fresh: true}, later)
	if !g.leaseOver(old, later) {
		t.Error("a start that is long gone is waited for")
	}
	if g.leaseOver(fresh, later+end-1) || !g.leaseOver(fresh, later+end) {
		t.Error("a start that has not asked yet is replaced at another moment than after a lease")
	}
	g.noteServing(nil, later+1)
	g.noteServing(map[nodeStart]bool{fresh: true}, 2*later)
	if len(g.servingSince) != 1 || g.leaseOver(fresh, 2*later+end-1) {
		t.Errorf("known are %v", g.servingSince)
	}
}

func TestClocksOnTheWallAreCompared(t *testing.T) {
	l := newLease(LeaseConfig{Clock: func() time.Duration { return 0 }, Consensus: nobody{}})
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
		l.stats.compare("b", began, ended, began.Add(c.took/2+c.ahead).UnixMilli())
		s := l.Stats("a")
		if d := s.ClockOffset - c.ahead; d > time.Millisecond || d < -time.Millisecond || s.ClockSkewed != c.skewed || s.ClockOf != "b" {
			t.Errorf("%+v: %v of %q, skewed: %v", c, s.ClockOffset, s.ClockOf, s.ClockSkewed)
		}
	}
}

func TestClockOfLeasesThatStandsStillIsNoticed(t *testing.T) {
	real := time.Now()
	w := clockWatch{at: time.Hour, real: real}
	if w.hasStopped(time.Hour, real.Add(time.Millisecond)) || w.hasStopped(time.Hour+clockCheck*9/10, real.Add(clockCheck)) {
		t.Error("a clock that goes on has stopped")
	}
	at := w.at
	if !w.hasStopped(at, real.Add(2*clockCheck)) || !w.stopped {
		t.Error("not noticed")
	}
	if w.hasStopped(at, real.Add(3*clockCheck)) || !w.stopped {
		t.Error("told twice, or forgotten")
	}
	if w.hasStopped(at+clockCheck, real.Add(4*clockCheck)) || w.stopped {
		t.Error("it goes on and counts as stopped")
	}
	// While the machine is suspended the timers of the process stand still.
	if w.hasStopped(at+time.Hour, real.Add(5*clockCheck)) || w.stopped {
		t.Error("a clock that has gone ahead has stopped")
	}
}

// A node whose own clock has gone ahead answers nothing before its lease is renewed.
func TestLeaseIsOverWhenOwnClockGoesAhead(t *testing.T) {
	now, own := time.Hour, time.Hour
	l := newLease(LeaseConfig{Clock: func() time.Duration { return now }, OwnClock: func() time.Duration { return own }, Consensus: nobody{}})
	l.refresh = func() {}
	grant := func() { l.advance(func(h *holder) { h.addGrant(own, own, 0, 0) }) }
	grant()
	spell, _ := l.Mark()
	if !l.HeldSince(spell) {
		t.Error("no lease")
	}
	own += leaseLength
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
	l := aLease(&now, leaseRules{})
	l.grantedNow()
	spell, _ := l.Mark()
	l.revoke()
	if l.Valid() || l.HeldSince(spell) {
		t.Error("valid after it was revoked")
	}
	now += time.Millisecond
	l.grantedNow()
	if !l.Valid() || l.HeldSince(spell) {
		t.Error("what was begun before it was revoked passes")
	}
}
