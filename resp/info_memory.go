package resp

import (
	"fmt"
	"runtime"
)

func infoMemory(w *infoWriter) {
	used := memoryInUse(w.store())
	resident := residentMemory()
	if resident == 0 {
		resident = used
	}
	peak := max(w.srv.peak.Load(), used)
	w.human("used_memory", used)
	w.human("used_memory_rss", resident)
	w.human("used_memory_peak", peak)
	w.line("used_memory_peak_perc", fmt.Sprintf("%.2f%%", 100*float64(used)/float64(peak)))
	clients := w.srv.budget.inUse()
	dataset := w.store().CacheBytes // of the data, only what is cached lies in memory
	w.line("used_memory_overhead", max(used-dataset, 0))
	w.line("used_memory_startup", 0)
	w.line("used_memory_dataset", dataset)
	w.line("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", 100*float64(dataset)/float64(used)))
	w.line("allocator_allocated", used)
	w.line("allocator_active", used)
	w.line("allocator_resident", resident)
	w.human("total_system_memory", hostMemory())
	scripts, bytes := w.srv.scripts.kept()
	w.human("used_memory_lua", bytes)
	w.line("used_memory_vm_eval", 0)
	w.line("used_memory_scripts_eval", bytes)
	w.line("number_of_cached_scripts", scripts)
	w.line("number_of_functions", 0)
	w.line("number_of_libraries", 0)
	w.line("used_memory_vm_functions", 0)
	w.human("used_memory_vm_total", 0)
	w.line("used_memory_functions", 0)
	w.human("used_memory_scripts", bytes)
	w.human("maxmemory", 0)
	w.line("maxmemory_policy", "noeviction")
	w.line("allocator_frag_ratio", "1.00")
	w.line("allocator_frag_bytes", 0)
	w.line("allocator_rss_ratio", fmt.Sprintf("%.2f", float64(resident)/float64(used)))
	w.line("allocator_rss_bytes", resident-used)
	w.line("rss_overhead_ratio", "1.00")
	w.line("rss_overhead_bytes", 0)
	w.line("mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(resident)/float64(used)))
	w.line("mem_fragmentation_bytes", resident-used)
	w.line("mem_not_counted_for_evict", 0)
	w.line("mem_replication_backlog", 0)
	w.line("mem_total_replication_buffers", 0)
	w.line("mem_clients_normal", clients)
	w.line("mem_clients_slaves", 0)
	w.line("mem_allocator", runtime.Version())
	w.line("active_defrag_running", 0)
	w.line("mem_cluster_links", 0)
	w.line("mem_aof_buffer", 0)
	w.line("lazyfree_pending_objects", 0)
	w.line("lazyfreed_objects", 0)
}
