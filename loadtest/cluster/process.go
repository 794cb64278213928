package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/ring/strategy"
)

// A process is a member that runs in one of its own. It ends when this one does.
type process struct {
	*Child
	is at
}

// spawn starts a member in a process of its own, and waits until it answers.
func (f *Cluster) spawn(ctx context.Context, m *member, join []string) (body, error) {
	is, err := m.where()
	if err != nil {
		return nil, err
	}
	log := &lines{log: f.log.With("at", m.id)}
	cmd := exec.Command(f.cfg.Binary, f.flags(m, is, join)...)
	cmd.Env = append(CleanEnvironment(os.Environ()), "RINGSIDE_REQUIREPASS="+f.cfg.Password)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = attributes()
	child, err := Launch(cmd)
	if err != nil {
		return nil, err
	}
	p := &process{child, is}
	if err := p.Await(ctx, look, p.answers(f.access())); err != nil {
		p.Kill()
		return nil, errors.Join(err, log.last())
	}
	return p, nil
}

// answers asks the process for a PONG.
func (p *process) answers(a access) func(context.Context) error {
	return func(ctx context.Context) error {
		l, err := a.dial(ctx, p.is.client)
		if err != nil {
			return err
		}
		defer l.Close()
		_, err = l.do(ctx, "PING")
		return err
	}
}

// flags are those of ringside serve.
func (f *Cluster) flags(m *member, is at, join []string) []string {
	n := &f.base
	flags := []string{"serve", "--id", m.id, "--dir", m.dir, "--log-level", "warn"}
	add := func(name string, value any) { flags = append(flags, "--"+name, fmt.Sprint(value)) }
	add("addr", is.client)
	add("bus-addr", is.bus)
	add("gossip-addr", is.gossip)
	add("http-addr", n.HTTPAddr)
	add("strategy", n.Strategy)
	add("hash", n.Hash)
	switch n.Strategy {
	case strategy.Buckets:
		add("mask", n.Mask)
	case strategy.Ketama:
		add("points", n.Points)
	case strategy.VNode:
		add("vnodes", n.VNodes)
	case strategy.MultiProbe:
		add("probes", n.Cells.Probes)
	case strategy.LRH:
		add("candidates", n.Cells.Candidates)
	case strategy.Bounded:
		add("slack", n.Cells.Slack)
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

func (p *process) at() at                { return p.is }
func (p *process) done() <-chan struct{} { return p.Gone.Done() }
func (p *process) kill()                 { p.Kill() }

// closeTime is longer than a node takes to end.
const closeTime = 20 * time.Second

// close ends the process in order.
func (p *process) close() error { return p.Stop(closeTime) }

// lines log what a process writes, line by line.
type lines struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte
	said string
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			break
		}
		l.said, l.rest = string(line), rest
		l.log.Warn(l.said)
	}
	if len(l.rest) > 64<<10 {
		l.rest = nil
	}
	return len(b), nil
}

// last is the last line, as an error.
func (l *lines) last() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said == "" {
		return nil
	}
	return errors.New(l.said)
}
