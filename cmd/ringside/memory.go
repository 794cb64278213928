package main

import (
	"log/slog"
	"runtime/debug"

	"github.com/ringside-kv/ringside/cmd/ringside/memory"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/node"
)

// memoryLimit returns the setting, or what the system says.
func (a *app) memoryLimit(cfg *node.Config) memory.Limit {
	switch {
	case cfg.Memory > 0:
		return memory.Limit{Bytes: cfg.Memory, Source: "memory"}
	case a.memory != nil:
		return a.memory()
	}
	return memory.Limit{}
}

// limitMemory keeps Go's heap within what the caches leave of the limit, unless GOMEMLIMIT
// says otherwise, and logs what the settings add up to.
func (a *app) limitMemory(cfg *node.Config, log *slog.Logger) {
	limit := a.memoryLimit(cfg)
	if heap := cfg.HeapLimit(limit.Bytes); heap > 0 && !a.inEnviron("GOMEMLIMIT") {
		debug.SetMemoryLimit(heap)
	}
	use, parts := cfg.MemoryUse(limit.Bytes)
	if cfg.Role == node.RoleStore && !resp.PebbleIsOffHeap() {
		log.Warn("this program was built without cgo: memtables and the block cache are on Go's heap, so that the node needs " +
			"about twice the memory and reads from disk take longer; build it with a C compiler and CGO_ENABLED=1")
	}
	attrs := []any{"limit", "unknown"}
	if limit.Bytes > 0 {
		attrs = []any{"limit", node.RoughSize(limit.Bytes), "from", limit.Source}
	}
	attrs = append(attrs, "use", node.RoughSize(use), "sum", parts,
		"max-value-size", node.RoughSize(cfg.MaxValueSize), "max-clients", cfg.MaxClients)
	if limit.Bytes > 0 && use > limit.Bytes {
		log.Warn("the settings may need more memory than the process has, and the system may kill it: "+
			"lower cache, block-cache, memtable-size or client-memory, or give it more memory", attrs...)
		return
	}
	log.Info("memory", attrs...)
}
