package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// build compiles the binary of this module.
func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "ringside")
	out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary,
		"github.com/ringside-kv/ringside/cmd/ringside").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build cmd/ringside: %w\n%s", err, out)
	}
	return binary, nil
}

// A node is one process.
type node struct {
	id     string
	addr   string
	gossip string
	http   string
	cmd    *exec.Cmd
	ended  chan error
}

// startNode starts a node that joins the others, and waits until it answers.
func startNode(ctx context.Context, o *options, number int, others []*node) (*node, error) {
	port, err := freePorts()
	if err != nil {
		return nil, err
	}
	at := func(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
	n := &node{id: fmt.Sprint("n", number+1), addr: at(port), gossip: at(port + 1), http: at(port + 3), ended: make(chan error, 1)}
	args := []string{
		"serve", "--id", n.id, "--addr", n.addr, "--gossip-addr", n.gossip, "--bus-addr", at(port + 2),
		"--http-addr", n.http, "--strategy", o.strategy, "--dir", filepath.Join(o.dir, n.id),
	}
	if len(others) > 0 {
		args = append(args, "--join", others[0].gossip)
	}
	n.cmd = exec.CommandContext(ctx, o.binary, append(args, strings.Fields(o.serve)...)...)
	if o.verbose {
		n.cmd.Stdout, n.cmd.Stderr = os.Stderr, os.Stderr
	}
	n.cmd.Cancel = func() error { return n.cmd.Process.Signal(syscall.SIGTERM) }
	n.cmd.WaitDelay = 20 * time.Second
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", n.id, err)
	}
	go func() { n.ended <- n.cmd.Wait() }()
	for range 600 {
		if c, err := dial(n.addr); err == nil {
			c.close()
			return n, nil
		}
		select {
		case err := <-n.ended:
			return nil, fmt.Errorf("%s has ended: %w", n.id, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, errors.Join(fmt.Errorf("%s does not answer", n.id), n.stop())
}

func (n *node) stop() error {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil // it has ended, and was asked to
	}
	select {
	case err := <-n.ended:
		return err
	case <-time.After(20 * time.Second):
		return errors.Join(fmt.Errorf("%s does not end", n.id), n.cmd.Process.Kill())
	}
}

// freePorts returns the first of four ports in a row that nobody listens on.
func freePorts() (int, error) {
	for range 100 {
		port := 20000 + rand.IntN(10000)
		free := true
		for i := range 4 {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i)))
			if free = free && err == nil; err == nil {
				_ = l.Close()
			}
		}
		if free {
			return port, nil
		}
	}
	return 0, errors.New("no free ports")
}

// cpu is the processor time that the node has used, 0 where that is not known.
func (n *node) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The second field is in parentheses and may hold anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	ticks := 0
	for _, f := range fields[11:13] {
		t, _ := strconv.Atoi(f)
		ticks += t
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// profile writes what the node spends its time on, for some seconds, to a file.
func (n *node) profile(dir string, seconds int) error {
	reply, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", n.http, seconds))
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, n.id+".pprof"), b, 0o644)
}
