package settings

import (
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Quota bounds the data of a node, and says how keys are evicted.
type Quota struct {
	MaxData  atomic.Int64 // bytes; 0: no limit
	policy   atomic.Int32
	Samples  atomic.Int64 // keys that are drawn for each that is evicted
	tenacity atomic.Int64 // maxmemory-eviction-tenacity
	Factor   atomic.Int64 // lfu-log-factor
	Decay    atomic.Int64 // lfu-decay-time, minutes
}

// setStandard sets what has no flag to Redis' standard values.
func (q *Quota) setStandard() {
	q.Samples.Store(5)
	q.tenacity.Store(10)
	q.Factor.Store(10)
	q.Decay.Store(1)
}

// Patience returns for how long a write evicts keys, beside those that it has to: as Redis has it.
func (q *Quota) Patience() time.Duration {
	switch n := q.tenacity.Load(); {
	case n <= 10:
		return time.Duration(n) * 50 * time.Microsecond
	case n < 100:
		return time.Duration(500 * math.Pow(1.15, float64(n-10)) * float64(time.Microsecond))
	}
	return math.MaxInt64
}

// Policy returns which keys are evicted.
func (q *Quota) Policy() Policy { return Policy(q.policy.Load()) }

// Params are the settings of the quota.
func (q *Quota) Params() []Param {
	policy := Param{
		Name: "maxmemory-policy",
		Get:  func() string { return q.Policy().String() },
		Parse: func(value string) (func(), string) {
			p, ok := ParsePolicy(value)
			if !ok || value == "" {
				return nil, "argument(s) must be one of the following: " + strings.Join(PolicyNames(), ", ")
			}
			return func() { q.policy.Store(int32(p)) }, ""
		},
	}
	own := policy
	own.Name = "max-data-policy"
	params := []Param{
		Memory("maxmemory", &q.MaxData, Bounds{0, maxLong}),
		Memory("max-data", &q.MaxData, Bounds{0, maxLong}).By("max-data"),
		policy,
		own.By("max-data-policy"),
		Number("maxmemory-samples", &q.Samples, 1, Bounds{1, maxInt}).kept("5"),
		Number("maxmemory-eviction-tenacity", &q.tenacity, 1, Bounds{0, 100}).kept("10"),
		Number("lfu-log-factor", &q.Factor, 1, Bounds{0, maxInt}).kept("10"),
		Number("lfu-decay-time", &q.Decay, 1, Bounds{0, maxInt}).kept("1"),
	}
	for i := range params {
		params[i] = params[i].eachNode()
	}
	return params
}

// AfterQuota has something done once a setting of the quota has changed.
func (t Table) AfterQuota(do func()) {
	names := new(Quota).Params()
	for i := range names {
		p := t.Find([]byte(names[i].Name))
		*p = p.Then(do)
	}
}

// A Policy says which keys are evicted.
type Policy int32

// The policies of Redis 7. NoEviction is the default.
const (
	NoEviction Policy = iota
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
	VolatileLRU
	VolatileLFU
	VolatileRandom
	VolatileTTL
	policies
)

// policyNames are in the order in which Redis lists them.
var policyNames = [policies]string{
	VolatileLRU: "volatile-lru", VolatileLFU: "volatile-lfu", VolatileRandom: "volatile-random", VolatileTTL: "volatile-ttl",
	AllKeysLRU: "allkeys-lru", AllKeysLFU: "allkeys-lfu", AllKeysRandom: "allkeys-random", NoEviction: "noeviction",
}

// listedPolicies is the order in which an error names them.
var listedPolicies = [policies]Policy{VolatileLRU, VolatileLFU, VolatileRandom, VolatileTTL, AllKeysLRU, AllKeysLFU, AllKeysRandom, NoEviction}

// PolicyNames returns the names of all policies, in the order of Redis' error text.
func PolicyNames() []string {
	all := make([]string, policies)
	for i, p := range listedPolicies {
		all[i] = policyNames[p]
	}
	return all
}

// ParsePolicy reads the name of a policy, in any case. An empty one is NoEviction.
func ParsePolicy(name string) (p Policy, ok bool) {
	if name == "" {
		return NoEviction, true
	}
	for p := range policies {
		if wire.EqualFold([]byte(name), policyNames[p]) {
			return p, true
		}
	}
	return 0, false
}

// String returns the name.
func (p Policy) String() string { return policyNames[p] }

// Evicts reports whether keys are evicted at all.
func (p Policy) Evicts() bool { return p != NoEviction }

// IsVolatile reports whether only keys with an expiry are evicted.
func (p Policy) IsVolatile() bool { return p >= VolatileLRU }

// CountsUses reports whether the policy needs to know how often keys are used.
func (p Policy) CountsUses() bool { return p == AllKeysLFU || p == VolatileLFU }

// Policies goes over all policies.
func Policies() func(yield func(Policy) bool) {
	return func(yield func(Policy) bool) {
		for p := range policies {
			if !yield(p) {
				return
			}
		}
	}
}

// ParseBytes reads a positive number of bytes as Redis' settings have it, with an optional unit.
func ParseBytes(text string) (n int64, ok bool) {
	bytes, ok := parseBytes(text)
	return int64(bytes), ok && bytes > 0 && bytes <= maxLong
}
