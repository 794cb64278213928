package admin

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func infoServer(w *Info) {
	s := w.srv
	uptime := int64(s.Source.Uptime() / time.Second)
	executable, _ := os.Executable()
	w.Line("redis_version", RedisVersion)
	w.Line("ringside_version", s.Version)
	w.Line("redis_git_sha1", "00000000") // of no source of Redis
	w.Line("redis_git_dirty", 0)
	w.Line("redis_mode", s.Source.Mode())
	w.Line("os", hostOS())
	w.Line("arch_bits", strconv.IntSize)
	if api := multiplexing(); api != "" {
		w.Line("multiplexing_api", api)
	}
	w.Line("go_version", runtime.Version())
	w.Line("process_id", os.Getpid())
	w.Line("run_id", s.RunID)
	w.Line("tcp_port", s.Source.Port())
	w.Line("server_time_usec", time.Now().UnixMicro())
	w.Line("uptime_in_seconds", uptime)
	w.Line("uptime_in_days", uptime/(24*60*60))
	hz := s.Config.Find([]byte("hz")).Get()
	w.Line("hz", hz)
	w.Line("configured_hz", hz)
	w.Line("executable", executable)
	w.Line("config_file", s.ConfigFile)
	w.Line("availability_zone", s.Zone)
	w.Line("io_threads_active", Bit(runtime.GOMAXPROCS(0) > 1))
	infoListeners(w)
}

// infoListeners says by what clients reach the server. In Redis the number of a listener stands for its kind.
func infoListeners(w *Info) {
	setting := func(name string) string { return w.srv.Config.Find([]byte(name)).Get() }
	path, port, bind := setting("unixsocket"), w.srv.Source.Port(), ""
	if host := setting("bind"); host != "" {
		bind = ",bind=" + host
	}
	secure := setting("tls-cert-file") != ""
	if port > 0 && !secure {
		w.Line("listener0", fmt.Sprintf("name=tcp%s,port=%d", bind, port))
	}
	if path != "" {
		w.Line("listener1", "name=unix,bind="+path)
	}
	if port > 0 && secure {
		w.Line("listener2", fmt.Sprintf("name=tls%s,port=%d", bind, port))
	}
}

// multiplexing names what the Go runtime waits for sockets with, or is "" if Redis has no name for that.
func multiplexing() string {
	switch runtime.GOOS {
	case "linux", "android":
		return "epoll"
	case "darwin", "ios", "freebsd", "netbsd", "openbsd", "dragonfly":
		return "kqueue"
	case "solaris", "illumos":
		return "evport"
	}
	return ""
}

func infoClients(w *Info) {
	s := w.srv
	w.Line("connected_clients", s.Source.Connections())
	w.Line("cluster_connections", 0)
	w.Line("maxclients", s.Settings.MaxClients.Load())
	w.Line("client_recent_max_input_buffer", 0)
	w.Line("client_recent_max_output_buffer", 0)
	w.Line("blocked_clients", s.Stats.Blocked.Load()+s.Stats.Paused.Load())
	tracking, _, _, _ := s.Source.Tracking()
	w.Line("tracking_clients", tracking)
	subscribed, watching, keys := s.Source.Watching()
	w.Line("pubsub_clients", subscribed)
	w.Line("watching_clients", watching)
	w.Line("total_watched_keys", keys)
	blocking, onDeletion := s.Source.BlockingKeys()
	w.Line("total_blocking_keys", blocking)
	w.Line("total_blocking_keys_on_nokey", onDeletion)
	w.Line("clients_in_timeout_table", 0)
}

func infoCPU(w *Info) {
	system, user := CPUTimes()
	seconds := func(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 6, 64) }
	w.Line("used_cpu_sys", seconds(system))
	w.Line("used_cpu_user", seconds(user))
	w.Line("used_cpu_sys_children", seconds(0))
	w.Line("used_cpu_user_children", seconds(0))
	// All threads serve clients: there is no main one.
	w.Line("used_cpu_sys_main_thread", seconds(system))
	w.Line("used_cpu_user_main_thread", seconds(user))
}
