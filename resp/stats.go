package resp

import (
	"bytes"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// stats are the server's counters. INFO shows them; sample passes them on as
// metrics.
type stats struct {
	commands []commandStats // by command id
	table    *command.Table

	accepted        atomic.Int64
	refused         atomic.Int64
	bytesIn         atomic.Int64
	bytesOut        atomic.Int64
	protocolErrors  atomic.Int64
	outputLimit     atomic.Int64 // clients closed for not reading
	unauthenticated atomic.Int64 // clients closed before they had authenticated
	errorReplies    atomic.Int64
	hits, misses    atomic.Int64 // keys looked up by commands that only read
	expiredBefore   atomic.Int64 // keys that had expired when the counters were reset
	// What became of requests for keys that this node does not serve.
	forwarded  atomic.Int64 // sent on to the node that does
	notMine    atomic.Int64 // forwarded here, but not this node's either
	late       atomic.Int64 // forwarded here, and given up before they could begin
	redirected atomic.Int64 // answered MOVED
	crossSlot  atomic.Int64 // refused: their keys lie at several nodes
	shrinks    atomic.Int64 // backups that left sets of this node's ranges
	growths    atomic.Int64 // that came to them
	leaseLost  atomic.Int64 // run, but not answered, since the lease was over meanwhile
	// Requests that have worked, but whose keys may lie at several nodes of a larger
	// cluster.
	apart atomic.Int64

	waiting atomic.Int64 // connections that are held back just now
	blocked atomic.Int64 // of these, the ones that CLIENT UNBLOCK releases; see [conn.blocks]

	mu     sync.Mutex
	errors map[string]int64 // by error code

	// In the last second.
	perSecond  atomic.Int64 // commands
	inRate     atomic.Int64 // bytes
	outRate    atomic.Int64 // bytes
	lastTotals [3]int64     // the totals of these, one second ago
}

type commandStats struct {
	calls    atomic.Int64
	nanos    atomic.Int64
	rejected atomic.Int64
	failed   atomic.Int64
	// latency counts calls by duration: bucket i holds those of less than
	// 2^i times 256 ns.
	latency [latencyBuckets]atomic.Int64
}

func newStats(table *command.Table) *stats {
	return &stats{
		table:    table,
		commands: make([]commandStats, len(table.All)),
		errors:   make(map[string]int64),
	}
}

// rejected notes a command that was not run; nil for an unknown one.
func (s *stats) rejected(cmd *command.Row) {
	if cmd != nil {
		s.commands[cmd.ID].rejected.Add(1)
	}
}

// maxErrorCodes bounds the error codes that are told apart.
const maxErrorCodes = 128

// errorReply notes an error reply by its code.
func (s *stats) errorReply(reply []byte) {
	s.errorReplies.Add(1)
	code := reply[1:]
	if i := bytes.IndexAny(code, " \r\n"); i >= 0 {
		code = code[:i]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.errors[string(code)]; ok || len(s.errors) < maxErrorCodes {
		s.errors[string(code)] = n + 1
	}
}

// total returns how many commands have run.
func (s *stats) total() int64 {
	var n int64
	for i := range s.commands {
		n += s.commands[i].calls.Load()
	}
	return n
}

// rates works out what the last second has brought; it is called once a second.
func (s *stats) rates() {
	for i, r := range []struct {
		total int64
		rate  *atomic.Int64
	}{{s.total(), &s.perSecond}, {s.bytesIn.Load(), &s.inRate}, {s.bytesOut.Load(), &s.outRate}} {
		r.rate.Store(max(r.total-s.lastTotals[i], 0))
		s.lastTotals[i] = r.total
	}
}

// errorCounts returns how many error replies there were of each code.
func (s *stats) errorCounts() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.errors)
}

// reset is CONFIG RESETSTAT.
func (s *stats) reset() {
	for i := range s.commands {
		c := &s.commands[i]
		c.calls.Store(0)
		c.nanos.Store(0)
		c.rejected.Store(0)
		c.failed.Store(0)
		for j := range c.latency {
			c.latency[j].Store(0)
		}
	}
	for _, n := range []*atomic.Int64{
		&s.accepted, &s.refused, &s.bytesIn, &s.bytesOut, &s.protocolErrors, &s.outputLimit, &s.unauthenticated, &s.errorReplies,
		&s.hits, &s.misses, &s.forwarded, &s.notMine, &s.late, &s.redirected, &s.crossSlot, &s.leaseLost, &s.shrinks, &s.growths, &s.apart,
	} {
		n.Store(0)
	}
	s.mu.Lock()
	clear(s.errors)
	s.mu.Unlock()
}

// Rate is how many commands the server ran in the last second.
func (s *Server) Rate() int64 { return s.stats.perSecond.Load() }
