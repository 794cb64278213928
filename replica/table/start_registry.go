package table

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/hashicorp/raft"
)

// A server's id, log and vote lie in its node's directory. A copy of the directory is a second
// server of the same id: in one term both can vote, for different candidates, and both can
// acknowledge entries that the other does not have. Two leaders of one term could arise.
//
// Two rules keep the original C and the copy C' out of each other's majorities:
//
//  1. A start from a copy of a directory whose node was running, or had crashed, takes no part
//     in the group ([Config.Abstains]): it neither votes nor stores entries until a leader has
//     said that its [Register] is decided.
//  2. A server takes in neither requests nor answers of a start of a node that is older than one
//     whose Register is in the server's own log, decided or not. It still sends it entries, by
//     which that start may learn that it is superseded; or it gets no lease, and asks the leader.
//
// Why that is enough. Let e be the entry that registers C', L the leader that proposes it, in
// term T, and M the majority that decides it. M does not have C', by rule 1, nor C, by rule 2:
// e is in the log of L before it is sent. So M has a server in common with the others of any
// majority that counts C or C', since there are fewer others than both together.
//
// Suppose that X is elected in a later term by a majority that counts C. It has a server P of M.
// P had e when it voted for X, since after that it takes in nothing more of term T. So X has e,
// as P votes for no candidate with an older log, and X counts no vote of C, by rule 2: a
// contradiction. As little does X count the acknowledgements of C. L counts those of entries
// before e alone, which M has, too. A majority that counts C' has a server of M as well, so
// whoever it elects has e and all that was decided before. Both kinds of majorities therefore
// never exist in one term, and what one has decided the other has.
//
// The only voter of its group is excepted from rule 1, since no other server could register it. Two
// copies of such a directory that do not reach each other are two clusters. Nor can rule 1
// apply where a copy cannot be told from its original: to a snapshot of a whole disk, and to a
// directory that was copied after a clean stop and whose original was started again. To
// another server such a start looks like a restarted voter, without whose vote there may be no
// leader: it can know the difference only from the servers that it does not reach. There the
// operator must not start both; docs/guarantees.md says so.
//
// While a copy is registered beside its original, and too few other voters are there to decide
// that, the group has no leader until one more is there, or the original is started again.

var (
	errAbstains   = errors.New("table: this start is of a copied directory, and is not registered yet")
	errSuperseded = errors.New("table: a later start of the node is registered")
)

// startRegistry knows the newest start of each node, by the table and by what lies in the log behind
// it. Its methods may be called from any goroutine.
type startRegistry struct {
	mu     sync.RWMutex
	logged map[string][]loggedStart // by node
	state  func() *State            // nil until the table is open
}

type loggedStart struct{ index, incarnation uint64 }

// note takes down what an entry registers.
func (s *startRegistry) note(entry *raft.Log) {
	if entry.Type != raft.LogCommand || len(entry.Data) < 2 || kind(entry.Data[1]) != kindRegister {
		return
	}
	command, err := Decode(entry.Data)
	if err != nil {
		return // no node can apply it
	}
	r := command.(*Register)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == nil {
		s.logged = make(map[string][]loggedStart)
	}
	s.logged[r.Node] = append(s.logged[r.Node], loggedStart{entry.Index, r.Incarnation})
}

// forget takes back what entries have registered: they have left the log, since others took
// their place, or since they are in a snapshot, and so in the table.
func (s *startRegistry) forget(from, to uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for node, logged := range s.logged {
		kept := logged[:0]
		for _, l := range logged {
			if l.index < from || l.index > to {
				kept = append(kept, l)
			}
		}
		if s.logged[node] = kept; len(kept) == 0 {
			delete(s.logged, node)
		}
	}
}

// newest returns the incarnation of the newest start of a node; 0 if none is known.
func (s *startRegistry) newest(node string) (incarnation uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.logged[node] {
		incarnation = max(incarnation, l.incarnation)
	}
	if s.state != nil {
		n, _ := s.state().Node(node)
		incarnation = max(incarnation, n.Incarnation)
	}
	return incarnation
}

// useState has the newest starts found in the table, too.
func (s *startRegistry) useState(state func() *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// A startsLog notes which starts the entries of a log register.
type startsLog struct {
	raft.LogStore
	starts *startRegistry
}

// StoreLog implements raft.LogStore.
func (l *startsLog) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore. The starts are noted first: nothing is acknowledged that
// is not noted. What could not be stored is noted, too, until it is stored or replaced.
func (l *startsLog) StoreLogs(entries []*raft.Log) error {
	for _, entry := range entries {
		l.starts.note(entry)
	}
	return l.LogStore.StoreLogs(entries)
}

// DeleteRange implements raft.LogStore.
func (l *startsLog) DeleteRange(from, to uint64) error {
	err := l.LogStore.DeleteRange(from, to)
	if err == nil {
		l.starts.forget(from, to)
	}
	return err
}

// A StartConn is a connection of a [StreamLayer] whose other end has said which start of which
// node it is.
type StartConn interface {
	net.Conn
	Start() (node string, incarnation uint64)
}

// A startedConn brings nothing more once a later start of the node at its other end is known.
type startedConn struct {
	StartConn
	starts *startRegistry
}

// guard has a connection behave as startedConn says, if it tells whose it is.
func (s *startRegistry) guard(conn net.Conn) net.Conn {
	if of, ok := conn.(StartConn); ok {
		return &startedConn{of, s}
	}
	return conn
}

// Read implements net.Conn. It looks behind the read: what has come may have waited for long.
func (c *startedConn) Read(b []byte) (int, error) {
	n, err := c.StartConn.Read(b)
	node, incarnation := c.Start()
	if newest := c.starts.newest(node); newest > incarnation {
		return 0, fmt.Errorf("%w: %s was started as %d, this is %d", errSuperseded, node, newest, incarnation)
	}
	return n, err
}

// mayTakePart returns an error while this start must stay out of the group, by rule 1.
func (t *Table) mayTakePart() error {
	if t.abstains.Load() && (!t.opened.Load() || t.isOneOfSeveral()) {
		return errAbstains
	}
	return nil
}

// isOneOfSeveral reports whether the group has another voter, by the newest configuration here.
func (t *Table) isOneOfSeveral() bool {
	for _, s := range t.servers() {
		if s.Suffrage == raft.Voter && string(s.ID) != t.disk.server {
			return true
		}
	}
	return false
}
