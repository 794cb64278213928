package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A Consensus is what leases need of the group that decides.
type Consensus interface {
	// Leader is the node that leads, as far as this one knows; empty if it knows none.
	Leader() (id string, isSelf bool)
	// Confirm returns the term in which this node leads, once a majority has confirmed
	// that since the call.
	Confirm(ctx context.Context) (term uint64, err error)
	// Barrier waits until what was decided before is applied here.
	Barrier(ctx context.Context) error
	// Term is the newest that this node knows.
	Term() uint64
	// ApplyIn has a command decided in one term of this node's office or not at all.
	// Its outcome is like that of Table.Apply.
	ApplyIn(ctx context.Context, term uint64, c table.Command) error
	// Alone tells whether nothing can be decided without this node, which leads.
	Alone() bool
	// Fault is why this node does not follow the table any more, or at this moment.
	Fault() error
	// Cede asks another node to lead in this one's place, if this one leads.
	Cede(ctx context.Context) error
	// CedeFromDisk is Cede to a node whose disk works; it fails if none is known.
	CedeFromDisk(ctx context.Context) error
}

// LeaseConfig is how a node takes part in leases; without a Clock it needs none.
type LeaseConfig struct {
	// Clock tells the time since some moment. It goes on while the machine is suspended
	// and is never set.
	Clock func() time.Duration
	// Own is the clock by which this node's own lease is counted. It may go ahead of Clock
	// at any moment, never back: then the lease is over early. nil is Clock.
	Own func() time.Duration
	// Consensus belongs to the same table as [Config.Table].
	Consensus Consensus
	// Ask takes a question to [Engine.Answer] of another node.
	Ask func(ctx context.Context, node string, question []byte) ([]byte, error)
}

func (c *LeaseConfig) validate() error {
	if c.Clock != nil && (c.Consensus == nil || c.Ask == nil) {
		return errors.New("replica: leases need a consensus and a way to ask")
	}
	return nil
}

// A Lease is a node's permission to answer for its ranges. Its methods may be called from
// any goroutine.
type Lease struct {
	cfg   LeaseConfig
	until atomic.Int64  // on the clock; math.MaxInt64 without leases
	spell atomic.Uint64 // rises when the lease is there again after it was over
	rows  atomic.Uint64 // rises when the node's own rows become others
	// look brings rows up to date with the table as it is.
	look func()

	mu        sync.Mutex
	holder    holder
	back      chan struct{} // closed when the lease is there again; nil while nobody waits
	losses    []loss        // the last of them, in order
	forgotten uint64        // number of the newest that is not there any more

	figures leaseFigures
}

func newLease(cfg LeaseConfig) *Lease {
	l := &Lease{cfg: cfg}
	if cfg.Own == nil {
		l.cfg.Own = cfg.Clock
	}
	if cfg.Clock == nil {
		l.until.Store(math.MaxInt64)
	}
	return l
}

// Valid tells whether the node may answer at this moment.
func (l *Lease) Valid() bool {
	until := l.until.Load()
	if until == math.MaxInt64 || until != 0 && l.cfg.Own() < time.Duration(until) {
		return true
	}
	return l.cfg.Clock != nil && l.cfg.Consensus.Alone()
}

// Mark is a moment in the life of the lease: spell is for [Lease.Still], rows for
// [Lease.Await]. It is taken before it is looked up whose a key is.
func (l *Lease) Mark() (spell, rows uint64) { return l.spell.Load(), l.rows.Load() }

// Still reports whether the lease is valid, and has been since a mark. So no other node can
// have become the primary of the node's ranges since, but by a handoff of its own.
//
// The order of the two checks matters. advance raises spell before it makes the lease valid
// again. A lease that is valid now, and whose spell is the mark's after that, has therefore
// not been over in between. The other way round, a new lease could come between the checks.
func (l *Lease) Still(spell uint64) bool {
	return l.Valid() && (l.spell.Load() == spell || l.holder.skip.sameOffice)
}

// Await waits, for so long at most and as long as neither channel is closed, until the
// lease is valid again. It returns true if then all is as it was at a mark: the node
// serves these tokens as it did, and nobody else has served them meanwhile. Without
// tokens that is asked of all that it served.
func (l *Lease) Await(rows uint64, of []ring.Token, most time.Duration, done, gone <-chan struct{}) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		l.mu.Lock()
		if l.back == nil {
			l.back = make(chan struct{})
		}
		back := l.back
		l.mu.Unlock()
		if spell, _ := l.Mark(); l.Still(spell) {
			l.look()
			if l.Still(spell) {
				return l.kept(rows, of)
			}
			continue
		}
		select {
		case <-back:
		case <-timer.C:
			return false
		case <-done:
			return false
		case <-gone:
			return false
		}
	}
}

// advance has what the holder knows take effect.
//
// Invariant: when a lease is there again after it was over, routes and rows are those of
// a table that the leader of the grant knew, before anybody can take a mark of the new
// spell. So whoever has that mark, and then looks up whose a key is, is right.
func (l *Lease) advance(change func(h *holder)) {
	l.mu.Lock()
	change(&l.holder)
	until := l.holder.until
	l.mu.Unlock()
	if until == time.Duration(l.until.Load()) {
		return
	}
	again := l.cfg.Own() >= time.Duration(l.until.Load())
	if again {
		l.look()
		l.spell.Add(1)
	}
	l.until.Store(int64(until))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.back != nil && l.Valid() {
		close(l.back)
		l.back = nil
	}
}

// A leaseRequest asks the leader for a lease.
type leaseRequest struct {
	Incarnation uint64 `json:"incarnation,string"`
	// Wall is what the asker's clock on the wall says, in milliseconds since 1970.
	Wall int64 `json:"wall"`
	// Applied is the table index that the asker has applied; 0 from a build that does not
	// tell.
	Applied uint64 `json:"applied,string,omitempty"`
	// Refusing is for how long, in milliseconds, the asker's store has refused writes; 0
	// while it takes them.
	Refusing int64 `json:"refusing,omitempty"`
}

// A leaseReply grants a lease, unless Refusal says why not.
type leaseReply struct {
	Index   uint64 `json:"index,string"`
	Refusal string `json:"refusal,omitempty"`
	Wall    int64  `json:"wall"`
	// Refusing are the nodes whose stores refuse writes, as far as the leader knows.
	Refusing []string `json:"refusing,omitempty"`
	// Holders are the nodes that may have a lease now, as far as the leader knows.
	Holders []string `json:"holders,omitempty"`
}

// leaseTimeout bounds one request: the next may go to another leader.
const leaseTimeout = 700 * time.Millisecond

// leaseLate is after what time a node warns that it has got no first lease.
const leaseLate = 5 * time.Second

// leasePause is how long to wait after a request that failed.
const leasePause = 50 * time.Millisecond

// renew keeps the node's lease, and the front by it.
func (e *Engine) renew(ctx context.Context) {
	l := e.lease
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	var asked *asking // what is under way
	valid, warned, leader := false, false, ""
	due, end, late := time.NewTimer(0), time.NewTimer(0), time.NewTimer(leaseLate)
	defer due.Stop()
	defer end.Stop()
	defer late.Stop()
	check := time.NewTicker(clockCheck)
	defer check.Stop()
	clock := clockWatch{at: l.cfg.Clock(), real: time.Now()}
	for {
		var answered <-chan struct{}
		if asked != nil {
			answered = asked.done
		}
		select {
		case <-ctx.Done():
			asked.drop()
			return
		case <-changes:
			l.advance(func(h *holder) { h.applied(e.cfg.Table.State().Index()) })
			// Whoever led before has nothing to say any more.
			if now, _ := l.cfg.Consensus.Leader(); now != leader && now != "" {
				asked.drop()
				asked = nil
				due.Reset(0)
			}
		case <-check.C:
			if clock.look(l.cfg.Clock(), time.Now()) {
				// An answer that is still on its way would be a lease without an end.
				asked.drop()
				asked = nil
				due.Reset(leasePause)
				l.revoke()
				e.leaveLead(ctx)
			}
		case <-due.C:
			if asked == nil {
				asked = e.askLease(ctx, clock.stopped)
				leader = asked.leader
			}
		case <-answered:
			if e.answered(asked) {
				due.Reset(max(leaseRenew-(l.cfg.Own()-asked.sent), 0))
			} else {
				due.Reset(leasePause)
			}
			asked = nil
		case <-end.C:
		case <-late.C:
			if warned = !valid; warned {
				e.cfg.Logger.Warn("this node has got no lease since its start: clients wait until a majority of the voters answers", "node", e.cfg.Self)
			}
		}
		if now := l.Valid(); now != valid {
			valid = now
			switch {
			case !now:
				l.figures.lapses.Add(1)
				warned = true
				e.cfg.Logger.Warn("this node's lease is over: clients wait until the leader answers again", "node", e.cfg.Self)
			case warned:
				warned = false
				e.cfg.Logger.Info("this node has its lease again", "node", e.cfg.Self)
			}
			e.publish()
		}
		end.Reset(max(time.Duration(l.until.Load())-l.cfg.Own(), leasePause))
	}
}

// An asking is a request for a lease that is under way.
type asking struct {
	leader string
	sent   time.Duration
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
	// What came of it, once done is closed.
	reply leaseReply
	err   error
}

// drop ends a request and waits until nothing of it runs any more.
func (a *asking) drop() {
	if a != nil {
		a.cancel()
		<-a.done
	}
}

// askLease begins a request. The lease is counted from here on.
func (e *Engine) askLease(ctx context.Context, stopped bool) *asking {
	a := &asking{sent: e.lease.cfg.Own(), began: time.Now(), done: make(chan struct{})}
	a.leader, _ = e.lease.cfg.Consensus.Leader()
	ctx, a.cancel = context.WithTimeout(ctx, leaseTimeout)
	n, known := e.cfg.Table.State().Node(e.cfg.Self)
	switch fault := e.lease.cfg.Consensus.Fault(); {
	case !known || n.Incarnation != e.cfg.Incarnation:
		a.err = ErrStart
	case fault != nil:
		a.err = fault
	case stopped:
		a.err = ErrClock
	case e.cfg.Copied && e.originalMayAnswer(a.sent):
		a.err = errOriginal
	case a.leader == "":
		a.err = ErrNotLeader
	}
	if a.err != nil {
		close(a.done)
		return a
	}
	go func() {
		defer close(a.done)
		request := leaseRequest{
			Incarnation: e.cfg.Incarnation, Wall: a.began.UnixMilli(),
			Applied: e.cfg.Table.State().Index(), Refusing: e.readOnly.refusing(a.began).Milliseconds(),
		}
		if a.leader == e.cfg.Self {
			a.reply = e.grantLease(ctx, e.cfg.Self, &request)
		} else {
			a.err = e.ask(ctx, a.leader, questionLease, &request, &a.reply)
		}
	}()
	return a
}

var errOriginal = errors.New("the directory is a copy, and its original may hold a lease for some seconds")

// originalMayAnswer tells whether the original of a copied directory may still hold a lease.
// This start is registered at a time by the node's own clock. Only renew calls it.
func (e *Engine) originalMayAnswer(now time.Duration) bool {
	if e.registered == 0 {
		e.registered = max(now, 1)
	}
	return now-e.registered < leaseLength+leaseMargin
}

// ErrClock says that the clock by which this node's lease is counted stands still.
var ErrClock = errors.New("the clock that leases are counted by stands still")

// clockCheck is how often the clock of leases is compared with the timers of the process. A
// clock that stops is noticed within two of these, so a lease that it keeps from ending is
// over before the leader takes it for over, by the margin of both sides.
const clockCheck = 100 * time.Millisecond

// A clockWatch compares the clock of leases with the monotonic clock of the process. By a
// clock that stands still no lease would ever end.
type clockWatch struct {
	at      time.Duration
	real    time.Time
	stopped bool
}

// look returns true when the clock is found to have stopped. A clock that goes at less than
// half of its speed counts as stopped.
func (w *clockWatch) look(at time.Duration, real time.Time) bool {
	was := w.stopped
	passed := real.Sub(w.real)
	if passed < clockCheck/2 {
		return false
	}
	w.stopped = at-w.at < passed/2
	w.at, w.real = at, real
	return w.stopped && !was
}

// revoke ends the lease at once.
func (l *Lease) revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.until, l.holder.waiting = 0, nil
	l.until.Store(0)
}

// leaveLead has another node lead: this one cannot tell when leases are over.
func (e *Engine) leaveLead(ctx context.Context) {
	e.cfg.Logger.Error("this node gives up its lease", "node", e.cfg.Self, "err", ErrClock)
	e.done.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, leaseLength)
		defer cancel()
		if err := e.lease.cfg.Consensus.Cede(ctx); err != nil && ctx.Err() == nil {
			e.cfg.Logger.Warn("another leader could not be asked for", "node", e.cfg.Self, "err", err)
		}
	})
}

// answered takes in what came of a request; it returns false if that is no lease.
func (e *Engine) answered(a *asking) bool {
	a.cancel()
	l := e.lease
	if a.err == nil && a.reply.Refusal != "" {
		a.err = fmt.Errorf("%s: %s", a.leader, a.reply.Refusal)
	}
	if a.err != nil {
		l.figures.failed(a.err)
		return false
	}
	l.figures.granted.Add(1)
	e.readOnly.learn(a.reply.Refusing)
	e.holders.learn(a.reply.Holders, time.Now())
	l.figures.compare(a.leader, a.began, time.Now(), a.reply.Wall)
	l.advance(func(h *holder) { h.granted(a.sent, l.cfg.Own(), a.reply.Index, e.cfg.Table.State().Index()) })
	return true
}

// Kinds of questions between engines: the first byte of each.
const (
	questionLease = 'L'
	questionFence = 'F'
	questionScrub = 'S'
)

// maxQuestion bounds a question and its answer, in bytes; maxScrub those of the check of
// copies, which name keys.
const (
	maxQuestion = 64 << 10
	maxScrub    = 16 << 20
)

func bound(kind byte) int {
	if kind == questionScrub {
		return maxScrub
	}
	return maxQuestion
}

// ask asks another node's engine.
func (e *Engine) ask(ctx context.Context, node string, kind byte, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	reply, err := e.lease.cfg.Ask(ctx, node, append([]byte{kind}, text...))
	if err != nil {
		return err
	}
	if len(reply) > bound(kind) {
		return fmt.Errorf("%w: an answer of %d bytes", ErrFrame, len(reply))
	}
	if err := json.Unmarshal(reply, answer); err != nil {
		return fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return nil
}

// Answer answers a question of another node's engine, which has proved that it is from.
func (e *Engine) Answer(ctx context.Context, from string, question []byte) ([]byte, error) {
	if len(question) == 0 || len(question) > bound(question[0]) {
		return nil, fmt.Errorf("%w: a question of %d bytes", ErrFrame, len(question))
	}
	kind, text := question[0], question[1:]
	switch kind {
	case questionLease:
		var r leaseRequest
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFrame, err)
		}
		return json.Marshal(e.grantLease(ctx, from, &r))
	case questionFence:
		var r fenceRequest
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFrame, err)
		}
		reply, err := e.answerFence(ctx, &r)
		if err != nil {
			return nil, err
		}
		return json.Marshal(&reply)
	case questionScrub:
		var r scrubRequest
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFrame, err)
		}
		return json.Marshal(e.answerScrub(ctx, from, &r))
	}
	return nil, fmt.Errorf("%w: a question of kind %d", ErrFrame, kind)
}
