package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A node is a process, or none at the moment, and a directory.
type node struct {
	id     string
	number int
	dir    string
	leaves bool // it hands over what it has, or has done so
	told   bool // to leave, though perhaps it has not heard, or nobody knows whether it will
	taken  bool // a fault sees to its end and its start; guarded by testCluster.mu

	mu      sync.Mutex
	moves   int            // how often the data got another directory
	host    int            // number of its address
	process *cluster.Child // the last one, if any
	asked   bool           // it was asked to end
	hooks   hooks
}

func (n *node) ip(isolated bool) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !isolated {
		return fmt.Sprintf("127.77.0.%d", 1+n.host)
	}
	return ipOf(n.host)
}

// pid is 0 if the node does not run.
func (n *node) pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.runs() {
		return 0
	}
	return n.process.PID()
}

// data is the directory of the node's data.
func (n *node) data() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.moves == 0 {
		return filepath.Join(n.dir, "data")
	}
	return filepath.Join(n.dir, fmt.Sprint("data", n.moves))
}

// start runs the node's process at an address. Under a host name it is not told its id,
// which its directory knows.
func (n *node) start(c *testCluster, host int, join []string, hostName string) error {
	n.mu.Lock()
	n.host = host
	n.mu.Unlock()
	// A clock that is wrong stays so. What hangs in a process does not outlast it.
	if err := c.hook(n, func(h *hooks) { h.Stand, h.Hang = false, false }); err != nil {
		return err
	}
	ip := n.ip(c.means[networks])
	args := append([]string{
		"serve", "--addr", ip + ":6379", "--gossip-addr", ip + ":7379", "--bus-addr", ip + ":16379",
		"--http-addr", ip + ":8379", "--protected-mode", "no", "--cluster-key", "a key of every test", "--strategy", c.o.Strategy, "--dir", n.data(),
		"--cache", "16mb", "--block-cache", "16mb", "--min-free-disk", strconv.Itoa(reserve),
	}, strings.Fields(c.o.Serve)...)
	if hostName == "" {
		args = append(args, "--id", n.id)
	}
	if len(join) > 0 {
		args = append(args, "--join", strings.Join(join, ","))
	}
	log, err := os.OpenFile(n.log(c.o.Dir), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	fmt.Fprintf(log, "--- %v at %s\n", time.Since(c.began), ip)
	// The shell waits for its network.
	cmd := exec.Command("sh", append([]string{"-c", `read -r name && { [ "$name" = "" ] || echo "$name" >/proc/sys/kernel/hostname; } && exec "$0" "$@"`, c.o.Binary}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(cluster.CleanEnvironment(os.Environ()), hooksEnv+"="+c.hooksFile(n))
	cmd.SysProcAttr = attributes(c.means[networks])
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	child, err := cluster.Launch(cmd)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.process, n.asked = child, false
	n.mu.Unlock()
	if c.means[networks] {
		err = plug(child.PID(), host)
	}
	if err == nil {
		_, err = io.WriteString(in, hostName+"\n")
	}
	if err != nil {
		_ = n.signal(syscall.SIGKILL)
	}
	return err
}

// runs reports whether the process runs. The caller holds n.mu.
func (n *node) runs() bool { return n.process != nil && n.process.Runs() }

func (n *node) signal(sig syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.runs() {
		return nil
	}
	if sig == syscall.SIGKILL || sig == syscall.SIGTERM {
		n.asked = true
	}
	return n.process.Signal(sig)
}

// end ends the process with a signal and waits for it.
func (n *node) end(sig syscall.Signal, patience time.Duration) error {
	n.mu.Lock()
	runs, process := n.runs(), n.process
	n.asked = n.asked || runs
	n.mu.Unlock()
	if !runs {
		return nil
	}
	if err := process.End(sig, patience); err != nil {
		return fmt.Errorf("%s: %w", n.id, err)
	}
	return nil
}

// stopping tells that the process runs, and was asked to end.
func (n *node) stopping() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.runs() && n.asked
}

// fell reports whether the process has ended without being asked, and how.
func (n *node) fell() (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil || n.runs() {
		return false, nil
	}
	return !n.asked && !n.leaves, n.process.Wait()
}

// log is the file of the node's log, in the directory of the cluster.
func (n *node) log(dir string) string { return filepath.Join(dir, n.id+".log") }

// lastLogLine returns the last line of the node's log. A process that ends by itself says why there.
func (n *node) lastLogLine(dir string) string {
	f, err := os.Open(n.log(dir))
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	const end = 4 << 10 // longer than any line that is wanted
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(size-end, 0), io.SeekStart)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// dial connects to where the node is now.
func (n *node) dial(c *testCluster) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", n.ip(c.means[networks])+":6379")
	}
}
