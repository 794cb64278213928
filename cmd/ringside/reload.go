package main

import (
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/node"
)

// A reloader reads all settings anew. The command line and the environment are those of
// the start, so it is the file that may have changed, and the files of certificates.
type reloader struct {
	app     *app
	cmd     *cobra.Command
	started *settings.Set // what needs a restart is compared with these
	last    *settings.Set // what was reloaded last
	level   *slog.LevelVar
	log     *slog.Logger
	sockets []net.Listener // of systemd
}

// reload applies what may change at run time. If anything is faulty, nothing changes.
func (r *reloader) reload(n server) {
	cfg, log := node.DefaultConfig(), defaultLogOptions()
	cfg.Listeners = r.sockets
	next := serveSettings(&cfg, &log)
	next.TakeFlags(r.started)
	if err := r.app.configure(r.cmd, next, &cfg, nil); err != nil {
		for _, fault := range parts(err) {
			r.log.Error("reload failed, the settings are unchanged", "err", fault)
		}
		return
	}
	if err := n.Reload(cfg); err != nil {
		r.log.Error("reload failed, the settings are unchanged", "err", err)
		return
	}
	r.level.Set(log.slogLevel())
	changed := slices.DeleteFunc(next.Changed(r.last), needsRestart)
	restart := slices.DeleteFunc(next.Changed(r.started), func(name string) bool { return !needsRestart(name) })
	r.last = next
	attrs := []any{"changed", orNone(changed)}
	if cfg.TLSCert != "" {
		attrs = append(attrs, "certificates", "read")
	}
	r.log.Info("reloaded", attrs...)
	if len(restart) > 0 {
		r.log.Warn("these settings have changed and need a restart", "settings", orNone(restart))
	}
}

// rewriter returns what CONFIG REWRITE does with the file of the settings.
func rewriter(set *settings.Set, log *slog.Logger) func(values, initial map[string]string) error {
	var mu sync.Mutex
	cfg, options := node.DefaultConfig(), defaultLogOptions()
	scratch := serveSettings(&cfg, &options) // its values change while texts are compared
	return func(values, initial map[string]string) error {
		mu.Lock()
		defer mu.Unlock()
		changed, err := scratch.Rewrite(set.Path(), values, initial)
		if err != nil {
			return err
		}
		log.Info("configuration file rewritten", "file", set.Path(), "changed", orNone(changed))
		for _, name := range changed {
			if set.Given(name) && !set.FromFile(name) {
				log.Warn("a flag or a variable overrides a setting that was written to the file", "setting", name, "source", set.Source(name))
			}
		}
		return nil
	}
}

func needsRestart(name string) bool { return name != "log-level" && !node.Reloads(name) }

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
