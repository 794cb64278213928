package table

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Result tells where a command stands.
type Result struct {
	// Index is the command's place in the log, and the table index from then on.
	Index uint64
}

// How long to wait before a leader is looked for again.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 100 * time.Millisecond
)

// Apply has a command decided, by whichever node leads, and waits until this node's
// state shows the result. As long as the command has certainly not been proposed it
// goes on trying until ctx ends, and then returns ErrNoLeader. A refusal wraps one of
// the reasons listed in this package. ErrUnknownOutcome means that the command was
// proposed and may yet be applied, or not: the table tells, in time.
func (t *Table) Apply(ctx context.Context, command Command) (Result, error) {
	ctx, leave, err := t.enter(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	r, err := t.decide(ctx, command)
	if err == nil {
		// The outcome is known; only its being seen here may be late.
		_ = t.Wait(ctx, r.Index)
	}
	return r, err
}

// Decide is Apply that returns as soon as the outcome is known: for a command after which
// this node may hear of nothing any more, since it is put out of the group.
func (t *Table) Decide(ctx context.Context, command Command) (Result, error) {
	ctx, leave, err := t.enter(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	return t.decide(ctx, command)
}

func (t *Table) decide(ctx context.Context, command Command) (Result, error) {
	if r, ok := command.(*Register); ok && r.Node == t.cfg.ID && r.Server == "" {
		own := *r
		own.Server = t.disk.server
		command = &own
	}
	data := Encode(command)
	changed, cancel := t.Changes()
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		leader, _ := t.Leader()
		done, err := t.try(ctx, request{messageCommand, data})
		if r, ok := command.(*Register); ok && err == nil && r.Server == t.disk.server {
			t.abstains.Store(false)
		}
		if err == nil || !errors.Is(err, errNotProposed) {
			return Result{done.index}, err
		}
		if !t.pause(ctx, pause, leader, changed) {
			return Result{}, fmt.Errorf("table: %T: %w: %w (%w)", command, ErrNoLeader, context.Cause(ctx), err)
		}
	}
}

// pause waits a while, or until there is another leader than the one that was asked.
// It returns false once ctx has ended.
func (t *Table) pause(ctx context.Context, pause time.Duration, asked string, changed <-chan struct{}) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-changed:
			if now, _ := t.Leader(); now != "" && now != asked {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// errNotProposed: the command may be proposed again.
var errNotProposed = errors.New("not proposed")

// A request is what the leader is asked for: a message, by its number, and what follows that.
type request struct {
	message byte
	data    []byte
}

// answerHere answers a request on the leader.
func (t *Table) answerHere(ctx context.Context, r request) (outcome, error) {
	if r.message == messageRegistered {
		return t.answerRegistered(ctx, r.data)
	}
	return t.proposeOnce(ctx, r.data)
}

// try sends a request to the leader once, which may be this node.
func (t *Table) try(ctx context.Context, r request) (outcome, error) {
	leader, isSelf := t.Leader()
	if isSelf {
		return t.answerHere(ctx, r)
	}
	asked := make(map[string]bool)
	ask := func(node string) (outcome, string, error) {
		asked[node] = true
		ctx, end := t.whileLeads(ctx, node)
		defer end()
		reply, err := t.cfg.Forward(ctx, node, append([]byte{r.message}, r.data...))
		if err != nil {
			if errors.Is(err, ErrUnsent) {
				return outcome{}, "", fmt.Errorf("%w: %w", errNotProposed, err)
			}
			return outcome{}, "", fmt.Errorf("table: forwarded to %s: %w: %w", node, ErrUnknownOutcome, err)
		}
		return readReply(reply)
	}
	if leader != "" {
		done, hint, err := ask(leader)
		if !errors.Is(err, errNotProposed) || hint == "" || asked[hint] || hint == t.cfg.ID {
			return done, err
		}
		done, _, err = ask(hint)
		return done, err
	}
	last := fmt.Errorf("%w: no leader is known", errNotProposed)
	for _, peer := range t.cfg.Peers() {
		for node := peer; node != "" && node != t.cfg.ID && !asked[node]; {
			done, hint, err := ask(node)
			if !errors.Is(err, errNotProposed) {
				return done, err
			}
			last, node = err, hint
		}
	}
	return outcome{}, last
}

// errReplaced ends the wait for a leader that has a successor.
var errReplaced = errors.New("another node leads since")

// whileLeads returns a context that ends some time after another node than the given one is
// known to lead. A former leader answers within that time if it can; one that is stopped or
// does not apply entries would be waited for without end. end must be called.
func (t *Table) whileLeads(ctx context.Context, node string) (within context.Context, end func()) {
	within, cancel := context.WithCancelCause(ctx)
	changed, forget := t.Changes()
	before, _ := t.Leader()
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			// A node that was asked by another's word leads before this node knows it.
			if now, _ := t.Leader(); now != "" && now != node && now != before {
				break
			}
			select {
			case <-changed:
			case <-within.Done():
				return
			}
		}
		grace := time.NewTimer(t.cfg.ElectionTimeout)
		defer grace.Stop()
		select {
		case <-grace.C:
			cancel(errReplaced)
		case <-within.Done():
		}
	})
	return within, func() {
		cancel(nil)
		watching.Wait()
		forget()
	}
}

// propose hands a command to Raft on the leader.
func (t *Table) propose(ctx context.Context, data []byte) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, fmt.Errorf("%w: %w", errNotProposed, err)
	}
	return t.hand(ctx, raft.Log{Data: data})
}

// hand gives an entry to the library.
func (t *Table) hand(ctx context.Context, log raft.Log) (outcome, error) {
	future := t.raft.ApplyLog(log, t.cfg.ElectionTimeout)
	if err := t.await(ctx, future.Error); err != nil {
		switch {
		case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrLeadershipTransferInProgress):
			return outcome{}, fmt.Errorf("%w: %w", errNotProposed, err)
		default:
			return outcome{}, fmt.Errorf("table: %w: %w", ErrUnknownOutcome, err)
		}
	}
	done, _ := future.Response().(outcome)
	return done, done.err
}

// await waits for one of the library's futures, which always ends: a leader that
// hears from no majority steps down.
func (t *Table) await(ctx context.Context, wait func() error) error {
	ended := make(chan error, 1)
	t.running.Go(func() { ended <- wait() })
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// VerifyLeader asks a majority whether this node still leads. It succeeds only if
// they have confirmed it since the call.
func (t *Table) VerifyLeader(ctx context.Context) error {
	return t.ask(ctx, "verify the leader", func() error { return t.raft.VerifyLeader().Error() })
}

// Barrier waits, on the leader, until all that was proposed before has been applied,
// also by earlier leaders.
func (t *Table) Barrier(ctx context.Context) error {
	return t.ask(ctx, "barrier", func() error { return t.raft.Barrier(t.cfg.ElectionTimeout).Error() })
}

func (t *Table) ask(ctx context.Context, what string, wait func() error) error {
	ctx, leave, err := t.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := t.await(ctx, wait); err != nil {
		return fmt.Errorf("table: %s: %w", what, err)
	}
	return nil
}

// Found makes a cluster of which this node is the only one so far. What was begun
// and cut short is finished. It fails with ErrFounded if the directory belongs to a
// cluster.
func (t *Table) Found(ctx context.Context, found *Found) (Result, error) {
	if found.Node != t.cfg.ID {
		return Result{}, refuse(ErrInvalid, "%s founds a cluster for %s", t.cfg.ID, found.Node)
	}
	own := *found
	own.Server = t.disk.server
	// Nothing may be left behind by a command that would be refused.
	if _, err := new(State).Apply(1, &own); err != nil {
		return Result{}, err
	}
	self := raft.Server{ID: raft.ServerID(t.disk.server), Address: raft.ServerAddress(t.cfg.ID)}
	err := t.ask(ctx, "found a cluster", t.raft.BootstrapCluster(raft.Configuration{Servers: []raft.Server{self}}).Error)
	if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
		return Result{}, err
	}
	if servers := t.servers(); len(servers) != 1 || servers[0].ID != self.ID {
		return Result{}, refuse(ErrFounded, "%s is a server of one", t.cfg.ID)
	}
	if err := t.electIfAlone(); err != nil {
		return Result{}, err
	}
	return t.Apply(ctx, &own)
}
