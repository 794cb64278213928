package resp

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store/collection"
)

// Settings are limits and switches that CONFIG SET may change while the server
// runs.
type Settings struct {
	Password     string
	MaxClients   int
	MaxKey       int64         // bytes of a key
	MaxValue     int64         // bytes of an argument and of a string
	MaxArgs      int           // of one command
	Packed       int64         // bytes of a collection up to which it is one entry
	Sparse       int64         // bytes of a HyperLogLog up to which it is sparse
	OutputBuffer int64         // bytes of replies that wait for one client
	ClientMemory int64         // bytes of requests and replies of all clients together
	ScriptMemory int64         // bytes that one script may take
	IdleTimeout  time.Duration // 0: none

	// Route says what new connections get for keys of other nodes.
	Route RouteMode
	// StrictSlots refuses, already on one node, commands whose keys could lie at
	// several nodes of a larger cluster, and that would fail there.
	StrictSlots bool
	// ForwardTimeout is how long a request waits for other nodes at most: for the
	// answer, or for somebody who serves its keys.
	ForwardTimeout time.Duration
	// MinInSync is how many nodes, the primary included, must have a range for writes to
	// be taken.
	MinInSync int
	// ScrubInterval is in how much time a node compares all that it serves with its
	// backups; 0: only when it is told to.
	ScrubInterval time.Duration

	// TrackedKeys is how many reads of tracking clients are remembered, each key once for each
	// client of this node and each other node; negative: any number.
	TrackedKeys int64
	// AuthTimeout is how long a client may take to authenticate, where it must. The default
	// is 60 s; negative: for ever.
	AuthTimeout time.Duration
	// BusyAfter is after how long a script is in the way: who needs its keys gets BUSY then.
	// Negative: never.
	BusyAfter time.Duration

	SlowlogSlowerThan time.Duration // negative: off
	SlowlogMaxLen     int           // 0: off
}

// A RouteMode says what a client gets that asks for keys of other nodes.
type RouteMode string

const (
	// RouteForward: the answer, whoever serves the key.
	RouteForward RouteMode = "forward"
	// RouteRedirect: MOVED and the address of the node that serves the key.
	RouteRedirect RouteMode = "redirect"
)

// DefaultSettings are those of a server that nobody has configured.
func DefaultSettings() Settings {
	s := Settings{SlowlogSlowerThan: 10 * time.Millisecond, SlowlogMaxLen: 128}
	s.ensureDefaults()
	return s
}

// ensureDefaults fills in what cannot be zero.
func (s *Settings) ensureDefaults() {
	setDefault(&s.MaxClients, 10_000)
	setDefault(&s.MaxKey, 64<<10)
	setDefault(&s.MaxValue, 512<<20)
	setDefault(&s.MaxArgs, 1<<20)
	setDefault(&s.Packed, collection.DefaultPacked)
	setDefault(&s.Sparse, 3000)
	setDefault(&s.OutputBuffer, 64<<20)
	setDefault(&s.ClientMemory, 256<<20)
	setDefault(&s.ScriptMemory, 64<<20)
	setDefault(&s.Route, RouteForward)
	setDefault(&s.ForwardTimeout, 10*time.Second)
	setDefault(&s.MinInSync, 1)
	setDefault(&s.TrackedKeys, 1_000_000)
	setDefault(&s.BusyAfter, 5*time.Second)
	setDefault(&s.AuthTimeout, time.Minute)
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// bounds are what a setting may be, both ends included.
type bounds struct{ min, max int64 }

func (s bounds) has(n int64) bool { return n >= s.min && n <= s.max }

var (
	clientsBounds      = bounds{1, 1 << 20}
	keyBounds          = bounds{1, 1 << 20}
	valueBounds        = bounds{1 << 10, 1 << 30}
	argsBounds         = bounds{16, 1 << 26}
	packedBounds       = bounds{1, 64 << 10}
	sparseBounds       = bounds{0, math.MaxInt64}
	outputBufferBounds = bounds{64 << 10, 1 << 50}
	clientMemoryBounds = bounds{1 << 20, 1 << 50}
	scriptMemoryBounds = bounds{1 << 20, 1 << 40}
	slowlogLenBounds   = bounds{0, 1 << 20}
	inSyncBounds       = bounds{1, maxCopies}
	forwardBounds      = bounds{int64(time.Millisecond), int64(time.Hour)}
)

// Validate reports every fault at once.
func (s *Settings) Validate() error {
	var errs []error
	for _, f := range []struct {
		name   string
		n      int64
		bounds bounds
	}{
		{"clients", int64(s.MaxClients), clientsBounds},
		{"key size", s.MaxKey, keyBounds},
		{"value size", s.MaxValue, valueBounds},
		{"arguments", int64(s.MaxArgs), argsBounds},
		{"packed size", s.Packed, packedBounds},
		{"sparse size", s.Sparse, sparseBounds},
		{"output buffer", s.OutputBuffer, outputBufferBounds},
		{"client memory", s.ClientMemory, clientMemoryBounds},
		{"script memory", s.ScriptMemory, scriptMemoryBounds},
		{"copies in sync", int64(s.MinInSync), inSyncBounds},
		{"slowlog length", int64(s.SlowlogMaxLen), slowlogLenBounds},
	} {
		if !f.bounds.has(f.n) {
			errs = append(errs, fmt.Errorf("resp: %s: %d is not between %d and %d", f.name, f.n, f.bounds.min, f.bounds.max))
		}
	}
	if s.IdleTimeout < 0 {
		errs = append(errs, fmt.Errorf("resp: idle timeout %s is negative", s.IdleTimeout))
	}
	if !forwardBounds.has(int64(s.ForwardTimeout)) {
		errs = append(errs, fmt.Errorf("resp: forward timeout %s is not between %s and %s", s.ForwardTimeout, time.Duration(forwardBounds.min), time.Duration(forwardBounds.max)))
	}
	if s.ScrubInterval != 0 && !scrubBounds.has(int64(s.ScrubInterval)) {
		errs = append(errs, fmt.Errorf("resp: scrub interval %s is neither 0 nor between %s and %s", s.ScrubInterval, time.Duration(scrubBounds.min), time.Duration(scrubBounds.max)))
	}
	if s.Route != RouteForward && s.Route != RouteRedirect {
		errs = append(errs, fmt.Errorf("resp: route %q is neither %s nor %s", s.Route, RouteForward, RouteRedirect))
	}
	return errors.Join(errs...)
}

// settings is the running form of Settings.
type settings struct {
	command.Limits
	password     atomic.Pointer[string] // nil: none
	maxClients   atomic.Int64
	maxArgs      atomic.Int64
	trackingKeys atomic.Int64 // 0: any number
	clientMemory atomic.Int64
	scriptMemory atomic.Int64
	idleTimeout  atomic.Int64 // ns
	slowerThan   atomic.Int64 // ns; negative: off
	slowlogLen   atomic.Int64
	redirect     atomic.Bool // of new connections
	strictSlots  atomic.Bool
	forwardLimit atomic.Int64 // ns
	minInSync    atomic.Int64
	scrubEvery   atomic.Int64 // ns; 0: off
	busyAfter    atomic.Int64 // ns; 0: never
	authTimeout  atomic.Int64 // ns; 0: none
}

// set makes the settings those of from: all of them, or, with old, those that differ from
// old.
func (s *settings) set(old, from *Settings) {
	if old == nil || old.Password != from.Password {
		s.setPassword(from.Password)
	}
	put := func(at *atomic.Int64, value func(*Settings) int64) {
		if old == nil || value(old) != value(from) {
			at.Store(value(from))
		}
	}
	put(&s.maxClients, func(x *Settings) int64 { return int64(x.MaxClients) })
	put(&s.MaxKey, func(x *Settings) int64 { return x.MaxKey })
	put(&s.MaxValue, func(x *Settings) int64 { return x.MaxValue })
	put(&s.maxArgs, func(x *Settings) int64 { return int64(x.MaxArgs) })
	put(&s.Packed, func(x *Settings) int64 { return x.Packed })
	put(&s.Sparse, func(x *Settings) int64 { return x.Sparse })
	put(&s.trackingKeys, func(x *Settings) int64 { return max(x.TrackedKeys, 0) })
	put(&s.busyAfter, func(x *Settings) int64 { return max(int64(x.BusyAfter), 0) })
	put(&s.authTimeout, func(x *Settings) int64 { return max(int64(x.AuthTimeout), 0) })
	put(&s.OutputBuffer, func(x *Settings) int64 { return x.OutputBuffer })
	put(&s.clientMemory, func(x *Settings) int64 { return x.ClientMemory })
	put(&s.scriptMemory, func(x *Settings) int64 { return x.ScriptMemory })
	put(&s.idleTimeout, func(x *Settings) int64 { return int64(x.IdleTimeout) })
	put(&s.slowerThan, func(x *Settings) int64 { return max(int64(x.SlowlogSlowerThan), -1) })
	put(&s.slowlogLen, func(x *Settings) int64 { return int64(x.SlowlogMaxLen) })
	put(&s.forwardLimit, func(x *Settings) int64 { return int64(x.ForwardTimeout) })
	put(&s.minInSync, func(x *Settings) int64 { return int64(x.MinInSync) })
	put(&s.scrubEvery, func(x *Settings) int64 { return int64(x.ScrubInterval) })
	if old == nil || old.Route != from.Route {
		s.redirect.Store(from.Route == RouteRedirect)
	}
	if old == nil || old.StrictSlots != from.StrictSlots {
		s.strictSlots.Store(from.StrictSlots)
	}
}

// keptMost is how many bytes kept scripts may take, and key events that wait for one node: 64
// MiB, or a quarter of client-memory, which follows the memory of the machine, if that is less.
func (s *Server) keptMost() int64 { return min(64<<20, s.settings.clientMemory.Load()/4) }

// Reconfigure applies the settings of next that differ from old; the others stay as they
// are, also where CONFIG SET has changed them. It may run beside clients. If it returns an
// error, nothing has changed.
func (s *Server) Reconfigure(old, next Settings) error {
	old.ensureDefaults()
	next.ensureDefaults()
	if err := next.Validate(); err != nil {
		return err
	}
	if old.Password != next.Password {
		apply, fault := s.parsePassword(next.Password)
		if fault != "" {
			return fmt.Errorf("change the password: %s", fault)
		}
		apply()
	}
	s.settings.set(&old, &next)
	s.tracking.shrink()
	return nil
}

func (s *settings) setPassword(p string) {
	if p == "" {
		s.password.Store(nil)
		return
	}
	s.password.Store(&p)
}
