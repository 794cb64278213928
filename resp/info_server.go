package resp

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func infoServer(w *infoWriter) {
	s := w.srv
	uptime := int64(s.clock() / time.Second)
	executable, _ := os.Executable()
	w.line("redis_version", redisVersion)
	w.line("ringside_version", s.cfg.Version)
	w.line("redis_mode", s.mode())
	w.line("os", hostOS())
	w.line("arch_bits", strconv.IntSize)
	w.line("go_version", runtime.Version())
	w.line("process_id", os.Getpid())
	w.line("run_id", s.runID)
	w.line("tcp_port", s.port.Load())
	w.line("server_time_usec", time.Now().UnixMicro())
	w.line("uptime_in_seconds", uptime)
	w.line("uptime_in_days", uptime/(24*60*60))
	w.line("hz", 10)
	w.line("configured_hz", 10)
	w.line("executable", executable)
	w.line("config_file", s.cfg.ConfigFile)
	w.line("io_threads_active", bit(runtime.GOMAXPROCS(0) > 1))
}

func infoClients(w *infoWriter) {
	s := w.srv
	w.line("connected_clients", s.count.Load())
	w.line("cluster_connections", 0)
	w.line("maxclients", s.settings.maxClients.Load())
	w.line("client_recent_max_input_buffer", 0)
	w.line("client_recent_max_output_buffer", 0)
	w.line("blocked_clients", s.stats.blocked.Load())
	w.line("tracking_clients", s.tracking.n.Load())
	w.line("clients_in_timeout_table", 0)
}

func infoReplication(w *infoWriter) {
	w.line("role", "master")
	backups := w.srv.backups()
	w.line("connected_slaves", len(backups))
	if least := w.srv.MinInSync(); least > 1 {
		good := 0
		if routes := w.srv.routes.Load(); routes != nil {
			good = routes.fewest - 1
		}
		w.line("min_slaves_good_slaves", good)
	}
	for i, b := range backups {
		at := splitAddr(b.Addr)
		w.line(fmt.Sprint("slave", i), fmt.Sprintf("ip=%s,port=%d,state=online,offset=0,lag=0", at.Host, at.port))
	}
	w.line("master_failover_state", "no-failover")
	w.line("master_replid", w.srv.runID)
	w.line("master_replid2", "0000000000000000000000000000000000000000")
	w.line("master_repl_offset", 0)
	w.line("second_repl_offset", -1)
	w.line("repl_backlog_active", 0)
	w.line("repl_backlog_size", 0)
	w.line("repl_backlog_first_byte_offset", 0)
	w.line("repl_backlog_histlen", 0)
}

func infoCPU(w *infoWriter) {
	system, user := cpuTimes()
	seconds := func(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 6, 64) }
	w.line("used_cpu_sys", seconds(system))
	w.line("used_cpu_user", seconds(user))
	w.line("used_cpu_sys_children", seconds(0))
	w.line("used_cpu_user_children", seconds(0))
	// All threads serve clients: there is no main one.
	w.line("used_cpu_sys_main_thread", seconds(system))
	w.line("used_cpu_user_main_thread", seconds(user))
}
