package settings

import (
	"errors"
	"fmt"
	"math"
	"strings"
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
	KeepAlive    time.Duration // interval of probes of a silent peer; 0: none

	// ProtectedMode refuses clients from other hosts while there is neither a password nor TLS.
	ProtectedMode bool
	// MaxData is how many bytes of data the node may hold as a primary; 0: any number. DataPolicy is
	// which keys are evicted then; "" is noeviction.
	MaxData    int64
	DataPolicy string

	// Route says what new connections get for keys of other nodes.
	Route RouteMode
	// StrictSlots refuses, already on one node, commands whose keys could lie at
	// several nodes of a larger cluster, and that would fail there.
	StrictSlots bool
	// StrictBusy refuses all commands, but those that Redis allows then, while a script runs for longer than
	// BusyAfter. Otherwise a script is in the way of its keys alone.
	StrictBusy bool
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

	// KeyEvents are the key events that are published, as the letters of notify-keyspace-events.
	KeyEvents string
	// RedisConfig are parameters of Redis that have no setting of their own, as lines of redis.conf:
	// see [Table.SetRedisConfig].
	RedisConfig string
}

// A RouteMode says what a client gets that asks for keys of other nodes.
type RouteMode string

const (
	// RouteForward: the answer, whoever serves the key.
	RouteForward RouteMode = "forward"
	// RouteRedirect: MOVED and the address of the node that serves the key.
	RouteRedirect RouteMode = "redirect"
)

// Default are those of a server that nobody has configured.
func Default() Settings {
	s := Settings{ProtectedMode: true, SlowlogSlowerThan: 10 * time.Millisecond, SlowlogMaxLen: 128}
	s.EnsureDefaults()
	return s
}

// EnsureDefaults fills in what cannot be zero.
func (s *Settings) EnsureDefaults() {
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

// Bounds are what a setting may be, both ends included.
type Bounds struct{ Min, Max int64 }

func (s Bounds) has(n int64) bool { return n >= s.Min && n <= s.Max }

var (
	clientsBounds      = Bounds{1, 1 << 20}
	keyBounds          = Bounds{1, 1 << 20}
	valueBounds        = Bounds{1 << 10, 1 << 30}
	argsBounds         = Bounds{16, 1 << 26}
	packedBounds       = Bounds{1, 64 << 10}
	sparseBounds       = Bounds{0, math.MaxInt64}
	outputBufferBounds = Bounds{64 << 10, 1 << 50}
	clientMemoryBounds = Bounds{1 << 20, 1 << 50}
	scriptMemoryBounds = Bounds{1 << 20, 1 << 40}
	slowlogLenBounds   = Bounds{0, 1 << 20}
	inSyncBounds       = Bounds{1, MaxCopies}
	forwardBounds      = Bounds{int64(time.Millisecond), int64(time.Hour)}
)

// Validate reports every fault at once.
func (s *Settings) Validate() error {
	var errs []error
	for _, f := range []struct {
		name   string
		n      int64
		Bounds Bounds
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
		if !f.Bounds.has(f.n) {
			errs = append(errs, fmt.Errorf("resp: %s: %d is not between %d and %d", f.name, f.n, f.Bounds.Min, f.Bounds.Max))
		}
	}
	errs = append(errs, CheckRedisConfig(s.RedisConfig)...)
	if s.MaxData < 0 {
		errs = append(errs, fmt.Errorf("resp: data size %d is negative", s.MaxData))
	}
	if _, ok := ParsePolicy(s.DataPolicy); !ok {
		errs = append(errs, fmt.Errorf("resp: data policy %q is none of %s", s.DataPolicy, strings.Join(PolicyNames(), ", ")))
	}
	if _, ok := ParseEvents(s.KeyEvents); !ok {
		errs = append(errs, fmt.Errorf("resp: notify-keyspace-events: %q: %s", s.KeyEvents, FaultEvents))
	}
	if s.IdleTimeout < 0 {
		errs = append(errs, fmt.Errorf("resp: idle timeout %s is negative", s.IdleTimeout))
	}
	if !forwardBounds.has(int64(s.ForwardTimeout)) {
		errs = append(errs, fmt.Errorf("resp: forward timeout %s is not between %s and %s", s.ForwardTimeout, time.Duration(forwardBounds.Min), time.Duration(forwardBounds.Max)))
	}
	if s.ScrubInterval != 0 && !scrubBounds.has(int64(s.ScrubInterval)) {
		errs = append(errs, fmt.Errorf("resp: scrub interval %s is neither 0 nor between %s and %s", s.ScrubInterval, time.Duration(scrubBounds.Min), time.Duration(scrubBounds.Max)))
	}
	if s.Route != RouteForward && s.Route != RouteRedirect {
		errs = append(errs, fmt.Errorf("resp: route %q is neither %s nor %s", s.Route, RouteForward, RouteRedirect))
	}
	return errors.Join(errs...)
}

// Running is the running form of Settings.
type Running struct {
	command.Limits
	Password     atomic.Pointer[string] // nil: none
	MaxClients   atomic.Int64
	MaxArgs      atomic.Int64
	TrackingKeys atomic.Int64 // 0: any number
	ClientMemory atomic.Int64
	ScriptMemory atomic.Int64
	IdleTimeout  atomic.Int64 // ns
	SlowerThan   atomic.Int64 // ns; negative: off
	SlowlogLen   atomic.Int64
	Redirect     atomic.Bool // of new connections
	StrictSlots  atomic.Bool
	StrictBusy   atomic.Bool
	ForwardLimit atomic.Int64 // ns
	MinInSync    atomic.Int64
	ScrubEvery   atomic.Int64 // ns; 0: off
	BusyAfter    atomic.Int64 // ns; 0: never
	AuthTimeout  atomic.Int64 // ns; 0: none
	KeepAlive    atomic.Int64 // ns; 0: none; of new connections
	Protected    atomic.Bool
	PushBuffer   atomic.Int64 // bytes of messages that wait for one client; 0: OutputBuffer
	limits       atomic.Pointer[bufferLimits]
	Quota        Quota
}

// Set makes the settings those of from: all of them, or, with old, those that differ from
// old.
func (s *Running) Set(old, from *Settings) {
	if old == nil {
		for _, e := range s.encodings() {
			e.at.Store(e.standard)
		}
		s.Quota.setStandard()
	}
	if old == nil || old.Password != from.Password {
		s.SetPassword(from.Password)
	}
	put := func(at *atomic.Int64, value func(*Settings) int64) {
		if old == nil || value(old) != value(from) {
			at.Store(value(from))
		}
	}
	put(&s.MaxClients, func(x *Settings) int64 { return int64(x.MaxClients) })
	put(&s.MaxKey, func(x *Settings) int64 { return x.MaxKey })
	put(&s.MaxValue, func(x *Settings) int64 { return x.MaxValue })
	put(&s.MaxArgs, func(x *Settings) int64 { return int64(x.MaxArgs) })
	put(&s.Packed, func(x *Settings) int64 { return x.Packed })
	put(&s.Sparse, func(x *Settings) int64 { return x.Sparse })
	put(&s.TrackingKeys, func(x *Settings) int64 { return max(x.TrackedKeys, 0) })
	put(&s.BusyAfter, func(x *Settings) int64 { return max(int64(x.BusyAfter), 0) })
	put(&s.AuthTimeout, func(x *Settings) int64 { return max(int64(x.AuthTimeout), 0) })
	put(&s.OutputBuffer, func(x *Settings) int64 { return x.OutputBuffer })
	put(&s.ClientMemory, func(x *Settings) int64 { return x.ClientMemory })
	put(&s.ScriptMemory, func(x *Settings) int64 { return x.ScriptMemory })
	put(&s.IdleTimeout, func(x *Settings) int64 { return int64(x.IdleTimeout) })
	put(&s.KeepAlive, func(x *Settings) int64 { return int64(x.KeepAlive) })
	put(&s.SlowerThan, func(x *Settings) int64 { return max(int64(x.SlowlogSlowerThan), -1) })
	put(&s.SlowlogLen, func(x *Settings) int64 { return int64(x.SlowlogMaxLen) })
	put(&s.ForwardLimit, func(x *Settings) int64 { return int64(x.ForwardTimeout) })
	put(&s.MinInSync, func(x *Settings) int64 { return int64(x.MinInSync) })
	put(&s.ScrubEvery, func(x *Settings) int64 { return int64(x.ScrubInterval) })
	put(&s.Quota.MaxData, func(x *Settings) int64 { return x.MaxData })
	if old == nil || old.DataPolicy != from.DataPolicy {
		p, _ := ParsePolicy(from.DataPolicy)
		s.Quota.policy.Store(int32(p))
	}
	if old == nil || old.Route != from.Route {
		s.Redirect.Store(from.Route == RouteRedirect)
	}
	if old == nil || old.ProtectedMode != from.ProtectedMode {
		s.Protected.Store(from.ProtectedMode)
	}
	if old == nil || old.StrictSlots != from.StrictSlots {
		s.StrictSlots.Store(from.StrictSlots)
	}
	if old == nil || old.StrictBusy != from.StrictBusy {
		s.StrictBusy.Store(from.StrictBusy)
	}
}

// SetPassword sets the password; an empty one means that none is needed.
func (s *Running) SetPassword(p string) {
	if p == "" {
		s.Password.Store(nil)
		return
	}
	s.Password.Store(&p)
}

// MaxCopies is more than a range ever has.
const MaxCopies = 255

// scrubBounds are those of an interval that is not 0: below, a node would do little else.
var scrubBounds = Bounds{int64(time.Minute), int64(365 * 24 * time.Hour)}
