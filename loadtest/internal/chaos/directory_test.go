package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// between ends a node, by a signal at random, does something to what it leaves, and starts
// it again, under a host name if that is not empty. The returned function waits for that.
func (c *testCluster) between(n *node, hostName string, do func() error) (wait func()) {
	signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[c.rnd.IntN(2)]
	host := func() int { n.mu.Lock(); defer n.mu.Unlock(); return n.host }()
	var going sync.WaitGroup
	going.Go(func() {
		if !c.take(n, true) {
			return
		}
		defer c.take(n, false)
		if n.pid() == 0 {
			return
		}
		_ = n.end(signal, 20*time.Second)
		if err := do(); err != nil {
			c.say("%s: %v", n.id, err)
		}
		if err := c.startUnder(n, host, hostName); err != nil {
			c.say("%s does not start again: %v", n.id, err)
		}
	})
	return going.Wait
}

// move gives the data of a node that does not run another directory.
func (n *node) move() error {
	return n.replace(os.Rename)
}

// copyData replaces the data of a node that does not run by a copy, unless the disk has no
// room for two.
func (n *node) copyData() error {
	from := n.data()
	err := n.replace(func(from, to string) error {
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			return errors.Join(fmt.Errorf("copy: %w %.100s", err, out), os.RemoveAll(to))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// replace makes the data's next directory of the present one.
func (n *node) replace(do func(from, to string) error) error {
	from := n.data()
	to := filepath.Join(n.dir, fmt.Sprint("data", n.moves+1))
	if err := do(from, to); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.moves++
	return nil
}
