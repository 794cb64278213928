package admin

import (
	"bytes"
	"os"
	"runtime/metrics"
	"strconv"

	"github.com/ringside-kv/ringside/store"
)

// MemoryInUse returns the bytes of memory that hold something: of Go's heap and
// stacks, of the store's cache, and of Pebble's caches where these lie outside the
// heap.
func MemoryInUse(st *store.Stats) int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(samples)
	n := int64(samples[0].Value.Uint64())
	for _, s := range samples[1:] {
		n -= int64(s.Value.Uint64())
	}
	n += st.CacheBytes
	if offHeapBlocks {
		n += st.Pebble.BlockCache.Size + int64(st.Pebble.MemTable.Size+st.Pebble.MemTable.ZombieSize)
	}
	return n
}

// residentMemory returns the process's pages in memory, in bytes; 0 where the
// system does not tell.
func residentMemory() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// hostMemory returns the machine's memory in bytes; 0 where the system does not
// tell.
func hostMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("MemTotal:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib << 10
}

// PebbleIsOffHeap reports whether Pebble's block cache and memtables lie outside Go's heap.
func PebbleIsOffHeap() bool { return offHeapBlocks }
