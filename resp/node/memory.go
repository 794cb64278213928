package node

import (
	"fmt"

	"github.com/ringside-kv/ringside/resp"
)

// LeastMemory is the least memory that sizes are fitted to, in bytes. A process that may use
// less gets the smallest sizes, which it may not have room for.
const LeastMemory = 96 * mib

const (
	// memTables is how many memtables exist before Pebble lets writes wait. They take their
	// memory from the block cache, as far as it goes.
	memTables = 8
	// logTail is how much of the log, in memtables, is in memory since it is not on stable storage.
	logTail = 2
	// blockWaste: blocks have many sizes, and the gaps between them in the heap of the C
	// library take up to a half (1/blockWaste) of their memory again.
	blockWaste = 2
	// requestWaste: what a command builds of its request, a batch or a reply that is not
	// counted yet, takes up to a half (1/requestWaste) of client-memory again.
	requestWaste = 2
	// ownMost is what a node takes beside caches, memtables and requests: the program, tables
	// that are open, connections, streams to other nodes. A small node, which has fewer of
	// them, takes ownLeast or more.
	ownMost, ownLeast = 200 * mib, 48 * mib
	// ownBase is the part of it for all but connections in a small node, connMemory what a
	// busy connection takes, with its stack.
	ownBase, connMemory = 32 * mib, 32 * kib
	// programMemory is that part of it which is not in Go's heap.
	programMemory = 32 * mib
	// trackedShare is the client-memory, in bytes, for each key that is remembered because
	// clients keep it: a quarter of it is about what such a key takes.
	trackedShare = 256
	leastHeap    = 24 * mib

	leastCache, leastBlocks, leastMemTable, leastClients = 1 * mib, 4 * mib, 1 * mib, 8 * mib
)

// The shares of caches and requests in what a node has beside ownMemory.
const cacheShare, pebbleShare, clientShare = 40, 25, 35

// FitMemory lowers the sizes of caches, memtables, requests and values, and the number of
// clients, so that the node stays within limit, the bytes that the process may use; 0 is
// unknown, and changes nothing. A size that given reports as set, by the name of its setting, stays
// as it is, and the others share what it leaves. A limit of 1.5 GiB or more lowers no default unless other sizes are set.
func (c *Config) FitMemory(limit int64, given func(setting string) bool) {
	if limit <= 0 {
		return
	}
	left, shares := fillable(limit)-ownMemory(limit), int64(0)
	take := func(setting string, size, share int64) {
		if given(setting) {
			left -= size
		} else {
			shares += share
		}
	}
	fit := func(setting string, size *int64, part, least int64) {
		if !given(setting) {
			*size = min(*size, max(part-part%(64*kib), least))
		}
	}
	take("client-memory", c.requestMemory(), clientShare)
	if c.Role == RoleStore {
		take("cache", c.Cache, cacheShare)
		part := max(left, 0) * pebbleShare / (pebbleShare + shares)
		part = part * blockWaste / (blockWaste + 1)
		if given("block-cache") {
			part = max(part, c.BlockCache)
		}
		if given("memtable-size") {
			part = max(part, (memTables+logTail)*c.MemTableSize)
		}
		fit("block-cache", &c.BlockCache, part, leastBlocks)
		fit("memtable-size", &c.MemTableSize, part/(memTables+logTail), leastMemTable)
		left -= c.pebbleMemory() + c.logMemory()
		fit("cache", &c.Cache, max(left, 0)*cacheShare/max(shares, 1), leastCache)
	}
	part := max(left, 0) * clientShare / max(shares, 1)
	fit("client-memory", &c.ClientMemory, part*requestWaste/(requestWaste+1), leastClients)
	if !given("tracking-table-max-keys") && c.TrackedKeys > 0 {
		c.TrackedKeys = min(c.TrackedKeys, int(c.ClientMemory/trackedShare))
	}
	if own := ownMemory(limit); own < ownMost && !given("max-clients") {
		c.MaxClients = min(c.MaxClients, int((own-ownBase)/connMemory))
	}
	// A value that is written exists four times for a while: as a request, in a batch, in the
	// log's buffers and in a memtable.
	if !given("client-memory") && c.ClientMemory < DefaultConfig().ClientMemory {
		fit("max-value-size", &c.MaxValueSize, c.ClientMemory/4, 1*mib)
		fit("script-memory", &c.ScriptMemory, c.ClientMemory/2, 4*mib)
	}
}

// HeapLimit returns the limit for the memory of Go's runtime (GOMEMLIMIT) that keeps the
// process within limit, in bytes; 0 if limit is 0.
func (c *Config) HeapLimit(limit int64) int64 {
	if limit <= 0 {
		return 0
	}
	outside := int64(programMemory)
	if c.Role == RoleStore {
		outside += c.Cache
		if resp.PebbleIsOffHeap() {
			outside += c.pebbleMemory()
		}
	}
	return max(fillable(limit)-outside, leastHeap)
}

// MemoryUse returns how much memory the settings let a node use, in bytes, and the parts of
// that sum. limit is what [Config.FitMemory] was given.
func (c *Config) MemoryUse(limit int64) (use int64, parts string) {
	own := int64(ownMost)
	if limit > 0 {
		own = ownMemory(limit)
	}
	use = c.requestMemory() + own
	parts = fmt.Sprintf("%s for client-memory %s + %s for the rest",
		RoughSize(c.requestMemory()), RoughSize(c.ClientMemory), RoughSize(own))
	if c.Role == RoleStore {
		use += c.Cache + c.pebbleMemory() + c.logMemory()
		parts = fmt.Sprintf("cache %s + %s for block-cache %s and up to %d memtables of %s + %s for the log + %s",
			RoughSize(c.Cache), RoughSize(c.pebbleMemory()), RoughSize(c.BlockCache), memTables, RoughSize(c.MemTableSize),
			RoughSize(c.logMemory()), parts)
	}
	return use, parts
}

// pebbleMemory is the most that cached blocks and memtables take together, in bytes.
func (c *Config) pebbleMemory() int64 {
	return max(c.BlockCache+c.BlockCache/blockWaste, memTables*c.MemTableSize)
}

// logMemory is the most that the log takes in memory, in bytes.
func (c *Config) logMemory() int64 { return logTail * c.MemTableSize }

// requestMemory is the most that requests and replies take, in bytes.
func (c *Config) requestMemory() int64 { return c.ClientMemory + c.ClientMemory/requestWaste }

// fillable is the part of a limit that a node plans with, in bytes. The rest is for the
// system's buffers of its files and connections, and for what estimates miss.
func fillable(limit int64) int64 { return limit / 20 * 17 }

// ownMemory is what a node within limit takes beside caches, memtables and requests, in bytes.
func ownMemory(limit int64) int64 { return min(max(fillable(limit)/4, ownLeast), ownMost) }

// RoughSize writes a size in whole MiB where it has some, as settings are written.
func RoughSize(n int64) string {
	if n >= mib {
		n -= n % mib
	}
	return formatSize(n)
}
