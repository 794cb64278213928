package stats

import (
	"bytes"
	"cmp"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// Stats are the server's counters. INFO shows them, and the server passes them on as metrics.
type Stats struct {
	Commands []Command // by command id
	Table    *command.Table

	Accepted        atomic.Int64
	Refused         atomic.Int64
	Protected       atomic.Int64 // of Refused: by protected mode
	BytesIn         atomic.Int64
	BytesOut        atomic.Int64
	ProtocolErrors  atomic.Int64
	OutputLimit     atomic.Int64 // clients closed for not reading, whose replies or messages exceed output-buffer
	Evicted         atomic.Int64 // clients closed for the memory of all clients
	QueryLimit      atomic.Int64 // of these, the ones that kept the rest of a request or transaction waiting
	Unauthenticated atomic.Int64 // clients closed before they had authenticated
	ErrorReplies    atomic.Int64
	Hits, Misses    atomic.Int64 // keys looked up by commands that only read
	ExpiredBefore   atomic.Int64 // keys that had expired when the counters were reset
	// ExpiredFieldsBefore are fields of hashes, likewise.
	ExpiredFieldsBefore atomic.Int64
	FreedBefore         atomic.Int64 // values that were freed in the background, likewise
	EvictedBefore       atomic.Int64 // keys that were evicted before that
	// EvictedScriptsBefore are scripts of EVAL, likewise.
	EvictedScriptsBefore atomic.Int64
	// What became of requests for keys that this node does not serve.
	Forwarded  atomic.Int64 // sent on to the node that does
	NotMine    atomic.Int64 // forwarded here, but not this node's either
	Late       atomic.Int64 // forwarded here, and given up before they could begin
	Redirected atomic.Int64 // answered MOVED
	CrossSlot  atomic.Int64 // refused: their keys lie at several nodes
	Shrinks    atomic.Int64 // backups that left sets of this node's ranges
	Growths    atomic.Int64 // that came to them
	LeaseLost  atomic.Int64 // run, but not answered, since the lease was over meanwhile
	// Requests that have worked, but whose keys may lie at several nodes of a larger
	// cluster.
	Apart atomic.Int64

	Waiting atomic.Int64 // connections that are held back just now
	Blocked atomic.Int64 // of these, the ones that CLIENT UNBLOCK releases
	Paused  atomic.Int64 // connections with a command that CLIENT PAUSE holds back

	mu     sync.Mutex
	errors map[string]int64 // by error code

	// In the last second.
	PerSecond  atomic.Int64 // commands
	InRate     atomic.Int64 // bytes
	OutRate    atomic.Int64 // bytes
	lastTotals [3]int64     // the totals of these, one second ago
}

// A Command has the counters of one command.
type Command struct {
	Calls    atomic.Int64
	Nanos    atomic.Int64
	Rejected atomic.Int64
	Failed   atomic.Int64
	latency  durations.Counts // of calls

	answered      durations.Counts // of clients' requests, see Answers
	answeredNanos atomic.Int64
}

// New returns counters for the commands of a table, all of them zero.
func New(table *command.Table) *Stats {
	return &Stats{
		Table:    table,
		Commands: make([]Command, len(table.All)),
		errors:   make(map[string]int64),
	}
}

// Rejected notes a command that was not run; nil for an unknown one.
func (s *Stats) Rejected(cmd *command.Row) {
	if cmd != nil {
		s.Commands[cmp.Or(cmd.As, cmd).ID].Rejected.Add(1)
	}
}

// Evict notes a client that is closed for the memory of all clients: one that has not read, or one that has not sent the
// rest of its request or transaction.
func (s *Stats) Evict(sends bool) {
	s.Evicted.Add(1)
	if sends {
		s.QueryLimit.Add(1)
	}
}

// SlowClosed returns how many clients were closed for not reading, or for not sending the rest of a request.
func (s *Stats) SlowClosed() int64 { return s.OutputLimit.Load() + s.Evicted.Load() }

// maxErrorCodes bounds the error codes that are told apart.
const maxErrorCodes = 128

// ErrorReply notes an error reply, without its type byte, by its code: ERR for a text of one word.
func (s *Stats) ErrorReply(reply []byte) {
	s.ErrorReplies.Add(1)
	code, _, found := bytes.Cut(reply, []byte(" "))
	if !found {
		code = []byte("ERR")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.errors[string(code)]; ok || len(s.errors) < maxErrorCodes {
		s.errors[string(code)] = n + 1
	}
}

// Total returns how many commands have run.
func (s *Stats) Total() int64 {
	var n int64
	for i := range s.Commands {
		n += s.Commands[i].Calls.Load()
	}
	return n
}

// Rates works out what the last second has brought; it is called once a second.
func (s *Stats) Rates() {
	for i, r := range []struct {
		total int64
		rate  *atomic.Int64
	}{{s.Total(), &s.PerSecond}, {s.BytesIn.Load(), &s.InRate}, {s.BytesOut.Load(), &s.OutRate}} {
		r.rate.Store(max(r.total-s.lastTotals[i], 0))
		s.lastTotals[i] = r.total
	}
}

// ErrorCounts returns how many error replies there were of each code.
func (s *Stats) ErrorCounts() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.errors)
}

// Reset is CONFIG RESETSTAT.
func (s *Stats) Reset() {
	for i := range s.Commands {
		c := &s.Commands[i]
		c.Calls.Store(0)
		c.Nanos.Store(0)
		c.Rejected.Store(0)
		c.Failed.Store(0)
		c.latency.Reset()
		c.answered.Reset()
		c.answeredNanos.Store(0)
	}
	for _, n := range []*atomic.Int64{
		&s.Accepted, &s.Refused, &s.Protected, &s.BytesIn, &s.BytesOut, &s.ProtocolErrors, &s.OutputLimit, &s.Evicted, &s.QueryLimit, &s.Unauthenticated, &s.ErrorReplies,
		&s.Hits, &s.Misses, &s.Forwarded, &s.NotMine, &s.Late, &s.Redirected, &s.CrossSlot, &s.LeaseLost, &s.Shrinks, &s.Growths, &s.Apart,
	} {
		n.Store(0)
	}
	s.mu.Lock()
	clear(s.errors)
	s.mu.Unlock()
}
