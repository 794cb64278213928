package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/loadtest/cluster"
)

const (
	readyLimit = 30 * time.Second
	stopLimit  = 20 * time.Second
	readyPoll  = 20 * time.Millisecond
)

// A server is a child process that answers at addr.
type server struct {
	*cluster.Child
	launch
	output bytes.Buffer // valid once the process has ended
}

// launch is how a server is started.
type launch struct {
	name string
	path string
	addr string   // empty: a free one
	args []string // with addrMark and portMark
	env  []string // beside the environment of this process
	// silent is set for a server that does not answer PING: it is ready when it listens.
	silent bool
}

// Placeholders of arguments.
const (
	addrMark = "<addr>"
	portMark = "<port>"
)

func ringsideLaunch(binary, dir string, extra ...string) launch {
	return launch{name: "Ringside", path: binary, args: append([]string{"serve", "--addr", addrMark, "--http-addr", "off",
		"--bus-addr", "127.0.0.1:0", "--gossip-addr", "127.0.0.1:0", "--dir", dir}, extra...)}
}

func redisLaunch(binary, dir string, extra ...string) launch {
	return launch{name: "Redis", path: binary, args: append([]string{"--bind", "127.0.0.1", "--port", portMark,
		"--dir", dir, "--save", ""}, extra...)}
}

// startServer starts the process and waits until it answers.
func startServer(ctx context.Context, l launch) (*server, error) {
	if l.addr == "" {
		at, _, err := freeport.Loopback(1)
		if err != nil {
			return nil, err
		}
		l.addr = at[0]
	}
	_, port, err := net.SplitHostPort(l.addr)
	if err != nil {
		return nil, err
	}
	s := &server{launch: l}
	cmd := exec.Command(l.path, expand(l.args, addrMark, l.addr, portMark, port)...)
	cmd.Env = append(cluster.CleanEnvironment(os.Environ()), l.env...)
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	// A grandchild, such as one that rewrites the AOF, may hold the output open.
	cmd.WaitDelay = time.Second
	if s.Child, err = cluster.Launch(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", l.name, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("no answer within %v", readyLimit))
	defer cancel()
	err = s.Await(ctx, readyPoll, func(ctx context.Context) error {
		c, err := cluster.DialContext(ctx, s.addr)
		if err != nil {
			return err
		}
		defer c.Close()
		if !l.silent {
			_, err = c.Do("PING")
		}
		return err
	})
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("start %s: %w", l.name, s.explain(err))
	}
	return s, nil
}

// explain adds the last output of the ended process to an error.
func (s *server) explain(err error) error {
	if s.output.Len() == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s wrote:\n%s", err, s.name, lastOutput(s.output.String()))
}

// lastOutput returns the last 4 KiB.
func lastOutput(text string) string { return strings.TrimSpace(text[max(0, len(text)-4<<10):]) }

// stop ends the process, first with a request, and returns when it is gone.
func (s *server) stop() { _ = s.Stop(stopLimit) } // only the end matters

const (
	settleWindow = 200 * time.Millisecond
	// settledUse is the processor time of a calm server in a window: two ticks of the clock that
	// counts it, which may fall anywhere.
	settledUse = 2 * cluster.CPUTick
)

// settle waits until the server has finished its background work, such as compactions, or until ctx
// ends. Where processor time is not known it waits only for a rewrite of the AOF.
func (s *server) settle(ctx context.Context) {
	for {
		_, before, _ := cluster.CPUTime(s.PID())
		select {
		case <-ctx.Done():
			return
		case <-time.After(settleWindow):
		}
		if _, after, _ := cluster.CPUTime(s.PID()); after-before > settledUse {
			continue
		}
		if s.silent {
			return
		}
		info, _ := cluster.Ask(ctx, s.addr, "INFO", "persistence") // a server that refuses INFO rewrites no AOF
		if !strings.Contains(info, "aof_rewrite_in_progress:1") {
			return
		}
	}
}
