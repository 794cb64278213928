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
	w.human("total_system_memory", hostMemory())
	scripts, bytes := w.srv.scripts.kept()
	w.human("used_memory_lua", bytes)
	w.line("number_of_cached_scripts", scripts)
	w.human("used_memory_scripts", bytes)
	w.human("maxmemory", 0)
	w.line("maxmemory_policy", "noeviction")
	w.line("mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(resident)/float64(used)))
	w.line("mem_fragmentation_bytes", resident-used)
	w.line("mem_clients_normal", w.srv.budget.inUse())
	w.line("mem_clients_slaves", 0)
	w.line("mem_allocator", runtime.Version())
	w.line("active_defrag_running", 0)
}
