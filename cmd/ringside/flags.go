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
		"where clients connect; :6379 is every interface, port 0 a free one")
	s.Add("http-addr", settings.Text(&cfg.HTTPAddr, "host:port"),
		"metrics, health and profiles; off disables them (default: the host of --addr, its port + 2000)")

	clusterSettings(s, cfg, choice, yesNo)

	s.Group("Data")
	s.Add("dir", settings.Text(&cfg.Dir, "DIR"),
		"data directory, created if missing", settings.Directories())
	choice("fsync", &cfg.Fsync,
		"when writes are fsynced: always = before the reply; everysec = each second, and only a power loss costs what came since; no = when the system does")
	s.Add("id", settings.Text(&cfg.ID, "NAME"),
		"name of this node, which its directory stores (default: that name; in a new directory host name and an identity)")
	s.Add("min-free-disk", settings.Size(&cfg.MinFreeDisk),
		"refuse writes while less is free; 0 = off")

	s.Group("Memory")
	s.Add("memory", settings.Size(&cfg.Memory),
		"what the process may use; below 1.5gb, sizes and max-clients are less than their defaults unless they are set; 0 = the limit of the cgroup, or 3/4 of the machine's memory")
	s.Add("cache", settings.Size(&cfg.Cache),
		"hot values, answered without a look at the disk's tables; 0 = off")
	s.Add("block-cache", settings.Size(&cfg.BlockCache),
		"blocks of the tables on disk")
	s.Add("memtable-size", settings.Size(&cfg.MemTableSize),
		"writes gathered before they become a table; a few exist at a time")
	s.Add("client-memory", settings.Size(&cfg.ClientMemory),
		"requests and replies in flight, of all clients together; beyond it reading pauses and the largest slow consumer is closed")

	s.Group("Access")
	s.Add("requirepass", settings.Text(&cfg.RequirePass, "PASSWORD"),
		"what AUTH must give; a variable or the file keeps it out of the process list", settings.Secret())
	choice("enable-debug-command", &cfg.Debug,
		"who may send DEBUG: yes = every client, local = clients of this host, no = nobody")
	yesNo("protected-mode", &cfg.ProtectedMode,
		"refuse clients of other hosts while there is neither a password nor TLS")
	s.Add("tls-cert", settings.Text(&cfg.TLSCert, "FILE"),
		"certificate (PEM); with --tls-key, clients connect through TLS only", settings.Files())
	s.Add("tls-key", settings.Text(&cfg.TLSKey, "FILE"),
		"key of the certificate (PEM)", settings.Files())
	s.Add("tls-ca", settings.Text(&cfg.TLSCA, "FILE"),
		"demand client certificates signed by this authority (PEM)", settings.Files())

	s.Group("Limits")
	s.Add("max-clients", settings.Count(&cfg.MaxClients), "connections at a time")
	s.Add("max-key-size", settings.Size(&cfg.MaxKeySize), "longest key, field of a hash and member of a set")
	s.Add("max-value-size", settings.Size(&cfg.MaxValueSize), "longest string, and longest argument")
	s.Add("max-args", settings.Count(&cfg.MaxArgs), "most arguments of one command")
	s.Add("packed-size", settings.Size(&cfg.PackedSize), "a hash, a set or a list of up to so many bytes is one entry on disk")
	s.Add("hll-sparse-max-bytes", settings.Size(&cfg.SparseSize), "a HyperLogLog of up to so many bytes is sparse, a longer one has its 12 KiB")
	s.Add("tracking-table-max-keys", settings.Count(&cfg.TrackedKeys),
		"keys that are remembered because clients keep them (CLIENT TRACKING), each once for each client of this node and each other node; 0 = any number")
	s.Add("busy-reply-threshold", settings.Duration(&cfg.BusyAfter),
		"how long a script may run before others that need its keys are answered BUSY; 0 = for ever")
	s.Add("output-buffer", settings.Size(&cfg.OutputBuffer),
		"replies that one client may leave unread before it is closed")
	s.Add("auth-timeout", settings.Duration(&cfg.AuthTimeout),
		"close a client that needs a password and has not sent it after so long; 0 = never")
	s.Add("idle-timeout", settings.Duration(&cfg.IdleTimeout),
		"close a client that is silent for so long; 0 = never")
	s.Add("tcp-keepalive", settings.Duration(&cfg.TCPKeepAlive),
		"between probes of a silent peer; 0 = off")
	s.Add("stop-timeout", settings.Duration(&cfg.StopTimeout),
		"how long running commands get to finish on SIGTERM")

	yesNo("strict-slots", &cfg.StrictSlots,
		"refuse commands on several keys that only work while one node has all of them, as a larger cluster would: RENAME, COPY, MSETNX, BITOP, LCS without a common hash tag")

	s.Group("Log")
	s.Add("log-level", settings.OneOf(&log.level, logLevels...),
		"least level that is logged", settings.Choices(logLevels...))
	s.Add("log-format", settings.OneOf(&log.format, logFormats...),
		"form of the log on standard error", settings.Choices(logFormats...))
	s.Add("slowlog-slower-than", settings.Duration(&cfg.SlowlogSlowerThan),
		"commands that take longer enter SLOWLOG; negative = off")
	s.Add("slowlog-max-len", settings.Count(&cfg.SlowlogMaxLen), "entries that SLOWLOG keeps")

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
	"proto-max-bulk-len":      "max-value-size",
	"hash-max-listpack-value": "packed-size",
	"lua-time-limit":          "busy-reply-threshold",
	"slowlog-log-slower-than": "slowlog-slower-than",
	"shutdown-timeout":        "stop-timeout",
	"tls-cert-file":           "tls-cert",
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
	case "RINGSIDE_ACTIVE_HELP", "RINGSIDE_COMPLETION_DESCRIPTIONS", "RINGSIDE_LONG":
		return true
	}
	// RINGSIDE_PORT=tcp://10.0.0.7:6379 is from Kubernetes, RINGSIDE_PORT=6379 from
	// somebody who means --addr.
	if strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://") {
		return true
	}
	return kubernetesVariable.MatchString(name) || strings.HasPrefix(name, "RINGSIDE_TEST_")
}
