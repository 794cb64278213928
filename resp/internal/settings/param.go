package settings

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Param is a setting as CONFIG GET and SET see it.
type Param struct {
	Name string
	Get  func() string
	// Parse understands a new value. It returns what makes it the setting's, or
	// an error text. It is nil for what only a restart changes.
	Parse func(value string) (apply func(), fault string)
}

// Then has something done once a new value is the setting's.
func (p Param) Then(do func()) Param {
	parse := p.Parse
	p.Parse = func(value string) (func(), string) {
		apply, fault := parse(value)
		if fault != "" {
			return nil, fault
		}
		return func() { apply(); do() }, ""
	}
	return p
}

// A Table holds the settings in the order of their names.
type Table []Param

// NewTable makes the table of settings that are in place, and of what its caller adds. What
// it answers is true of Ringside, in the words that tools for Redis look for; a name of Redis' that
// means nothing here is unknown.
func NewTable(set *Running, more ...Param) Table {
	t := append(Table{
		{"client-output-buffer-limit", func() string { return bufferLimits(set.OutputBuffer.Load()) }, set.parseBufferLimits},
		{"route", func() string { return string(ModeOf(set.Redirect.Load())) }, set.parseRoute},
		Toggle("strict-slots", &set.StrictSlots),
		Number("forward-timeout", &set.ForwardLimit, int64(time.Millisecond), Bounds{1, int64(time.Hour / time.Millisecond)}),
		Number("min-in-sync", &set.MinInSync, 1, inSyncBounds),
		{"scrub-interval", func() string { return set.scrubIntervalText() }, set.parseScrubInterval},
		{"min-replicas-to-write", func() string { return strconv.FormatInt(set.MinInSync.Load()-1, 10) }, set.parseMinReplicas},
		Number("maxclients", &set.MaxClients, 1, clientsBounds),
		Number("timeout", &set.IdleTimeout, int64(time.Second), Bounds{0, math.MaxInt32}),
		Number("slowlog-log-slower-than", &set.SlowerThan, int64(time.Microsecond), Bounds{-1, math.MaxInt64}),
		Number("slowlog-max-len", &set.SlowlogLen, 1, slowlogLenBounds),
		Memory("proto-max-bulk-len", &set.MaxValue, valueBounds),
		Memory("maxmemory-clients", &set.ClientMemory, clientMemoryBounds),
		// The same and others by the names of Ringside's flags.
		Number("max-clients", &set.MaxClients, 1, clientsBounds),
		Memory("max-value-size", &set.MaxValue, valueBounds),
		Memory("max-key-size", &set.MaxKey, keyBounds),
		Number("max-args", &set.MaxArgs, 1, argsBounds),
		Memory("packed-size", &set.Packed, packedBounds),
		Number("auth-timeout", &set.AuthTimeout, int64(time.Second), Bounds{0, math.MaxInt32}),
		Number("busy-reply-threshold", &set.BusyAfter, int64(time.Millisecond), Bounds{0, math.MaxInt64}),
		Number("lua-time-limit", &set.BusyAfter, int64(time.Millisecond), Bounds{0, math.MaxInt64}),
		Memory("hll-sparse-max-bytes", &set.Sparse, sparseBounds),
		Memory("output-buffer", &set.OutputBuffer, outputBufferBounds),
		Memory("client-memory", &set.ClientMemory, clientMemoryBounds),
		Memory("script-memory", &set.ScriptMemory, scriptMemoryBounds),
	}, more...)
	slices.SortFunc(t, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

// Find returns the setting of a name, in any case, or nil.
func (t Table) Find(name []byte) *Param {
	for i := range t {
		if wire.EqualFold(name, t[i].Name) {
			return &t[i]
		}
	}
	return nil
}

// Number is a setting that is kept in so many of its unit and shown in the unit.
// Values below zero stand for themselves.
func Number(name string, at *atomic.Int64, unit int64, in Bounds) Param {
	return Param{
		Name: name,
		Get: func() string {
			n := at.Load()
			if n > 0 {
				n /= unit
			}
			return strconv.FormatInt(n, 10)
		},
		Parse: func(value string) (func(), string) {
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

// Toggle is a setting that is yes or no.
func Toggle(name string, at *atomic.Bool) Param {
	return Param{
		Name: name,
		Get:  func() string { return YesNo(at.Load()) },
		Parse: func(value string) (func(), string) {
			on := wire.EqualFold([]byte(value), "yes")
			if !on && !wire.EqualFold([]byte(value), "no") {
				return nil, "argument must be 'yes' or 'no'"
			}
			return func() { at.Store(on) }, ""
		},
	}
}

// Memory is a setting in bytes.
func Memory(name string, at *atomic.Int64, in Bounds) Param {
	return Param{
		Name: name,
		Get:  func() string { return strconv.FormatInt(at.Load(), 10) },
		Parse: func(value string) (func(), string) {
			n, ok := ParseMemory(value)
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

func (s Bounds) fault() string {
	return "argument must be between " + strconv.FormatInt(s.Min, 10) + " and " + strconv.FormatInt(s.Max, 10) + " inclusive"
}

// YesNo shows a switch as CONFIG does.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Change understands a new value. One that only a restart could change may be set to
// what it is: tools do that to be sure.
func (p *Param) Change(value []byte) (apply func(), fault string) {
	if p.Parse != nil {
		return p.Parse(string(value))
	}
	if !bytes.Equal(value, []byte(p.Get())) {
		return nil, "can't set immutable config"
	}
	return func() {}, ""
}
