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
	"github.com/ringside-kv/ringside/store/collection"
)

// A Param is a setting as CONFIG GET and SET see it.
type Param struct {
	Name string
	Get  func() string
	// Parse understands a new value. It returns what makes it the setting's, or
	// an error text. It is nil for what only a restart changes.
	Parse func(value string) (apply func(), fault string)
	// Refusal, if any, is the error text for every new value, also the present one.
	Refusal string
	// Flag is the flag of the server that has the value after a restart, and FlagText the value as the flag
	// takes it; nil: as Get shows it. Both are empty for what has no flag.
	Flag     string
	FlagText func() string
	// Redis says that the value is a line of the flag redis-config, unless it is the standard one.
	Redis    bool
	standard func() string
	// Inert says that the parameter is Redis' and changes nothing here.
	Inert bool
	// EachNode says that CONFIG SET changes the value at every node: it decides what becomes of keys, and a
	// client does not choose the node that has them.
	EachNode bool
	// Hidden says that patterns do not match the name.
	Hidden bool
	alias  bool
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

// By names the flag of the setting.
func (p Param) By(flag string) Param {
	p.Flag = flag
	return p
}

// as refuses what Redis refuses, with its error text, before the setting's own limits.
func (p Param) as(redis form) Param {
	parse := p.Parse
	p.Parse = func(value string) (func(), string) {
		if _, fault := redis(value); fault != "" {
			return nil, fault
		}
		return parse(value)
	}
	return p
}

// eachNode has CONFIG SET change the value at every node.
func (p Param) eachNode() Param {
	p.EachNode = true
	return p
}

// kept has the value kept by redis-config, unless it is the standard one.
func (p Param) kept(standard string) Param {
	p.Redis, p.standard = true, func() string { return standard }
	return p
}

// A Table holds the settings in the order of their names.
type Table []Param

// NewTable makes the table of settings that are in place, and of what its caller adds, which goes
// before. All parameters of Redis 7.0 are in it: some mean what they mean in Redis, the others are inert.
func NewTable(set *Running, more ...Param) Table {
	t := append(Table(nil), more...)
	add := func(params ...Param) {
		for _, p := range params {
			if t.Find([]byte(p.Name)) == nil {
				t = append(t, p)
			}
		}
	}
	add(set.params()...)
	add(set.Quota.Params()...)
	for _, e := range set.encodings() {
		add(e.param())
	}
	for _, row := range restartRows {
		add(Fixed(row.name, func() string { return row.value }))
	}
	for _, row := range redisRows {
		add(row.param(false))
	}
	for _, row := range redisHidden {
		add(row.param(true))
	}
	for _, alias := range redisAliases {
		p := *t.Find([]byte(alias[1]))
		p.Name, p.alias = alias[0], true
		add(p)
	}
	slices.SortFunc(t, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

// params are the settings that Ringside has flags for, by Redis' names and by those of the flags.
func (s *Running) params() []Param {
	set := s
	return []Param{
		{
			Name: "client-output-buffer-limit", Get: set.bufferLimitsText, Parse: set.parseBufferLimits,
			Redis: true, standard: set.standardBufferLimits,
		},
		{Name: "route", Flag: "route", Get: func() string { return string(ModeOf(set.Redirect.Load())) }, Parse: set.parseRoute},
		Toggle("strict-slots", &set.StrictSlots).By("strict-slots"),
		Toggle("strict-busy", &set.StrictBusy).By("strict-busy"),
		Number("forward-timeout", &set.ForwardLimit, int64(time.Millisecond), Bounds{1, int64(time.Hour / time.Millisecond)}).By("forward-timeout"),
		Number("min-in-sync", &set.MinInSync, 1, inSyncBounds).By("min-in-sync").eachNode(),
		{Name: "scrub-interval", Flag: "scrub-interval", Get: set.scrubIntervalText, Parse: set.parseScrubInterval},
		{
			Name: "min-replicas-to-write", Parse: set.parseMinReplicas,
			Get: func() string { return strconv.FormatInt(set.MinInSync.Load()-1, 10) }, EachNode: true,
		},
		Number("maxclients", &set.MaxClients, 1, clientsBounds).as(numbers(1, math.MaxUint32)),
		Number("timeout", &set.IdleTimeout, int64(time.Second), Bounds{0, maxInt}).By("idle-timeout"),
		Number("slowlog-log-slower-than", &set.SlowerThan, int64(time.Microsecond), Bounds{-1, maxLong}).By("slowlog-slower-than"),
		Number("slowlog-max-len", &set.SlowlogLen, 1, slowlogLenBounds).as(numbers(0, maxLong)).By("slowlog-max-len"),
		Memory("proto-max-bulk-len", &set.MaxValue, valueBounds).as(sizes(1<<20, maxLong)).eachNode(),
		Memory("maxmemory-clients", &set.ClientMemory, clientMemoryBounds).as(sizeOrPercent),
		Toggle("protected-mode", &set.Protected).By("protected-mode"),
		Number("tcp-keepalive", &set.KeepAlive, int64(time.Second), Bounds{0, maxInt}).By("tcp-keepalive"),
		Kept("latency-tracking", "yes", yesNoForm),
		Kept("repl-timeout", "60", numbers(1, maxInt)), // these are of replicas of Redis: package psync
		Kept("repl-ping-replica-period", "10", numbers(1, maxInt)),
		Kept("repl-backlog-size", "1048576", backlogForm),
		Kept("repl-backlog-ttl", "3600", numbers(0, maxLong)),
		Kept("masteruser", "", anyText), // these are of the server that the cluster is a replica of: package replicaof
		Kept("masterauth", "", anyText),
		Kept("replica-serve-stale-data", "yes", yesNoForm),
		Kept("acl-pubsub-default", "resetchannels", oneOf("allchannels", "resetchannels")),
		Kept("acllog-max-len", "128", numbers(0, maxLong)),
		Kept("latency-tracking-info-percentiles", "50 99 99.9", percentilesForm),
		// The same and others by the names of Ringside's flags.
		Number("max-clients", &set.MaxClients, 1, clientsBounds).By("max-clients"),
		Memory("max-value-size", &set.MaxValue, valueBounds).By("max-value-size").eachNode(),
		Memory("max-key-size", &set.MaxKey, keyBounds).By("max-key-size"),
		Number("max-args", &set.MaxArgs, 1, argsBounds).By("max-args"),
		Memory("packed-size", &set.Packed, packedBounds).By("packed-size").eachNode(),
		Number("auth-timeout", &set.AuthTimeout, int64(time.Second), Bounds{0, maxInt}).By("auth-timeout"),
		Number("busy-reply-threshold", &set.BusyAfter, int64(time.Millisecond), Bounds{0, maxLong}).By("busy-reply-threshold").eachNode(),
		Memory("hll-sparse-max-bytes", &set.Sparse, sparseBounds).By("hll-sparse-max-bytes").eachNode(),
		Memory("output-buffer", &set.OutputBuffer, outputBufferBounds).By("output-buffer"),
		Memory("client-memory", &set.ClientMemory, clientMemoryBounds).By("client-memory"),
		Memory("script-memory", &set.ScriptMemory, scriptMemoryBounds).By("script-memory").eachNode(),
		set.dumpVersion(),
	}
}

// An encoding is one of [command.Encodings] with its name and its value in a new Redis.
type encoding struct {
	name     string
	at       *atomic.Int64
	standard int64
	isSize   bool
	in       Bounds
}

func (s *Running) encodings() []encoding {
	e, most := &s.Encodings, Bounds{0, maxLong}
	return []encoding{
		{"hash-max-listpack-entries", &e.HashEntries, 512, false, most},
		{"hash-max-listpack-value", &e.HashValue, 64, true, most},
		{"list-max-listpack-size", &e.ListSize, -2, false, Bounds{-maxInt - 1, maxInt}},
		{"set-max-intset-entries", &e.SetIntegers, 512, false, most},
		{"set-max-listpack-entries", &e.SetEntries, 128, false, most},
		{"set-max-listpack-value", &e.SetValue, 64, true, most},
		{"zset-max-listpack-entries", &e.ZSetEntries, 128, false, most},
		{"zset-max-listpack-value", &e.ZSetValue, 64, true, most},
		{"stream-node-max-entries", &e.StreamNode, collection.TrimNode, false, most},
	}
}

func (e encoding) param() Param {
	p := Number(e.name, e.at, 1, e.in)
	if e.isSize {
		p = Memory(e.name, e.at, e.in)
	}
	return p.kept(strconv.FormatInt(e.standard, 10)).eachNode()
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
	p := Param{
		Name: name,
		Get: func() string {
			n := at.Load()
			if n > 0 && n < maxLong { // the largest number stands for all above
				n /= unit
			}
			return strconv.FormatInt(n, 10)
		},
		Parse: func(value string) (func(), string) {
			n, ok := wire.ParseInt([]byte(value))
			if !ok {
				return nil, faultNumber
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
	if unit > 1 { // a time; flags take it with a unit
		p.FlagText = func() string { return time.Duration(at.Load()).String() }
	}
	return p
}

// Toggle is a setting that is yes or no.
func Toggle(name string, at *atomic.Bool) Param {
	return Param{
		Name: name,
		Get:  func() string { return YesNo(at.Load()) },
		Parse: func(value string) (func(), string) {
			on := wire.EqualFold([]byte(value), "yes")
			if !on && !wire.EqualFold([]byte(value), "no") {
				return nil, faultYesNo
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
			n, ok := parseBytes(value)
			if !ok {
				return nil, faultMemory
			}
			if n > maxLong || !in.has(int64(n)) {
				return nil, in.fault()
			}
			return func() { at.Store(int64(n)) }, ""
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
		return nil, faultImmutable
	}
	return func() {}, ""
}
