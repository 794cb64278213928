package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/ring/strategy"
)

// A process is a member that runs in one of its own. It ends when this one does.
type process struct {
	*Child
	log string // file
}

// Done implements body.
func (p process) Done() <-chan struct{} { return p.Gone.Done() }

// Err implements body.
func (p process) Err() error { return errors.Join(context.Cause(p.Gone), lastLine(p.log)) }

// closeTime is longer than a node takes to end.
const closeTime = 20 * time.Second

// Close implements body.
func (p process) Close() error { return p.Stop(closeTime) }

// spawn starts a member in a process of its own, and waits until it answers.
func (f *Cluster) spawn(ctx context.Context, m *member, listens at, join []string) (body, error) {
	log, err := os.Create(m.dir + ".log")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(f.cfg.Binary, f.flags(m, listens, join)...)
	cmd.Env = append(CleanEnvironment(os.Environ()), "RINGSIDE_REQUIREPASS="+f.cfg.Password)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	child, err := Launch(cmd)
	if err != nil {
		return nil, err
	}
	err = child.Await(ctx, look, func(ctx context.Context) error {
		_, err := f.access().ask(ctx, listens.client, "PING")
		return err
	})
	if err != nil {
		child.Kill()
		return nil, errors.Join(err, lastLine(log.Name()))
	}
	return process{child, log.Name()}, nil
}

// lastLine is the last line of a log as an error; nil without any.
func lastLine(name string) error {
	text, err := os.ReadFile(name)
	text = bytes.TrimSpace(text)
	if err != nil || len(text) == 0 {
		return err
	}
	return errors.New(string(text[bytes.LastIndexByte(text, '\n')+1:]))
}

// flags are those of ringside serve.
func (f *Cluster) flags(m *member, listens at, join []string) []string {
	n := &f.base
	flags := []string{"serve", "--id", m.id, "--dir", m.dir, "--log-level", "warn"}
	add := func(name string, value any) { flags = append(flags, "--"+name, fmt.Sprint(value)) }
	add("addr", listens.client)
	add("bus-addr", listens.bus)
	add("gossip-addr", listens.gossip)
	add("http-addr", n.HTTPAddr)
	add("strategy", n.Strategy)
	add("hash", n.Hash)
	for _, setting := range strategy.Settings(n.Strategy) {
		add(setting, f.founding.Setting(setting))
	}
	add("route", n.Route)
	add("fsync", n.Fsync)
	add("backups", n.Backups)
	add("rereplicate-after", n.RereplicateAfter)
	add("cache", n.Cache)
	add("block-cache", n.BlockCache)
	add("memtable-size", n.MemTableSize)
	add("scrub-interval", 0)
	add("slowlog-slower-than", -1)
	if len(join) > 0 {
		add("join", strings.Join(join, ","))
	}
	return flags
}
