package admin

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// cmdMemoryStats has Redis' names for what there is, too.
func cmdMemoryStats(x *call) {
	st := x.srv.Store.Stats()
	used := MemoryInUse(&st)
	resident := residentMemory()
	if resident == 0 {
		resident = used
	}
	keys := x.srv.Store.Keys()
	peak := max(x.srv.peak.Load(), used)
	fields := []struct {
		name string
		n    int64
	}{
		{"peak.allocated", peak},
		{"total.allocated", used},
		{"startup.allocated", 0},
		{"replication.backlog", 0},
		{"clients.slaves", 0},
		{"clients.normal", x.srv.Source.ClientMemory()},
		{"cluster.links", 0},
		{"aof.buffer", 0},
		{"lua.caches", 0},
		{"functions.caches", 0},
		{"overhead.db.hashtable.lut", 0},
		{"overhead.db.hashtable.rehashing", 0},
		{"overhead.total", max(used-st.CacheBytes, 0)},
		{"db.dict.rehashing.count", 0},
		{"keys.count", keys},
		{"keys.bytes-per-key", st.CacheBytes / max(keys, 1)},
		{"dataset.bytes", st.CacheBytes}, // as in INFO
		{"cache.bytes", st.CacheBytes},
		{"block.cache.bytes", st.Pebble.BlockCache.Size},
		{"memtable.bytes", int64(st.Pebble.MemTable.Size)},
		{"allocator.allocated", used},
		{"allocator.active", used},
		{"allocator.resident", resident},
		{"allocator.muzzy", 0},
		{"allocator-fragmentation.bytes", 0},
		{"allocator-rss.bytes", resident - used},
		{"rss-overhead.bytes", 0},
		{"fragmentation.bytes", resident - used},
	}
	rss := float64(resident) / float64(used)
	ratios := []struct {
		name string
		f    float64
	}{
		{"dataset.percentage", 100 * float64(st.CacheBytes) / float64(used)},
		{"peak.percentage", 100 * float64(used) / float64(peak)},
		{"allocator-fragmentation.ratio", 1},
		{"allocator-rss.ratio", rss},
		{"rss-overhead.ratio", 1},
		{"fragmentation", rss},
	}
	x.Map(len(fields) + len(ratios))
	for _, f := range fields {
		x.BulkString(f.name)
		x.Int(f.n)
	}
	for _, r := range ratios {
		x.BulkString(r.name)
		x.Double(r.f)
	}
}

func cmdMemoryDoctor(x *call) {
	st := x.srv.Store.Stats()
	x.Verbatim(fmt.Sprintf("Data lies on disk; memory is bounded by what is configured, whatever there is of it. In use are %d bytes, of which %d hold requests and replies of clients, and %d hot values (cache).\n",
		MemoryInUse(&st), x.srv.Source.ClientMemory(), st.CacheBytes))
}

func cmdMemoryMallocStats(x *call) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	x.Verbatim(fmt.Sprintf("%s\nheap in use: %d\nheap idle: %d\nheap returned: %d\nobjects: %d\nstacks: %d\ncollections: %d\n",
		runtime.Version(), m.HeapInuse, m.HeapIdle, m.HeapReleased, m.HeapObjects, m.StackInuse, m.NumGC))
}

func cmdMemoryPurge(x *call) {
	debug.FreeOSMemory()
	x.OK()
}

func cmdMemoryHelp(x *command.Call) {
	command.Help(x, "MEMORY",
		"DOCTOR",
		"    Say what is remarkable about the memory in use.",
		"MALLOC-STATS",
		"    Show what the allocator says of itself.",
		"PURGE",
		"    Give memory that is not in use back to the system.",
		"STATS",
		"    Tell what memory is used for.",
		"USAGE <key> [SAMPLES <count>]",
		"    Estimate how many bytes a key takes. Of a collection, <count>",
		"    elements are measured (default: 5, all of them: 0).",
	)
}
