package resp

import (
	"bytes"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uber-go/tally/v4"
)

// stats are the server's counters. INFO shows them; sample passes them on as
// metrics.
type stats struct {
	commands []commandStats // by command id
	table    *commandTable

	accepted       atomic.Int64
	refused        atomic.Int64
	bytesIn        atomic.Int64
	bytesOut       atomic.Int64
	protocolErrors atomic.Int64
	outputLimit    atomic.Int64 // clients closed for not reading
	errorReplies   atomic.Int64

	mu     sync.Mutex
	errors map[string]int64 // by error code

	perSecond atomic.Int64 // commands in the last second
	lastTotal int64
	metrics   *statsMetrics
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

const (
	latencyBuckets = 28 // up to 34 s
	latencyUnit    = 8  // log2 of 256 ns
)

func latencyBucket(d time.Duration) int {
	return min(bits.Len64(uint64(d)>>latencyUnit), latencyBuckets-1)
}

// latencyBound is the upper end of a bucket.
func latencyBound(i int) time.Duration { return 1 << (latencyUnit + i) }

func newStats(table *commandTable, scope tally.Scope) *stats {
	return &stats{
		table:    table,
		commands: make([]commandStats, len(table.all)),
		errors:   make(map[string]int64),
		metrics:  newStatsMetrics(table, scope),
	}
}

// ran notes a command that ran, and how long it took.
func (s *stats) ran(cmd *command, took time.Duration, failed bool) {
	c := &s.commands[cmd.id]
	c.calls.Add(1)
	c.nanos.Add(int64(took))
	c.latency[latencyBucket(took)].Add(1)
	if failed {
		c.failed.Add(1)
	}
}

// rejected notes a command that was not run; nil for an unknown one.
func (s *stats) rejected(cmd *command) {
	if cmd != nil {
		s.commands[cmd.id].rejected.Add(1)
	}
}

// maxErrorCodes bounds the error codes that are told apart.
const maxErrorCodes = 128

// failed notes an error reply by its code.
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
		&s.accepted, &s.refused, &s.bytesIn, &s.bytesOut, &s.protocolErrors, &s.outputLimit, &s.errorReplies,
	} {
		n.Store(0)
	}
	s.mu.Lock()
	clear(s.errors)
	s.mu.Unlock()
}
