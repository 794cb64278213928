package node

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func none(string) bool { return false }

func TestFitMemoryLowersSizesOfSmallNodes(t *testing.T) {
	d := DefaultConfig()
	for _, tt := range []struct {
		limit                                      int64 // MiB
		cache, blocks, memTable, clients, maxValue int64 // KiB
		maxClients                                 int
	}{
		{0, 256 << 10, 128 << 10, 16 << 10, 256 << 10, 512 << 10, 10000},
		{96, 12672, 5696, 1024, 8192, 2048, 512},
		{300, 74816, 32640, 3264, 43648, 10880, 1016},
		{1536, 256 << 10, 128 << 10, 16 << 10, 256 << 10, 512 << 10, 10000},
		{1 << 20, 256 << 10, 128 << 10, 16 << 10, 256 << 10, 512 << 10, 10000},
	} {
		c := d
		c.FitMemory(tt.limit*mib, none)
		want := d
		want.Cache, want.BlockCache, want.MemTableSize = tt.cache*kib, tt.blocks*kib, tt.memTable*kib
		want.ClientMemory, want.MaxValueSize, want.MaxClients = tt.clients*kib, tt.maxValue*kib, tt.maxClients
		if c.Cache != want.Cache || c.BlockCache != want.BlockCache || c.MemTableSize != want.MemTableSize ||
			c.ClientMemory != want.ClientMemory || c.MaxValueSize != want.MaxValueSize || c.MaxClients != want.MaxClients {
			t.Errorf("%d MiB: cache %d, block-cache %d, memtable-size %d, client-memory %d, max-value-size %d, max-clients %d",
				tt.limit, c.Cache, c.BlockCache, c.MemTableSize, c.ClientMemory, c.MaxValueSize, c.MaxClients)
		}
	}
}

// The sum stays under each limit, whatever single sizes are set to that leave room for the
// others, and nothing that is set or fits already is changed.
func TestFitMemoryKeepsSumUnderLimit(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		c := DefaultConfig()
		c.Role = []string{RoleStore, RoleProxy, RoleWitness}[random.IntN(3)]
		limit := LeastMemory + random.Int64N(3*gib)
		set := ""
		switch random.IntN(6) {
		case 0:
			set, c.Cache = "cache", 64*kib+random.Int64N(limit/5)
		case 1:
			set, c.BlockCache = "block-cache", 64*kib+random.Int64N(limit/8)
		case 2:
			set, c.MemTableSize = "memtable-size", 1*mib+random.Int64N(limit/80)
		case 3:
			set, c.ClientMemory = "client-memory", 1*mib+random.Int64N(limit/8)
		}
		before := c
		c.FitMemory(limit, func(setting string) bool { return setting == set })
		use, parts := c.MemoryUse(limit)
		// With the smallest sizes of the rest, a small node has no room for what is set.
		if roomy := set == "" || limit >= 160*mib; use > limit && roomy {
			t.Fatalf("seed %d: role %s, limit %d, set %q: %d in use: %s", seed, c.Role, limit, set, use, parts)
		}
		if heap := c.HeapLimit(limit); heap >= limit {
			t.Fatalf("seed %d: a limit of %d for the heap within %d", seed, heap, limit)
		}
		switch {
		case c.Cache > before.Cache, c.BlockCache > before.BlockCache, c.MemTableSize > before.MemTableSize,
			c.ClientMemory > before.ClientMemory, c.MaxValueSize > before.MaxValueSize, c.MaxClients > before.MaxClients:
			t.Fatalf("seed %d: a size has grown: limit %d, %+v", seed, limit, c)
		case set == "cache" && c.Cache != before.Cache, set == "block-cache" && c.BlockCache != before.BlockCache,
			set == "memtable-size" && c.MemTableSize != before.MemTableSize, set == "client-memory" && c.ClientMemory != before.ClientMemory:
			t.Fatalf("seed %d: %s was set and has changed", seed, set)
		case set == "" && limit >= gib*3/2 && (c.Cache != before.Cache || c.BlockCache != before.BlockCache || c.MemTableSize != before.MemTableSize ||
			c.ClientMemory != before.ClientMemory || c.MaxValueSize != before.MaxValueSize || c.MaxClients != before.MaxClients):
			t.Fatalf("seed %d: a limit of %d changes defaults: %+v", seed, limit, c)
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("seed %d: limit %d, set %q: %v", seed, limit, set, err)
		}
	}
}

func TestFitMemoryGivesTinyNodesTheSmallestSizes(t *testing.T) {
	c := DefaultConfig()
	c.FitMemory(10*mib, none)
	if c.Cache != leastCache || c.ClientMemory != leastClients || c.MemTableSize != leastMemTable || c.BlockCache != leastBlocks {
		t.Errorf("%+v", c)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if use, _ := c.MemoryUse(10 * mib); use < 10*mib {
		t.Errorf("%d bytes are said to suffice", use)
	}
}

// Kept scripts and waiting key events follow client-memory at run time: see resp.
func TestFitMemoryLowersTrackedKeys(t *testing.T) {
	for _, tt := range []struct {
		limit   int64 // MiB
		set     bool
		tracked int
		want    int
	}{
		{96, false, 1_000_000, 32768},
		{300, false, 1_000_000, 174592},
		{1536, false, 1_000_000, 1_000_000},
		{96, true, 1_000_000, 1_000_000},
		{96, false, 1000, 1000},
		{96, false, 0, 0}, // any number
	} {
		c := DefaultConfig()
		c.TrackedKeys = tt.tracked
		c.FitMemory(tt.limit*mib, func(setting string) bool { return tt.set && setting == "tracking-table-max-keys" })
		if c.TrackedKeys != tt.want {
			t.Errorf("%d MiB, %d keys: %d, want %d", tt.limit, tt.tracked, c.TrackedKeys, tt.want)
		}
	}
}

func TestMemoryBelowLeastIsRefused(t *testing.T) {
	c := DefaultConfig()
	c.Memory = 20 * mib
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "memory: ") || !strings.Contains(err.Error(), "96mb") {
		t.Errorf("%v", err)
	}
}

func TestHeapLimitLeavesCachesOut(t *testing.T) {
	c := DefaultConfig()
	if n := c.HeapLimit(0); n != 0 {
		t.Errorf("a limit of %d where nothing is known", n)
	}
	with := c.HeapLimit(4 * gib)
	c.Cache = 0
	if without := c.HeapLimit(4 * gib); without-with != 256*mib {
		t.Errorf("%d with a cache outside of the heap, %d without", with, without)
	}
}
