package resp

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// What CONFIG GET and SET know. The handlers are in cmd_config.go.

// A configParam is a setting as CONFIG GET and SET see it.
type configParam struct {
	name string
	get  func() string
	// parse understands a new value. It returns what makes it the setting's, or
	// an error text. It is nil for what only a restart changes.
	parse func(value string) (apply func(), fault string)
}

// then has something done once a new value is the setting's.
func (p configParam) then(do func()) configParam {
	parse := p.parse
	p.parse = func(value string) (func(), string) {
		apply, fault := parse(value)
		if fault != "" {
			return nil, fault
		}
		return func() { apply(); do() }, ""
	}
	return p
}

// A configTable holds the settings in the order of their names.
type configTable []configParam

// newConfigTable makes the table of a server whose settings are in place. What it
// answers is true of Ringside, in the words that tools for Redis look for; a name
// of Redis' that means nothing here is unknown.
func newConfigTable(s *Server) configTable {
	set := &s.settings
	t := configTable{
		{"requirepass", func() string { return set.passwordText() }, s.parsePassword},
		{"client-output-buffer-limit", func() string { return bufferLimits(set.OutputBuffer.Load()) }, set.parseBufferLimits},
		{"route", func() string { return string(routeMode(set.redirect.Load())) }, set.parseRoute},
		toggle("strict-slots", &set.strictSlots),
		{"cluster-enabled", func() string { return yesNo(s.clusterMode()) }, nil},
		number("forward-timeout", &set.forwardLimit, int64(time.Millisecond), bounds{1, int64(time.Hour / time.Millisecond)}),
		number("min-in-sync", &set.minInSync, 1, inSyncBounds),
		{"scrub-interval", func() string { return set.scrubIntervalText() }, set.parseScrubInterval},
		{"min-replicas-to-write", func() string { return strconv.FormatInt(set.minInSync.Load()-1, 10) }, set.parseMinReplicas},
		{"notify-keyspace-events", func() string { return eventsText(store.EventClass(s.keyEvents.own.Load())) }, s.parseEventSetting},
		number("maxclients", &set.maxClients, 1, clientsBounds),
		number("timeout", &set.idleTimeout, int64(time.Second), bounds{0, math.MaxInt32}),
		number("slowlog-log-slower-than", &set.slowerThan, int64(time.Microsecond), bounds{-1, math.MaxInt64}),
		number("slowlog-max-len", &set.slowlogLen, 1, slowlogLenBounds),
		memory("proto-max-bulk-len", &set.MaxValue, valueBounds),
		memory("maxmemory-clients", &set.clientMemory, clientMemoryBounds),
		// The same and others by the names of Ringside's flags.
		number("max-clients", &set.maxClients, 1, clientsBounds),
		memory("max-value-size", &set.MaxValue, valueBounds),
		memory("max-key-size", &set.MaxKey, keyBounds),
		number("max-args", &set.maxArgs, 1, argsBounds),
		memory("packed-size", &set.Packed, packedBounds),
		number("tracking-table-max-keys", &set.trackingKeys, 1, bounds{0, math.MaxInt64}).then(s.tracking.shrink),
		number("auth-timeout", &set.authTimeout, int64(time.Second), bounds{0, math.MaxInt32}),
		number("busy-reply-threshold", &set.busyAfter, int64(time.Millisecond), bounds{0, math.MaxInt64}),
		number("lua-time-limit", &set.busyAfter, int64(time.Millisecond), bounds{0, math.MaxInt64}),
		memory("hll-sparse-max-bytes", &set.Sparse, sparseBounds),
		memory("output-buffer", &set.OutputBuffer, outputBufferBounds),
		memory("client-memory", &set.clientMemory, clientMemoryBounds),
		memory("script-memory", &set.scriptMemory, scriptMemoryBounds),
		{"min-free-disk", func() string { return strconv.FormatInt(s.store.MinFreeDisk(), 10) }, s.parseMinFreeDisk},
	}
	fixed := s.fixedAnswers()
	maps.Copy(fixed, s.cfg.Fixed)
	for name, value := range fixed {
		t = append(t, configParam{name: name, get: func() string { return value }})
	}
	if fixed["port"] == "" {
		t = append(t, configParam{name: "port", get: func() string { return strconv.FormatInt(s.port.Load(), 10) }})
	}
	slices.SortFunc(t, func(a, b configParam) int { return cmp.Compare(a.name, b.name) })
	return t
}

// fixedAnswers are those that the server can give without being told.
func (s *Server) fixedAnswers() map[string]string {
	return map[string]string{
		"databases": "1",
		// No limit on the data, so nothing is evicted.
		"maxmemory":        "0",
		"maxmemory-policy": "noeviction",
		// No snapshots: every write goes to a log before it is acknowledged, which
		// is what Redis calls its append-only file.
		"save":                      "",
		"appendonly":                "yes",
		"appendfsync":               string(s.store.Fsync()),
		"protected-mode":            yesNo(s.cfg.ProtectedMode),
		"enable-debug-command":      s.cfg.Debug,
		"tcp-keepalive":             strconv.FormatInt(int64(s.cfg.TCPKeepAlive/time.Second), 10),
		"latency-monitor-threshold": "0",
		"latency-tracking":          "yes",
		"io-threads":                strconv.Itoa(runtime.GOMAXPROCS(0)),
		// How often expired keys are looked for.
		"hz": "10",
	}
}

func (t configTable) find(name []byte) *configParam {
	for i := range t {
		if wire.EqualFold(name, t[i].name) {
			return &t[i]
		}
	}
	return nil
}

// number is a setting that is kept in so many of its unit and shown in the unit.
// Values below zero stand for themselves.
func number(name string, at *atomic.Int64, unit int64, in bounds) configParam {
	return configParam{
		name: name,
		get: func() string {
			n := at.Load()
			if n > 0 {
				n /= unit
			}
			return strconv.FormatInt(n, 10)
		},
		parse: func(value string) (func(), string) {
			n, ok := wire.ParseInt([]byte(value))
			if !ok {
				return nil, "argument couldn't be parsed into an integer"
			}
			if !in.has(n) {
				return nil, in.fault()
			}
			if n > math.MaxInt64/unit {
				n = math.MaxInt64
			} else if n > 0 {
				n *= unit
			}
			return func() { at.Store(n) }, ""
		},
	}
}

// toggle is a setting that is yes or no.
func toggle(name string, at *atomic.Bool) configParam {
	return configParam{
		name: name,
		get:  func() string { return yesNo(at.Load()) },
		parse: func(value string) (func(), string) {
			on := wire.EqualFold([]byte(value), "yes")
			if !on && !wire.EqualFold([]byte(value), "no") {
				return nil, "argument must be 'yes' or 'no'"
			}
			return func() { at.Store(on) }, ""
		},
	}
}

// memory is a setting in bytes.
func memory(name string, at *atomic.Int64, in bounds) configParam {
	return configParam{
		name: name,
		get:  func() string { return strconv.FormatInt(at.Load(), 10) },
		parse: func(value string) (func(), string) {
			n, ok := parseMemory(value)
			if !ok {
				return nil, "argument must be a memory value"
			}
			if !in.has(n) {
				return nil, in.fault()
			}
			return func() { at.Store(n) }, ""
		},
	}
}

func (s bounds) fault() string {
	return "argument must be between " + strconv.FormatInt(s.min, 10) + " and " + strconv.FormatInt(s.max, 10) + " inclusive"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
