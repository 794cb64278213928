package settings

import (
	"math"
	"slices"
	"sync/atomic"
)

// A redisRow is a parameter of Redis 7.0 that changes nothing here.
type redisRow struct {
	name, value string // value is the default, as CONFIG GET shows it
	form        form   // nil: immutable
}

// redisRows are accepted, checked and kept, so that tools which send them go on. The order is that
// of Redis' documentation of what they are about.
var redisRows = []redisRow{
	// How Redis keeps collections in memory.
	{"list-compress-depth", "0", numbers(0, maxInt)},
	{"stream-node-max-bytes", "4096", sizes(0, maxLong)},
	{"activerehashing", "yes", yesNoForm},
	{"lazyfree-lazy-eviction", "no", yesNoForm},
	{"lazyfree-lazy-expire", "no", yesNoForm},
	{"lazyfree-lazy-server-del", "no", yesNoForm},
	{"lazyfree-lazy-user-del", "no", yesNoForm},
	{"lazyfree-lazy-user-flush", "no", yesNoForm},
	{"activedefrag", "no", yesNoForm},
	{"active-defrag-cycle-min", "1", numbers(1, 99)},
	{"active-defrag-cycle-max", "25", numbers(1, 99)},
	{"active-defrag-threshold-lower", "10", numbers(0, 1000)},
	{"active-defrag-threshold-upper", "100", numbers(0, 1000)},
	{"active-defrag-ignore-bytes", "104857600", sizes(1, maxLong)},
	{"active-defrag-max-scan-fields", "1000", numbers(1, maxLong)},
	{"jemalloc-bg-thread", "yes", yesNoForm},
	{"active-expire-effort", "1", numbers(1, 10)},
	{"dynamic-hz", "yes", yesNoForm},
	{"hz", "10", hzForm},
	{"client-query-buffer-limit", "1073741824", sizes(1<<20, maxLong)},

	// Snapshots and the append-only file. What is shown is what holds of the log here.
	{"save", "", saveForm},
	{"rdbcompression", "yes", yesNoForm},
	{"rdb-del-sync-files", "no", yesNoForm},
	{"rdb-save-incremental-fsync", "yes", yesNoForm},
	{"stop-writes-on-bgsave-error", "yes", yesNoForm},
	{"sanitize-dump-payload", "no", oneOf("no", "yes", "clients")},
	{"appendonly", "yes", yesNoForm},
	{"no-appendfsync-on-rewrite", "no", yesNoForm},
	{"auto-aof-rewrite-percentage", "100", numbers(0, maxInt)},
	{"auto-aof-rewrite-min-size", "67108864", sizes(0, maxLong)},
	{"aof-rewrite-incremental-fsync", "yes", yesNoForm},
	{"aof-load-truncated", "yes", yesNoForm},
	{"aof-use-rdb-preamble", "yes", yesNoForm},
	{"aof-timestamp-enabled", "no", yesNoForm},
	{"aof-disable-auto-gc", "no", yesNoForm},

	// Replication and Redis Cluster.
	{"repl-disable-tcp-nodelay", "no", yesNoForm},
	{"repl-diskless-sync", "yes", yesNoForm},
	{"repl-diskless-sync-delay", "5", numbers(0, maxInt)},
	{"repl-diskless-sync-max-replicas", "0", numbers(0, maxInt)},
	{"repl-diskless-load", "disabled", oneOf("disabled", "on-empty-db", "swapdb")},
	{"replica-lazy-flush", "no", yesNoForm},
	{"replica-read-only", "yes", yesNoForm},
	{"replica-ignore-maxmemory", "yes", yesNoForm},
	{"replica-ignore-disk-write-errors", "no", yesNoForm},
	{"replica-announced", "yes", yesNoForm},
	{"replica-announce-ip", "", anyText},
	{"replica-announce-port", "0", numbers(0, 65535)},
	{"replica-priority", "100", numbers(0, maxInt)},
	{"min-replicas-max-lag", "10", numbers(0, maxInt)},
	{"propagation-error-behavior", "ignore", oneOf("ignore", "panic", "panic-on-replicas")},
	{"cluster-require-full-coverage", "yes", yesNoForm},
	{"cluster-replica-no-failover", "no", yesNoForm},
	{"cluster-replica-validity-factor", "10", numbers(0, maxInt)},
	{"cluster-allow-reads-when-down", "no", yesNoForm},
	{"cluster-allow-pubsubshard-when-down", "yes", yesNoForm},
	{"cluster-allow-replica-migration", "yes", yesNoForm},
	{"cluster-migration-barrier", "1", numbers(0, maxInt)},
	{"cluster-node-timeout", "15000", numbers(0, maxLong)},
	{"cluster-link-sendbuf-limit", "0", sizes(0, math.MaxUint64)},
	{"cluster-announce-ip", "", anyText},
	{"cluster-announce-hostname", "", hostnameForm},
	{"cluster-announce-port", "0", numbers(0, 65535)},
	{"cluster-announce-tls-port", "0", numbers(0, 65535)},
	{"cluster-announce-bus-port", "0", numbers(0, 65535)},
	{"cluster-preferred-endpoint-type", "ip", oneOf("ip", "hostname", "unknown-endpoint")},

	// The process and its host.
	{"crash-log-enabled", "yes", yesNoForm},
	{"crash-memcheck-enabled", "yes", yesNoForm},
	{"ignore-warnings", "", anyText},
	{"proc-title-template", "{title} {listen-addr} {server-mode}", titleForm},
	{"bind-source-addr", "", anyText},
	{"oom-score-adj", "no", oomForm},
	{"oom-score-adj-values", "0 200 800", oomValuesForm},
	{"shutdown-on-sigint", "default", shutdownForm},
	{"shutdown-on-sigterm", "default", shutdownForm},
	{"max-new-connections-per-cycle", "10", numbers(1, 1000)},
	{"max-new-tls-connections-per-cycle", "1", numbers(1, 1000)},
	{"hide-user-data-from-log", "no", yesNoForm},
	{"locale-collate", "", anyText},
	{"cluster-announce-human-nodename", "", anyText},
	{"latency-monitor-threshold", "0", numbers(0, maxLong)},

	// TLS is set by --tls-cert, --tls-key and --tls-ca.
	{"tls-replication", "no", never(faultTLS)},
	{"tls-cluster", "no", never(faultTLS)},
	{"tls-session-caching", "yes", yesNoForm},
	{"tls-session-cache-size", "20480", numbers(0, maxInt)},
	{"tls-session-cache-timeout", "300", numbers(0, maxInt)},
	{"tls-prefer-server-ciphers", "no", yesNoForm},
	{"tls-key-file-pass", "", anyText},
	{"tls-client-cert-file", "", anyText},
	{"tls-client-key-file", "", anyText},
	{"tls-client-key-file-pass", "", anyText},
	{"tls-dh-params-file", "", anyText},
	{"tls-ca-cert-dir", "", anyText},
	{"tls-protocols", "", anyText},
	{"tls-ciphers", "", anyText},
	{"tls-ciphersuites", "", anyText},

	// What only a restart of Redis changes.
	{"rdbchecksum", "yes", nil},
	{"daemonize", "no", nil},
	{"io-threads-do-reads", "no", nil},
	{"always-show-logo", "no", nil},
	{"set-proc-title", "yes", nil},
	{"syslog-enabled", "no", nil},
	{"syslog-ident", "redis", nil},
	{"syslog-facility", "local0", nil},
	{"disable-thp", "yes", nil},
	{"aclfile", "", nil},
	{"unixsocket", "", nil},
	{"unixsocketperm", "0", nil},
	{"pidfile", "", nil},
	{"logfile", "", nil},
	{"cluster-config-file", "nodes.conf", nil},
	{"cluster-port", "0", nil},
	{"appendfilename", "appendonly.aof", nil},
	{"appenddirname", "appendonlydir", nil},
	{"server_cpulist", "", nil},
	{"bio_cpulist", "", nil},
	{"aof_rewrite_cpulist", "", nil},
	{"bgsave_cpulist", "", nil},
	{"supervised", "no", nil},
	{"enable-protected-configs", "no", nil},
	{"enable-module-command", "no", nil},
	{"tcp-backlog", "511", nil},
	{"socket-mark-id", "0", nil},
}

// redisAliases are other names of parameters in Redis 7.0.
var redisAliases = [][2]string{
	{"hash-max-ziplist-entries", "hash-max-listpack-entries"},
	{"hash-max-ziplist-value", "hash-max-listpack-value"},
	{"zset-max-ziplist-entries", "zset-max-listpack-entries"},
	{"zset-max-ziplist-value", "zset-max-listpack-value"},
	{"list-max-ziplist-size", "list-max-listpack-size"},
	{"lua-time-limit", "busy-reply-threshold"},
	{"server-cpulist", "server_cpulist"},
	{"bio-cpulist", "bio_cpulist"},
	{"aof-rewrite-cpulist", "aof_rewrite_cpulist"},
	{"bgsave-cpulist", "bgsave_cpulist"},
	{"min-slaves-to-write", "min-replicas-to-write"},
	{"min-slaves-max-lag", "min-replicas-max-lag"},
	{"repl-ping-slave-period", "repl-ping-replica-period"},
	{"cluster-slave-no-failover", "cluster-replica-no-failover"},
	{"cluster-slave-validity-factor", "cluster-replica-validity-factor"},
	{"slave-announce-ip", "replica-announce-ip"},
	{"slave-announce-port", "replica-announce-port"},
	{"slave-ignore-maxmemory", "replica-ignore-maxmemory"},
	{"slave-lazy-flush", "replica-lazy-flush"},
	{"slave-priority", "replica-priority"},
	{"slave-read-only", "replica-read-only"},
	{"slave-serve-stale-data", "replica-serve-stale-data"},
	{"slaveof", "replicaof"},
}

// restartRows are parameters that Redis changes while it runs and Ringside only at a restart.
var restartRows = []redisRow{
	{"port", "6379", numbers(0, 65535)},
	{"bind", "", anyText},
	{"appendfsync", "everysec", oneOf("everysec", "always", "no")},
	{"loglevel", "notice", oneOf("debug", "verbose", "notice", "warning")},
	{"shutdown-timeout", "10", numbers(0, maxInt)},
	{"dir", "", nil},
	{"dbfilename", "dump.rdb", nil},
	{"tls-port", "0", numbers(0, 65535)},
	{"tls-cert-file", "", anyText},
	{"tls-key-file", "", anyText},
	{"tls-ca-cert-file", "", anyText},
	{"tls-auth-clients", "yes", oneOf("no", "yes", "optional")},
	// Redis changes these only at a restart, too.
	{"databases", "16", nil},
	{"cluster-enabled", "no", nil},
	{"enable-debug-command", "no", nil},
	{"replicaof", "", nil},
	{"io-threads", "1", nil},
}

// redisHidden are parameters that CONFIG GET shows by their whole name only.
var redisHidden = []redisRow{
	{"use-exit-on-panic", "no", yesNoForm},
	{"rdb-key-save-delay", "0", numbers(-maxInt-1, maxInt)},
	{"key-load-delay", "0", numbers(-maxInt-1, maxInt)},
	{"watchdog-period", "0", numbers(0, maxInt)},
	{"loading-process-events-interval-bytes", "2097152", numbers(1024, maxInt)},
}

// param is the parameter of a row, with a value of its own.
func (r redisRow) param(hidden bool) Param {
	if r.form == nil {
		return Param{Name: r.name, Inert: true, Refusal: faultImmutable, Get: func() string { return r.value }}
	}
	p := Kept(r.name, r.value, r.form)
	p.Inert, p.Hidden = true, hidden
	return p
}

// Kept is a parameter whose values are only checked and kept. A form returns a value as it is shown, or
// an error text.
func Kept(name, standard string, read func(value string) (shown, fault string)) Param {
	at := new(atomic.Pointer[string])
	at.Store(&standard)
	p := Param{
		Name: name, Get: func() string { return *at.Load() },
		Parse: func(value string) (func(), string) {
			shown, fault := read(value)
			if fault != "" {
				return nil, fault
			}
			return func() { at.Store(&shown) }, ""
		},
	}
	return p.kept(standard)
}

// Fixed is a parameter that only a restart changes. CONFIG SET takes the value that it has, unless Redis
// would refuse that as well.
func Fixed(name string, get func() string) Param {
	p := Param{Name: name, Get: get}
	i := slices.IndexFunc(restartRows, func(r redisRow) bool { return r.name == name })
	switch {
	case name == "tls-cluster":
		p.Parse = func(value string) (func(), string) {
			shown, fault := yesNoForm(value)
			if fault == "" && shown != get() {
				fault = faultTLS
			}
			return func() {}, fault
		}
	case i < 0: // Ringside's own
	case restartRows[i].form != nil:
		read := restartRows[i].form
		p.Parse = func(value string) (func(), string) {
			shown, fault := read(value)
			if fault == "" && shown != get() {
				fault = faultImmutable
			}
			return func() {}, fault
		}
	case name == "dir" || name == "dbfilename":
		p.Refusal = faultProtected
	default:
		p.Refusal = faultImmutable
	}
	return p
}
