package acts

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// An unable is the reason why the machine does not allow an act.
type unable string

func (u unable) Error() string { return string(u) }

// A stage holds the nodes of one act and the writes that they acknowledged. One goroutine
// uses it.
type stage struct {
	options *cluster.ProcessOptions
	dir     string
	log     *os.File
	crew    []*cluster.Process
	undo    []func() error // in reverse order, after the nodes have ended
	written int
	figures []string

	acknowledged map[string]string
}

// start starts a node in the directory name; later nodes join the first.
func (s *stage) start(ctx context.Context, how cluster.ProcessConfig) (*cluster.Process, error) {
	how.Binary, how.Log = s.options.Binary, s.log
	how.Flags = append(how.Flags, strings.Fields(s.options.Serve)...)
	if how.Join == "" && len(s.crew) > 0 {
		how.Join = s.crew[0].Gossip
	}
	n, err := cluster.StartProcess(ctx, how)
	if n != nil {
		s.crew = append(s.crew, n)
	}
	return n, err
}

// single starts a node that is alone, in the directory data.
func (s *stage) single(ctx context.Context, flags ...string) (*cluster.Process, error) {
	return s.start(ctx, cluster.ProcessConfig{Dir: s.path("data"), Flags: flags})
}

// cluster starts n nodes with one backup of each key, and waits until all copies are made.
func (s *stage) cluster(ctx context.Context, n int, how func(i int) cluster.ProcessConfig) error {
	for i := range n {
		h := how(i)
		h.Dir = s.path(fmt.Sprint("data", i+1))
		if _, err := s.start(ctx, h); err != nil {
			return err
		}
	}
	return cluster.WaitBalanced(ctx, s.crew)
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// end stops all nodes and undoes what the act did to the machine.
func (s *stage) end() error {
	var err error
	for _, n := range s.crew {
		_ = n.Kill() // most have ended
	}
	for i := len(s.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, s.undo[i]())
	}
	return errors.Join(err, s.log.Close())
}

// note keeps a figure that is printed after the act. No act fails on a time.
func (s *stage) note(format string, args ...any) {
	s.figures = append(s.figures, fmt.Sprintf(format, args...))
}

// write writes keys with values of size bytes through a node and notes them as acknowledged.
func (s *stage) write(n *cluster.Process, keys, size int) error {
	c, err := cluster.Dial(n.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(1, uint64(s.written)))
	for range keys {
		s.written++
		key, value := fmt.Sprint("key:", s.written), string(cluster.FillValue(rnd, make([]byte, size)))
		if _, err := c.Do("SET", key, value); err != nil {
			return fmt.Errorf("SET %s: %w", key, err)
		}
		s.acknowledged[key] = value
	}
	return nil
}

// check reads every acknowledged write through a node.
func (s *stage) check(n *cluster.Process) error {
	c, err := cluster.Dial(n.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	lost := 0
	var first error
	for key, value := range s.acknowledged {
		got, err := c.Do("GET", key)
		if err == nil && got == value {
			continue
		}
		if lost++; first == nil {
			first = fmt.Errorf("GET %s: %.40q, %v", key, got, err)
		}
	}
	if lost > 0 {
		return fmt.Errorf("%d of %d acknowledged writes are not there; %w", lost, len(s.acknowledged), first)
	}
	return nil
}

// restart starts nodes that have ended, all at once, and checks the data through each.
func (s *stage) restart(ctx context.Context, crew ...*cluster.Process) error {
	ended := make(chan error, len(crew))
	for _, n := range crew {
		go func() { ended <- n.Restart(ctx) }()
	}
	var err error
	for range crew {
		err = errors.Join(err, <-ended)
	}
	for _, n := range crew {
		if err == nil {
			err = s.served(ctx, n)
		}
	}
	return err
}

// served waits until a node serves every acknowledged write.
func (s *stage) served(ctx context.Context, n *cluster.Process) (err error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if err = s.check(n); err == nil {
			return nil
		}
	}
	return errors.Join(err, ctx.Err())
}

// do sends one command on a connection of its own.
func do(n *cluster.Process, args ...string) (string, error) {
	c, err := cluster.Dial(n.Addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	reply, err := c.Do(args...)
	if err != nil {
		err = fmt.Errorf("%s: %w", args[0], err)
	}
	return reply, err
}

// refused starts a node whose start is to fail with a status, and with a text that holds all
// words and no stack of a panic.
func refused(ctx context.Context, n *cluster.Process, status int, words ...string) error {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := n.Command(ctx)
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("the node runs for %v, and its start was to be refused\n%s", patience, output)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, output)
	}
	got := cmd.ProcessState.ExitCode()
	if got != status {
		return fmt.Errorf("exit status %d, want %d:\n%s", got, status, output)
	}
	for _, word := range words {
		if !strings.Contains(string(output), word) {
			return fmt.Errorf("the refusal does not name %q:\n%s", word, output)
		}
	}
	if strings.Contains(string(output), "goroutine ") {
		return fmt.Errorf("the refusal is a stack:\n%s", output)
	}
	return nil
}
