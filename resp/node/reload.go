package node

import "slices"

// reloads are the settings that Reload applies. All that CONFIG SET can change are among them, so that
// what CONFIG REWRITE has written to a file needs no restart.
var reloads = []string{
	"requirepass", "route", "strict-slots", "strict-busy", "forward-timeout", "min-in-sync", "scrub-interval", "max-data", "max-data-policy",
	"max-clients", "max-key-size", "max-value-size", "max-args", "packed-size", "hll-sparse-max-bytes",
	"tracking-table-max-keys", "busy-reply-threshold", "output-buffer", "client-memory", "script-memory", "idle-timeout", "auth-timeout",
	"tcp-keepalive", "protected-mode", "min-free-disk",
	"slowlog-slower-than", "slowlog-max-len", "notify-keyspace-events", "redis-config", "tls-cert", "tls-key", "tls-ca",
	"cluster-tls-cert", "cluster-tls-key", "cluster-tls-ca", "cluster-tls-name",
}

// Reloads reports whether [Node.Reload] applies a change of a setting, named as in a
// [Fault]. All others need a restart.
func Reloads(setting string) bool { return slices.Contains(reloads, setting) }

// Reload applies the settings of cfg that may change at run time, and reads the certificates again.
// A setting that is unchanged since the last Reload, or Open, stays as it is, even if CONFIG SET
// has changed it meanwhile. Other settings of cfg are ignored. TLS cannot be turned on or off. If
// Reload returns an error, nothing has changed.
func (n *Node) Reload(cfg Config) error {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return err
	}
	clients, nodes, err := cfg.loadTLS()
	if err != nil {
		return err
	}
	if err := n.server.Reconfigure(n.last, cfg.settings()); err != nil {
		return err
	}
	n.tls.Reload(clients)
	n.nodeTLS.Reload(nodes)
	if n.lastSpare != cfg.MinFreeDisk {
		n.store.SetMinFreeDisk(cfg.MinFreeDisk)
	}
	n.last, n.lastSpare = cfg.settings(), cfg.MinFreeDisk
	return nil
}
