package admin

import (
	"fmt"
	"runtime"
)

func infoMemory(w *Info) {
	used := MemoryInUse(w.Store())
	resident := residentMemory()
	if resident == 0 {
		resident = used
	}
	peak := max(w.srv.peak.Load(), used)
	w.human("used_memory", used)
	w.human("used_memory_rss", resident)
	w.human("used_memory_peak", peak)
	w.Line("used_memory_peak_perc", fmt.Sprintf("%.2f%%", 100*float64(used)/float64(peak)))
	clients := w.srv.Source.ClientMemory()
	dataset := w.Store().CacheBytes // of the data, only what is cached lies in memory
	w.Line("used_memory_overhead", max(used-dataset, 0))
	w.Line("used_memory_startup", 0)
	w.Line("used_memory_dataset", dataset)
	w.Line("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", 100*float64(dataset)/float64(used)))
	w.Line("allocator_allocated", used)
	w.Line("allocator_active", used)
	w.Line("allocator_resident", resident)
	w.Line("allocator_muzzy", 0) // pages that Go returns are gone
	w.human("total_system_memory", hostMemory())
	scripts, bytes, _ := w.srv.Source.Scripts()
	library := w.srv.Source.Functions()
	w.human("used_memory_lua", bytes)
	w.Line("used_memory_vm_eval", 0)
	w.Line("used_memory_scripts_eval", bytes)
	w.Line("number_of_cached_scripts", scripts)
	w.Line("number_of_functions", library.Functions)
	w.Line("number_of_libraries", library.Libraries)
	w.Line("used_memory_vm_functions", library.Compiled)
	w.human("used_memory_vm_total", library.Compiled)
	w.Line("used_memory_functions", library.Code)
	w.human("used_memory_scripts", bytes+library.Code)
	w.human("maxmemory", w.srv.Settings.Quota.MaxData.Load())
	w.Line("maxmemory_policy", w.srv.Settings.Quota.Policy())
	w.Line("allocator_frag_ratio", "1.00")
	w.Line("allocator_frag_bytes", 0)
	w.Line("allocator_rss_ratio", fmt.Sprintf("%.2f", float64(resident)/float64(used)))
	w.Line("allocator_rss_bytes", resident-used)
	w.Line("rss_overhead_ratio", "1.00")
	w.Line("rss_overhead_bytes", 0)
	w.Line("mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(resident)/float64(used)))
	w.Line("mem_fragmentation_bytes", resident-used)
	w.Line("mem_not_counted_for_evict", 0)
	w.Line("mem_replication_backlog", 0)
	w.Line("mem_total_replication_buffers", 0)
	w.Line("mem_overhead_db_hashtable_rehashing", 0) // no table of keys grows by rehashing
	w.Line("mem_clients_normal", clients)
	w.Line("mem_clients_slaves", 0)
	w.Line("mem_allocator", runtime.Version())
	w.Line("active_defrag_running", 0)
	w.Line("mem_cluster_links", 0)
	w.Line("mem_aof_buffer", 0)
	w.Line("lazyfree_pending_objects", 0)
	w.Line("lazyfreed_objects", w.Store().Freed+library.Freed-w.srv.Stats.FreedBefore.Load())
}
