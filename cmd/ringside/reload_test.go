package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/resp/node"
)

func TestHangupReloadsAndTheServerContinues(t *testing.T) {
	f := newFakeServer()
	reloaded := make(chan struct{})
	signals, result, log := make(chan os.Signal, 2), make(chan error, 1), &lockedBuffer{}
	cfg := node.DefaultConfig()
	cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	go func() {
		result <- serve(cfg, opening(f), signals, func(server) { reloaded <- struct{}{} }, func(int) { t.Error("it exits at once") })
	}()
	for range 3 {
		signals <- syscall.SIGHUP
		<-reloaded
	}
	select {
	case <-f.closing:
		t.Error("it stops")
	default:
	}
	signals <- syscall.SIGTERM
	if err := <-result; err != nil || strings.Contains(log.String(), "stopped immediately") {
		t.Errorf("%v\n%s", err, log)
	}
}

func TestReloadReportsChangesAndNeededRestarts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ringside.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("max-clients: 100\ncache: 64mb\nlog-level: info\n")
	cmd := &cobra.Command{Use: "serve", Args: cobra.ArbitraryArgs}
	a := &app{args: []string{"--config", file, "--max-args", "2000"}}
	cfg, options := node.DefaultConfig(), defaultLogOptions()
	set := serveSettings(&cfg, &options)
	set.AddTo(cmd)
	if err := cmd.ParseFlags(a.args); err != nil {
		t.Fatal(err)
	}
	if err := a.configure(cmd, set, &cfg, nil); err != nil {
		t.Fatal(err)
	}
	log, f := &lockedBuffer{}, newFakeServer()
	var level slog.LevelVar
	r := &reloader{app: a, cmd: cmd, started: set, last: set, level: &level, log: slog.New(slog.NewTextHandler(log, nil))}
	for _, tt := range []struct {
		name, file string
		want       []string // in the log
		clients    int      // that the server has then; 0: it was not asked
	}{
		{"nothing", "max-clients: 100\ncache: 64mb\nlog-level: info\n", []string{"msg=reloaded changed=none"}, 100},
		{"some", "max-clients: 200\ncache: 64mb\nlog-level: debug\nmax-args: 99\n", []string{`changed="max-clients, log-level"`}, 200},
		{"faulty", "max-clients: many\nno-setting: 1\n", []string{"reload failed", "ringside.yaml:1", "ringside.yaml:2"}, 0},
		{"for a restart", "max-clients: 200\ncache: 128mb\nlog-level: debug\n", []string{"changed=none", "need a restart", "settings=cache"}, 200},
		{"still for a restart", "max-clients: 300\ncache: 128mb\nlog-level: debug\n", []string{"changed=max-clients", "settings=cache"}, 300},
	} {
		write(tt.file)
		*log, f.reloaded = lockedBuffer{}, node.Config{}
		r.reload(f)
		for _, want := range tt.want {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, log.String())
			}
		}
		if f.reloaded.MaxClients != tt.clients {
			t.Errorf("%s: the server was given %d clients", tt.name, f.reloaded.MaxClients)
		}
		if tt.clients > 0 && f.reloaded.MaxArgs != 2000 {
			t.Errorf("%s: the flag is forgotten: max-args %d", tt.name, f.reloaded.MaxArgs)
		}
	}
	if level.Level() != slog.LevelDebug {
		t.Errorf("the log's level is %v", level.Level())
	}
}
