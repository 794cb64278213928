package table

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// A Table is one node's copy of the agreed placement, and its part in agreeing on it.
// All methods may be called from any goroutine.
type Table struct {
	cfg  Config
	raft *raft.Raft
	fsm  *fsm
	disk *disk
	// writes are those to the log and the stable values of disk.
	writes *writes
	// silent reports that this server sends nothing as a leader, since its disk does not answer
	// and another voter's does. See watchDisk.
	silent    atomic.Bool
	checking  atomic.Bool // checkDisk is under way
	candidacy candidacy
	cut       func() // ends the exchanges that the transport has under way
	hangs     func() // closes what it leaves open

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	// sending ends later, when the library is told to: until then it has to reach the
	// others, since callers that still wait for it get an answer only by that.
	sending     context.Context
	stopSending context.CancelFunc
	// running are the table's own goroutines and the calls to it. closing guards it:
	// nothing is added once Close waits.
	running sync.WaitGroup
	closing sync.RWMutex
	closed  bool

	timing          sync.Mutex // over changes of the library's time-outs
	listeners       listeners
	upkeep          groupUpkeep
	transferTargets transferTargets
	transport       raft.Transport // without what noting adds
	contacts        contacts
	links           links
	commitNotifier  commitNotifier
	tasks           tasks
	filtering       sync.WaitGroup // the goroutine of hear
	heartbeatMu     sync.RWMutex   // held while a heartbeat is handled
	heartbeatsEnded bool           // none is any more
	alone           atomic.Bool
	aloneBegun      atomic.Uint64
	opened          atomic.Bool // raft is there
	abstains        atomic.Bool // see Config.Abstains
}

// Open starts the node's part in the group. A new directory is in no cluster yet:
// either [Table.Found] makes one, or a [Register] that reaches a leader makes that
// leader take the node in.
func Open(cfg Config) (*Table, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d, err := openDisk(&cfg)
	if err != nil {
		return nil, err
	}
	w := newWrites(cfg.Hooks.Write)
	d.logs = &startsLog{&watchedLog{d.logs, w}, d.starts}
	d.stable = &watchedStable{d.stable, w, func(err error) {
		cfg.Logger.Error("storing a Raft term failed: this node neither leads nor votes until it succeeds", "node", cfg.ID, "err", err)
	}}
	t := &Table{cfg: cfg, disk: d, writes: w, fsm: &fsm{applying: cfg.Hooks.Applying, note: cfg.Applied, opened: time.Now()}}
	t.fsm.state.Store(new(State))
	t.fsm.applied = t.listeners.notify
	t.fsm.decided = func() { t.commitNotifier.notifyAll(t) }
	t.abstains.Store(cfg.Abstains)
	transport, beats, cut, hangs := cfg.newTransport(d.starts)
	transport, beats = &silencedTransport{transport, t}, &silencedTransport{beats, t}
	t.transport, t.cut, t.hangs = transport, cut, hangs
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.sending, t.stopSending = context.WithCancel(context.Background())
	heard := rpcFilter{transport.Consumer(), make(chan raft.RPC)}
	t.filtering.Go(func() { t.filterRPCs(heard) })
	t.raft, err = raft.NewRaft(cfg.raft(d.server), t.fsm, d.logs, d.stable, d.snapshots, &clusterTransport{transport, beats, t, heard})
	if err != nil {
		hangs()
		t.cancel()
		t.stopSending()
		t.filtering.Wait()
		return nil, errors.Join(fmt.Errorf("table: start raft: %w", err), d.close())
	}
	t.opened.Store(true)
	d.starts.useState(t.State)
	t.upkeep.start(t)
	t.watchLeader()
	t.running.Go(t.watchDisk)
	if err := t.electIfAlone(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Server is the node's id in the group, for [Register]. It is the directory's: a node
// with a new directory is a new server.
func (t *Table) Server() string { return t.disk.server }

// State is the table as this node has applied it so far.
func (t *Table) State() *State { return t.fsm.state.Load() }

// Fault is why this node cannot follow the table any more, or does not at this moment
// since one entry is not applied; nil as long as it does.
func (t *Table) Fault() error {
	if fault := t.fsm.fault.Load(); fault != nil {
		return *fault
	}
	return t.fsm.stuck()
}

// Known reports whether the directory already belongs to a cluster, even if nothing of
// its table has arrived yet.
func (t *Table) Known() bool { return t.raft.LastIndex() > 0 }

// Abstains reports whether this node still takes no part, as [Config.Abstains] says.
func (t *Table) Abstains() bool { return t.mayTakePart() != nil }

// Votes reports whether this node has a vote, as far as it knows.
func (t *Table) Votes() bool {
	for _, s := range t.servers() {
		if s.ID == raft.ServerID(t.disk.server) {
			return s.Suffrage == raft.Voter
		}
	}
	return false
}

// Leader returns the node that leads the group, as far as this one knows; empty if
// it knows none.
func (t *Table) Leader() (id string, isSelf bool) {
	address, server := t.raft.LeaderWithID()
	return string(address), string(server) == t.disk.server
}

// Changes returns a channel that has something to receive once the state, the fault
// or the leader has changed since it was last received from. cancel must be called
// once, when there is no listener any more.
func (t *Table) Changes() (changed <-chan struct{}, cancel func()) { return t.listeners.add() }

// Wait waits until this node's state shows what was applied at an index.
func (t *Table) Wait(ctx context.Context, index uint64) error {
	changed, cancel := t.Changes()
	defer cancel()
	for t.State().Index() < index {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-t.ctx.Done():
			return ErrClosed
		}
	}
	return nil
}

// Voters are the nodes that have a vote in the group, as far as this one knows, in no
// order.
func (t *Table) Voters() []string {
	var ids []string
	for _, server := range t.servers() {
		if server.Suffrage == raft.Voter {
			ids = append(ids, string(server.Address))
		}
	}
	return ids
}

// Servers counts the nodes in the group, with a vote or without.
func (t *Table) Servers() int { return len(t.servers()) }

func (t *Table) servers() []raft.Server {
	return t.raft.GetConfiguration().Configuration().Servers // what Raft keeps in memory: there is no error
}

// enter counts a call that Close has to wait for, which ends it by its context.
func (t *Table) enter(ctx context.Context) (context.Context, func(), error) {
	t.closing.RLock()
	defer t.closing.RUnlock()
	if t.closed {
		return nil, nil, ErrClosed
	}
	t.running.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		t.running.Done()
	}, nil
}

// Close ends the node's part in the group and waits until nothing of it runs. The
// state can still be read.
func (t *Table) Close() error {
	t.closing.Lock()
	was := t.closed
	t.closed = true
	t.closing.Unlock()
	if was {
		return nil
	}
	t.cancel()
	// The library forgets some of those who wait for it when it is shut down, but
	// answers all of them while it runs.
	t.running.Wait()
	ended := t.raft.Shutdown()
	t.stopSending()
	t.cut() // who does not answer would be waited for
	t.writes.release()
	t.tasks.wait()
	t.filtering.Wait()
	t.heartbeatMu.Lock()
	t.heartbeatsEnded = true
	t.heartbeatMu.Unlock()
	err := ended.Error()
	t.hangs()
	if err := errors.Join(err, t.disk.close()); err != nil {
		return fmt.Errorf("table: close: %w", err)
	}
	return nil
}

// listeners are told of changes.
type listeners struct {
	mu    sync.Mutex
	chans map[chan struct{}]bool
}

func (l *listeners) add() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.chans == nil {
		l.chans = make(map[chan struct{}]bool)
	}
	l.chans[ch] = true
	return ch, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.chans, ch)
	}
}

func (l *listeners) notify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ch := range l.chans {
		select {
		case ch <- struct{}{}:
		default: // has something to receive already
		}
	}
}
