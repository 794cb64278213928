package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	readyLimit = 30 * time.Second
	stopLimit  = 20 * time.Second
	readyPoll  = 20 * time.Millisecond
)

// A server is a child process that answers at addr.
type server struct {
	*cluster.Child
	name    string
	addr    string
	output  *tail
	release func() // of the reserved port
}

// launch is how a server is started on a port.
type launch struct {
	name string
	path string
	args func(host, port string) []string
	// ready returns nil once the server answers; nil asks for a PONG and for the
	// process that gives it.
	ready func(ctx context.Context, s *server) error
}

func ringsideLaunch(binary, dir string, extra []string) launch {
	return launch{name: "Ringside", path: binary, args: func(host, port string) []string {
		return append([]string{"serve", "--addr", net.JoinHostPort(host, port), "--http-addr", "off",
			"--bus-addr", "127.0.0.1:0", "--gossip-addr", "127.0.0.1:0", "--dir", dir}, extra...)
	}}
}

func redisLaunch(binary, dir string, extra []string) launch {
	return launch{name: "Redis", path: binary, args: func(host, port string) []string {
		return append([]string{"--bind", host, "--port", port, "--dir", dir}, extra...)
	}}
}

// startServer starts the process and waits until it answers.
func startServer(ctx context.Context, l launch) (*server, error) {
	at, release, err := freeport.Loopback(1)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(at[0])
	if err != nil {
		return nil, err
	}
	s := &server{name: l.name, addr: at[0], output: &tail{}, release: release}
	cmd := exec.Command(l.path, l.args(host, port)...)
	cmd.Env = cluster.CleanEnvironment(os.Environ())
	cmd.Stdout, cmd.Stderr = s.output, s.output
	// A grandchild, such as one that rewrites the AOF, may hold the output open.
	cmd.WaitDelay = time.Second
	if s.Child, err = cluster.Launch(cmd); err != nil {
		release()
		return nil, fmt.Errorf("start %s: %w", l.name, err)
	}
	ready := l.ready
	if ready == nil {
		ready = func(ctx context.Context, s *server) error { return s.ping(ctx) }
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("no answer within %v", readyLimit))
	defer cancel()
	if err := s.Await(ctx, readyPoll, func(ctx context.Context) error { return ready(ctx, s) }); err != nil {
		s.stop()
		return nil, fmt.Errorf("start %s: %w", l.name, s.explain(err))
	}
	return s, nil
}

// ping asks for a PONG, from this very process: another one may have taken the
// port.
func (s *server) ping(ctx context.Context) error {
	c, err := dial(ctx, s.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if pong, err := c.do("PING"); err != nil {
		return err
	} else if pong != "PONG" {
		return fmt.Errorf("PING was answered with %q", pong)
	}
	info, err := c.do("INFO", "server")
	var refused wire.ReplyError
	if err != nil && !errors.As(err, &refused) { // who does not say who he is, is believed
		return err
	}
	if pid, ok := infoField(info, "process_id"); ok && pid != fmt.Sprint(s.PID()) {
		return fmt.Errorf("process %s answers at %s", pid, s.addr)
	}
	return nil
}

// explain adds what the server has written to what went wrong with it.
func (s *server) explain(err error) error {
	text := strings.TrimSpace(s.output.String())
	if text == "" {
		return err
	}
	return fmt.Errorf("%w\n%s wrote:\n%s", err, s.name, text)
}

// died returns nil as long as the process runs, then what it ended with.
func (s *server) died() error {
	if s.Runs() {
		return nil
	}
	return s.explain(fmt.Errorf("%s ended: %w", s.name, context.Cause(s.Gone)))
}

// stop ends the process, first with a request, and returns when it is gone.
func (s *server) stop() {
	_ = s.Stop(stopLimit) // only the end matters
	s.release()
}

// guard returns a context that ends with ctx, with the server, or after limit.
func (s *server) guard(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not finished within %v", limit))
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.Gone, func() { cancel(s.died()) })
	return ctx, func() {
		unhook()
		cancel(nil)
		cancelTimeout()
	}
}
