package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	readyLimit = 30 * time.Second
	stopLimit  = 20 * time.Second
	readyPoll  = 20 * time.Millisecond
)

// A server is a child process that answers at addr.
type server struct {
	name   string
	addr   string
	cmd    *exec.Cmd
	output *tail
	gone   context.Context // ends with the process
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

// startAttempts bounds how often a port may be taken by others between being
// found free and being listened on.
const startAttempts = 5

// startServer starts the process and waits until it answers.
func startServer(ctx context.Context, l launch) (*server, error) {
	for attempt := 1; ; attempt++ {
		host, port, err := freePort()
		if err != nil {
			return nil, err
		}
		s, err := startOn(ctx, l, host, port)
		if err == nil {
			return s, nil
		}
		if attempt == startAttempts || !portTaken(host, port) {
			return nil, fmt.Errorf("start %s: %w", l.name, err)
		}
	}
}

func freePort() (host, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	return net.SplitHostPort(l.Addr().String())
}

func portTaken(host, port string) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return true
	}
	l.Close()
	return false
}

func startOn(ctx context.Context, l launch, host, port string) (*server, error) {
	s := &server{name: l.name, addr: net.JoinHostPort(host, port), output: &tail{},
		cmd: exec.Command(l.path, l.args(host, port)...)}
	s.cmd.Env = plainEnv(os.Environ())
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	// A grandchild, such as one that rewrites the AOF, may hold the output open.
	s.cmd.WaitDelay = time.Second
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	gone, end := context.WithCancelCause(context.Background())
	s.gone = gone
	go func() {
		err := s.cmd.Wait()
		if err == nil {
			err = errors.New("exit status 0")
		}
		end(err)
	}()
	ready := l.ready
	if ready == nil {
		ready = func(ctx context.Context, s *server) error { return s.ping(ctx) }
	}
	if err := s.awaitReady(ctx, ready); err != nil {
		s.stop()
		return nil, s.explain(err)
	}
	return s, nil
}

// plainEnv leaves out what would configure Ringside. It takes no notice itself of
// variables for tests.
func plainEnv(environ []string) []string {
	var plain []string
	for _, entry := range environ {
		if !strings.HasPrefix(entry, "RINGSIDE_") || strings.HasPrefix(entry, "RINGSIDE_TEST_") {
			plain = append(plain, entry)
		}
	}
	return plain
}

// awaitReady returns when the server is ready.
func (s *server) awaitReady(ctx context.Context, ready func(context.Context, *server) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("no answer within %v", readyLimit))
	defer cancel()
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	var last error
	for {
		err := ready(ctx, s)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // what fails for want of time explains nothing
			last = err
		}
		select {
		case <-s.gone.Done():
			return fmt.Errorf("ended: %w", context.Cause(s.gone))
		case <-ctx.Done():
			if last == nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		case <-poll.C:
		}
	}
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
	var refused replyError
	if err != nil && !errors.As(err, &refused) { // who does not say who he is, is believed
		return err
	}
	if pid, ok := infoField(info, "process_id"); ok && pid != fmt.Sprint(s.cmd.Process.Pid) {
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
	if s.gone.Err() == nil {
		return nil
	}
	return s.explain(fmt.Errorf("%s ended: %w", s.name, context.Cause(s.gone)))
}

// stop ends the process, first with a request, and returns when it is gone.
func (s *server) stop() {
	if s.cmd.Process.Signal(syscall.SIGTERM) != nil {
		s.cmd.Process.Kill() // there is no such signal on Windows
	}
	timer := time.NewTimer(stopLimit)
	defer timer.Stop()
	select {
	case <-s.gone.Done():
	case <-timer.C:
		s.cmd.Process.Kill()
		<-s.gone.Done()
	}
}

// guard returns a context that ends with ctx, with the server, or after limit.
func (s *server) guard(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not finished within %v", limit))
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.gone, func() { cancel(s.died()) })
	return ctx, func() {
		unhook()
		cancel(nil)
		cancelTimeout()
	}
}
