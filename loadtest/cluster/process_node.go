package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
)

// BinaryPackage is that of the binary.
const BinaryPackage = "github.com/ringside-kv/ringside/cmd/ringside"

// Build compiles the binary of this module into a directory, with further flags of go
// build, and returns its path.
func Build(ctx context.Context, dir string, flags ...string) (string, error) {
	binary := filepath.Join(dir, "ringside")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	args := append([]string{"build", "-trimpath", "-o", binary}, flags...)
	out, err := exec.CommandContext(ctx, "go", append(args, BinaryPackage)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build cmd/ringside: %w\n%s", err, out)
	}
	return binary, nil
}

// ProcessConfig is how a node is run.
type ProcessConfig struct {
	Binary  string
	ID      string   // passed as --id; empty for the node's own choice
	Dir     string   // of the node's data
	WorkDir string   // working directory of the process; empty for the caller's
	Wrap    []string // command and arguments that run the node's command line, as env(1) does; by exec, so that its process is the node's
	Join    string   // gossip address of another node; empty for the first
	Flags   []string
	Log     io.Writer // of what it logs; nil for nowhere
}

// A Process is a node that runs as a process. Changes of its ProcessConfig count from its next start on.
type Process struct {
	ProcessConfig
	*Child // nil once it has ended in order

	Addr   string // for clients
	Gossip string
	HTTP   string
	bus    string
}

// StartProcess runs a node, at addresses that are reserved for it until this process ends, and waits until it answers. The process
// ends with ctx, as SIGTERM ends it.
func StartProcess(ctx context.Context, how ProcessConfig) (*Process, error) {
	at, _, err := freeport.Loopback(4)
	if err != nil {
		return nil, err
	}
	n := &Process{ProcessConfig: how, Addr: at[0], Gossip: at[1], bus: at[2], HTTP: at[3]}
	return n, n.Restart(ctx)
}

// Command is the process of the node, not yet started. SIGTERM ends it with ctx.
func (n *Process) Command(ctx context.Context) *exec.Cmd {
	args := []string{
		"serve", "--addr", n.Addr, "--gossip-addr", n.Gossip, "--bus-addr", n.bus,
		"--http-addr", n.HTTP, "--dir", n.Dir,
	}
	if n.ID != "" {
		args = append(args, "--id", n.ID)
	}
	if n.Join != "" {
		args = append(args, "--join", n.Join)
	}
	line := slices.Concat(n.Wrap, []string{n.Binary}, args, n.Flags)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.Env = n.WorkDir, CleanEnvironment(os.Environ())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// Restart runs a node that has ended once more, and waits until it answers.
func (n *Process) Restart(ctx context.Context) error {
	cmd := n.Command(ctx)
	cmd.Stdout, cmd.Stderr = n.Log, n.Log
	child, err := Launch(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", n.ID, err)
	}
	n.Child = child
	err = n.Until(ctx, "answers", func(map[string]int64) bool { return true })
	if err != nil {
		err = errors.Join(err, n.Stop())
	}
	return err
}

// Stop ends the node in order, if it runs. An exit status other than 0 is an error.
func (n *Process) Stop() error {
	if n.Child == nil || !n.Runs() {
		return nil
	}
	if err := n.Child.Stop(30 * time.Second); err != nil {
		return fmt.Errorf("%s: %w", n.ID, err)
	}
	err := n.Wait()
	n.Child = nil
	return err
}

// Kill ends the node as kill -9 does, and waits for that. It is an error if the node has ended by
// itself.
func (n *Process) Kill() error {
	if n.Child == nil {
		return nil
	}
	if !n.Runs() {
		return os.ErrProcessDone
	}
	n.Child.Kill()
	n.Child = nil
	return nil
}

// processPatience is how long [Process.Until] waits.
const processPatience = 5 * time.Minute

var errNotYet = errors.New("not yet")

// Until waits until the figures of RING INFO are as they should be, which what says.
func (n *Process) Until(ctx context.Context, what string, holds func(info map[string]int64) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, processPatience, fmt.Errorf("not within %v", processPatience))
	defer cancel()
	err := n.Await(ctx, lookAll, func(context.Context) error {
		info, err := n.Info()
		if err == nil && !holds(info) {
			err = errNotYet
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("wait until %s %s: %w", n.ID, what, err)
	}
	return nil
}

// Info are the figures of RING INFO, over a connection of its own.
func (n *Process) Info() (map[string]int64, error) {
	info, err := Ask(context.Background(), n.Addr, "RING", "INFO")
	return Numbers(info), err
}

// CPU is the processor time that the process has used, 0 where that is not known.
func (n *Process) CPU() time.Duration { return ProcessCPU(n.PID()) }

// ProcessCPU is the processor time that a process has used, 0 where that is not known.
func ProcessCPU(pid int) time.Duration {
	own, _, _ := CPUTime(pid)
	return own
}

// Profile writes what the node spends its time on, for some seconds, to a file.
func (n *Process) Profile(file string, seconds int) error {
	reply, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", n.HTTP, seconds))
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}
