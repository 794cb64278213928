package acts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/node"
)

// diskFilled fills a small file system of the node's own, and makes room by DEL.
func diskFilled(ctx context.Context, s *stage) error {
	disk := s.path("disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		return err
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=192m", "tmpfs", disk).CombinedOutput(); err != nil {
		return unable(strings.TrimSpace(fmt.Sprintf("no file system can be mounted: %v %s", err, out)))
	}
	s.undo = append(s.undo, func() error { return exec.Command("umount", "-l", disk).Run() })
	n, err := s.start(ctx, cluster.ProcessConfig{Dir: filepath.Join(disk, "data"), Flags: []string{"--min-free-disk", "64mb", "--memtable-size", "1mb"}})
	if err != nil {
		return err
	}
	var full error
	for range 100 {
		if full = s.write(n, 100, 100_000); full != nil {
			break
		}
	}
	if full == nil || !strings.Contains(full.Error(), "MISCONF") {
		return fmt.Errorf("a full disk was to refuse writes with MISCONF: %v", full)
	}
	if _, err := do(n, "DEL", "key:1"); err != nil {
		return fmt.Errorf("a full disk was to allow a deletion: %w", err)
	}
	delete(s.acknowledged, "key:1")
	if err := s.check(n); err != nil {
		return err
	}
	for _, signal := range []func() error{n.Kill, n.Stop} {
		if err := signal(); err != nil {
			return err
		}
		if err := s.restart(ctx, n); err != nil {
			return err
		}
	}
	for key := range s.acknowledged {
		if _, err := do(n, "DEL", key); err != nil {
			return err
		}
		delete(s.acknowledged, key)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if err := s.write(n, 100, 100); err == nil {
			return s.check(n)
		} else if time.Now().After(end) {
			return fmt.Errorf("all keys are deleted: %w", err)
		}
	}
}

// startLimited starts a node in a memory limit, in bytes. Files in a file system in memory count
// against it, so that a node whose data lie there has no bound that it could keep.
func (s *stage) startLimited(ctx context.Context, limit int) (*cluster.Process, error) {
	if kind, err := exec.Command("stat", "-f", "-c", "%T", s.dir).Output(); err == nil && strings.TrimSpace(string(kind)) == "tmpfs" {
		return nil, unable("the data lie in memory; choose another directory by --dir or TMPDIR")
	}
	wrap, remove, err := cluster.LimitMemory(limit)
	if err != nil {
		return nil, unable(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	s.undo = append(s.undo, remove)
	return s.start(ctx, cluster.ProcessConfig{Dir: s.path("data"), Wrap: wrap})
}

// memoryLimited writes more than the limit, of 300 MiB, with default settings. The kernel kills a node
// that takes more than it.
func memoryLimited(ctx context.Context, s *stage) error { return overfilled(ctx, s, 300<<20) }

// memoryLeast does so with the least memory that a node accepts.
func memoryLeast(ctx context.Context, s *stage) error { return overfilled(ctx, s, node.LeastMemory) }

// overfilled writes twice the limit, two times.
func overfilled(ctx context.Context, s *stage, limit int) error {
	n, err := s.startLimited(ctx, limit)
	if err != nil {
		return err
	}
	pid := n.PID()
	for range 2 {
		if err := cluster.FillKeys(ctx, []string{n.Addr}, limit/1024, 2000, 8); err != nil {
			return err
		}
	}
	if err := s.write(n, 1000, 2000); err != nil {
		return err
	}
	if n.PID() != pid {
		return errors.New("the node was started again")
	}
	return errors.Join(s.check(n), n.Stop())
}

// posted sends what a web page can make a browser send.
func posted(ctx context.Context, s *stage) error {
	n, err := s.single(ctx)
	if err != nil {
		return err
	}
	if err := s.write(n, 100, 100); err != nil {
		return err
	}
	body := "FLUSHALL\r\n*1\r\n$8\r\nFLUSHALL\r\n"
	for _, request := range []string{
		"POST / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\nContent-Length: 27\r\n\r\n" + body,
		"PUT / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\n\r\n" + body,
		"host: 127.0.0.1:6379\r\n\r\n" + body,
	} {
		conn, err := net.DialTimeout("tcp", n.Addr, 5*time.Second)
		if err != nil {
			return err
		}
		_, _ = io.WriteString(conn, request)
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, err = io.Copy(io.Discard, conn)
		_ = conn.Close()
		if err, ok := err.(net.Error); ok && err.Timeout() {
			return fmt.Errorf("the connection stays open after %.20q", request)
		}
	}
	return s.check(n)
}

// flushRounds is the number of FLUSHALL in the acts that delete all keys again and again.
const flushRounds = 1000

// flushed deletes all keys of three nodes again and again, through each in turn. Memory stays bounded.
func flushed(ctx context.Context, s *stage) error {
	if err := s.cluster(ctx, 3, named); err != nil {
		return err
	}
	return s.flush(ctx)
}

// flushedAlone does it to a node that is alone.
func flushedAlone(ctx context.Context, s *stage) error {
	if _, err := s.single(ctx); err != nil {
		return err
	}
	return s.flush(ctx)
}

// flush writes five keys and deletes all, flushRounds times, and notes the latencies and the memory of each node.
func (s *stage) flush(ctx context.Context) error {
	var clients []*cluster.Conn
	for _, n := range s.crew {
		c, err := cluster.Dial(n.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		clients = append(clients, c)
	}
	latencies := make([]time.Duration, flushRounds)
	for i := range latencies {
		c := clients[i%len(clients)]
		for key := range 5 {
			if _, err := c.Do("SET", fmt.Sprint("key:", key), "value"); err != nil {
				return err
			}
		}
		start := time.Now()
		if _, err := c.Do("FLUSHALL"); err != nil {
			return err
		}
		if latencies[i] = time.Since(start); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	slices.Sort(latencies)
	s.note("%d FLUSHALL: median %v, p99 %v, longest %v", flushRounds,
		latencies[flushRounds/2].Round(10*time.Microsecond), latencies[flushRounds*99/100].Round(10*time.Microsecond), latencies[flushRounds-1].Round(10*time.Microsecond))
	last := s.crew[len(s.crew)-1]
	for _, n := range s.crew {
		used, _, _ := cluster.ResidentMemory(n.PID())
		if s.note("%s: %d MiB of memory", cmp.Or(n.ID, "the node"), used>>20); used > 300<<20 {
			return fmt.Errorf("%s holds %d MiB of memory", n.ID, used>>20)
		}
	}
	if err := s.write(last, 100, 100); err != nil {
		return err
	}
	return s.check(s.crew[0])
}
