package main

import (
	"regexp"
	"strings"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/node"
)

const envPrefix = "RINGSIDE"

// serveSettings are all settings of serve: name, where the value goes, what it
// means. What cfg and log hold now are the defaults.
func serveSettings(cfg *node.Config, log *logOptions) *settings.Set {
	s := settings.New(envPrefix)
	choice := func(name string, p *string, usage string) {
		words := node.Choices(name)
		s.Add(name, settings.Text(p, strings.Join(words, "|")), usage, settings.Choices(words...))
	}
	yesNo := func(name string, p *bool, usage string) {
		s.Add(name, settings.YesNo(p), usage, settings.Choices("yes", "no"))
	}

	s.Group("Addresses")
	s.Add("addr", settings.Text(&cfg.Addr, "host:port"),
		"address for clients; :6379 is every interface, port 0 a free port, off none beside --unix-socket")
	s.Add("unix-socket", settings.Text(&cfg.UnixSocket, "FILE"),
		"socket file for clients of this machine, without TLS; a stale one is replaced", settings.Files())
	s.Add("unix-socket-mode", settings.Permission(&cfg.UnixSocketMode),
		"permissions of that file, in octal digits: 770 lets the group of the process connect")
	s.Add("http-addr", settings.Text(&cfg.HTTPAddr, "host:port"),
		"live page, metrics, health and profiles; off disables them (default: the host of --addr, its port + 2000)")
	yesNo("http-auth", &cfg.HTTPAuth,
		"demand a user with a password who may run INFO there, but for health checks")
	s.Add("http-hosts", settings.Commas(&cfg.HTTPHosts, "name,…"),
		"host names by which HTTP clients may call the node, beside its addresses and the machine's name; * = any name, which lets web pages of other sites read its status")

	clusterSettings(s, cfg, choice, yesNo)

	s.Group("Data")
	s.Add("dir", settings.Text(&cfg.Dir, "DIR"),
		"data directory, created if missing", settings.Directories())
	choice("fsync", &cfg.Fsync,
		"when writes are fsynced: always = before the reply; everysec = each second, so a power loss can cost one second of writes; no = when the operating system does it")
	s.Add("id", settings.Text(&cfg.ID, "NAME"),
		"name of this node; its directory stores it (default: the stored name; in a new directory the host name and an identity)")
	s.Add("min-free-disk", settings.Size(&cfg.MinFreeDisk),
		"free disk space below which writes are refused; 0 = off")
	s.Add("max-data", settings.Size(&cfg.MaxData),
		"size of the keys and values that this node may hold as a primary (Redis: maxmemory); 0 = no limit")
	choice("max-data-policy", &cfg.MaxDataPolicy,
		"keys that are evicted when the data comes near --max-data; noeviction = none, writes that need space are refused")

	s.Group("Memory")
	s.Add("memory", settings.Size(&cfg.Memory),
		"memory limit of the process; below 1.5gb, sizes and max-clients are below their defaults unless they are set; 0 = the limit of the cgroup, or 3/4 of the machine's memory")
	s.Add("cache", settings.Size(&cfg.Cache),
		"cache of hot values; 0 = off")
	s.Add("block-cache", settings.Size(&cfg.BlockCache),
		"cache of blocks of Pebble's tables")
	s.Add("memtable-size", settings.Size(&cfg.MemTableSize),
		"size of a Pebble memtable; a few exist at a time")
	s.Add("script-memory", settings.Size(&cfg.ScriptMemory),
		"memory that one script may take; a script that needs more ends with an error")
	s.Add("client-memory", settings.Size(&cfg.ClientMemory),
		"memory for the requests and replies in flight of all clients; beyond it the server stops reading and closes the largest slow consumer")

	s.Group("Access")
	s.Add("requirepass", settings.Text(&cfg.RequirePass, "PASSWORD"),
		"password that AUTH must give; a variable or the file keeps it out of the process list", settings.Secret())
	s.Add("acl-file", settings.Text(&cfg.ACLFile, "FILE"),
		"users, in the format of Redis' aclfile: they become those of a cluster that has none; ACL LOAD and ACL SAVE read and write it", settings.Files())
	s.Add("audit-log", settings.Text(&cfg.AuditLog, "FILE"),
		"logins, changes of users, commands of administration and refused commands, as lines of JSON; stderr = the standard error", settings.Files())
	choice("enable-debug-command", &cfg.Debug,
		"clients that may send DEBUG: yes = every client, local = clients of this host, no = none")
	yesNo("protected-mode", &cfg.ProtectedMode,
		"refuse clients of other hosts while there is neither a password nor TLS")
	s.Add("tls-cert", settings.Text(&cfg.TLSCert, "FILE"),
		"certificate (PEM); with --tls-key, clients connect through TLS only", settings.Files())
	s.Add("tls-key", settings.Text(&cfg.TLSKey, "FILE"),
		"key of the certificate (PEM)", settings.Files())
	s.Add("tls-ca", settings.Text(&cfg.TLSCA, "FILE"),
		"demand client certificates signed by this authority (PEM)", settings.Files())
	choice("tls-auth-user", &cfg.TLSUser,
		"what of a client's certificate is the user that it has logged in as: cn = the common name, uri = a URI of the alternative names, off = neither")

	s.Group("Limits")
	s.Add("max-clients", settings.Count(&cfg.MaxClients), "largest number of connections")
	s.Add("max-key-size", settings.Size(&cfg.MaxKeySize), "longest key, field of a hash and member of a set")
	s.Add("max-value-size", settings.Size(&cfg.MaxValueSize), "longest string, and longest argument")
	s.Add("max-args", settings.Count(&cfg.MaxArgs), "largest number of arguments of a command")
	s.Add("packed-size", settings.Size(&cfg.PackedSize), "a hash, set or list of up to this size is one entry on disk")
	s.Add("hll-sparse-max-bytes", settings.Size(&cfg.SparseSize), "a HyperLogLog of up to this size is sparse, a longer one has 12 KiB")
	s.Add("tracking-table-max-keys", settings.Count(&cfg.TrackedKeys),
		"keys remembered for CLIENT TRACKING, each counted once for each client of this node and each other node; 0 = no limit")
	s.Add("busy-reply-threshold", settings.Duration(&cfg.BusyAfter),
		"running time of a script after which clients that need its keys get BUSY; 0 = never")
	s.Add("output-buffer", settings.Size(&cfg.OutputBuffer),
		"unread replies of one client, beyond which it is closed")
	s.Add("auth-timeout", settings.Duration(&cfg.AuthTimeout),
		"time in which a client that needs a password must send AUTH; 0 = no limit")
	s.Add("idle-timeout", settings.Duration(&cfg.IdleTimeout),
		"silence after which a client is closed; 0 = never")
	s.Add("tcp-keepalive", settings.Duration(&cfg.TCPKeepAlive),
		"interval of probes of a silent peer; 0 = off")
	s.Add("stop-timeout", settings.Duration(&cfg.StopTimeout),
		"time for running commands to finish on SIGTERM")

	yesNo("strict-slots", &cfg.StrictSlots,
		"refuse commands on several keys that only work while one node has all of them, as a larger cluster would: RENAME, COPY, MSETNX, BITOP, LCS without a common hash tag")

	yesNo("strict-busy", &cfg.StrictBusy,
		"while a script runs for longer than busy-reply-threshold, refuse commands of all clients, as Redis does, and not only those that need its keys")

	s.Add("notify-keyspace-events", settings.Text(&cfg.KeyEvents, "LETTERS"),
		"key events to publish, as in redis.conf: KEA is all of them, none by default")
	s.Add("redis-config", settings.Text(&cfg.RedisConfig, "LINES"),
		"parameters of Redis without a setting of their own, one a line as in redis.conf: hash-max-listpack-entries 128")

	s.Group("Log")
	s.Add("log-level", settings.OneOf(&log.level, logLevels...),
		"least level that is logged", settings.Choices(logLevels...))
	s.Add("log-format", settings.OneOf(&log.format, logFormats...),
		"form of the log on standard error", settings.Choices(logFormats...))
	s.Add("slowlog-slower-than", settings.Duration(&cfg.SlowlogSlowerThan),
		"duration beyond which a command enters SLOWLOG; negative = off")
	s.Add("slowlog-max-len", settings.Count(&cfg.SlowlogMaxLen), "number of entries that SLOWLOG keeps")
	s.Add("otlp-endpoint", settings.Text(&cfg.OTLPEndpoint, "URL"),
		"OpenTelemetry collector that gets traces of requests, by OTLP over HTTP: http://host:4318 (default: none)")
	s.Add("otlp-sample", settings.Number(&cfg.OTLPSample),
		"share of requests that are traced, from 0 to 1, if there is a collector")

	s.Group("Configuration")
	s.AddConfig("YAML file with settings, one name: value a line")

	for other, name := range redisNames {
		s.AlsoKnownAs(other, name)
	}
	s.Exempt(notASetting)
	return s
}

// redisNames are what redis.conf, redis-server and redis-cli call things that
// have another name here.
var redisNames = map[string]string{
	"appendfsync":             "fsync",
	"bind":                    "addr",
	"host":                    "addr",
	"p":                       "addr",
	"port":                    "addr",
	"listen":                  "addr",
	"a":                       "requirepass",
	"password":                "requirepass",
	"auth":                    "requirepass",
	"timeout":                 "idle-timeout",
	"maxmemory":               "max-data",
	"maxmemory-policy":        "max-data-policy",
	"proto-max-bulk-len":      "max-value-size",
	"hash-max-listpack-value": "packed-size",
	"lua-time-limit":          "busy-reply-threshold",
	"slowlog-log-slower-than": "slowlog-slower-than",
	"shutdown-timeout":        "stop-timeout",
	"aclfile":                 "acl-file",
	"tls-cert-file":           "tls-cert",
	"unixsocket":              "unix-socket",
	"unixsocketperm":          "unix-socket-mode",
	"s":                       "unix-socket",
	"tls-key-file":            "tls-key",
	"tls-ca-cert-file":        "tls-ca",
	"loglevel":                "log-level",
	"c":                       "config",
	"data-dir":                "dir",
	"data":                    "dir",
}

// kubernetesVariable is a variable that Kubernetes gives every pod beside a
// Service called ringside or ringside-something.
var kubernetesVariable = regexp.MustCompile(
	`^RINGSIDE(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// notASetting tells which variables are left alone though they start with
// RINGSIDE_: those of Kubernetes, of the shell completion, and of the tests.
func notASetting(name, value string) bool {
	switch name {
	case "RINGSIDE_ACTIVE_HELP", "RINGSIDE_COMPLETION_DESCRIPTIONS", "RINGSIDE_LONG", "RINGSIDE_APPS":
		return true
	}
	// RINGSIDE_PORT=tcp://10.0.0.7:6379 is from Kubernetes, RINGSIDE_PORT=6379 from
	// somebody who means --addr.
	if strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://") {
		return true
	}
	return kubernetesVariable.MatchString(name) || strings.HasPrefix(name, "RINGSIDE_TEST_")
}
