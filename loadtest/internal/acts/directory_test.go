package acts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// underName is a command that runs another under a host name of its own.
func underName(name string) []string {
	return []string{"unshare", "--uts", "sh", "-c", `echo "$0" >/proc/sys/kernel/hostname && exec "$@"`, name}
}

// canRename returns an unable if no process may have a host name of its own.
func canRename() error {
	trial := append(underName("trial"), "true")
	if out, err := exec.Command(trial[0], trial[1:]...).CombinedOutput(); err != nil {
		return unable(strings.TrimSpace(fmt.Sprintf("no process can have a host name of its own: %v %s", err, out)))
	}
	return nil
}

func renamed(ctx context.Context, s *stage) error {
	if err := canRename(); err != nil {
		return err
	}
	n, err := s.start(ctx, cluster.ProcessConfig{Dir: s.path("data"), Wrap: underName("before")})
	if err != nil {
		return err
	}
	for _, name := range []string{"after", "later"} {
		if err := errors.Join(s.write(n, 1000, 100), n.Stop()); err != nil {
			return err
		}
		n.Wrap = underName(name)
		if err := s.restart(ctx, n); err != nil {
			return err
		}
	}
	return s.write(n, 100, 100)
}

func renamedTogether(ctx context.Context, s *stage) error {
	if err := canRename(); err != nil {
		return err
	}
	err := s.cluster(ctx, 3, func(i int) cluster.ProcessConfig {
		return cluster.ProcessConfig{Wrap: underName(fmt.Sprint("before", i))}
	})
	if err != nil {
		return err
	}
	if err := errors.Join(s.write(s.crew[0], 3000, 100), stopAll(s)); err != nil {
		return err
	}
	for i, n := range s.crew {
		n.Wrap = underName(fmt.Sprint("after", i))
	}
	if err := s.restart(ctx, s.crew...); err != nil {
		return err
	}
	return s.write(s.crew[1], 100, 100)
}

// otherID starts a directory under another id, which is refused, and then without one.
func otherID(ctx context.Context, s *stage) error {
	n, err := s.start(ctx, cluster.ProcessConfig{ID: "first", Dir: s.path("data")})
	if err != nil {
		return err
	}
	if err := errors.Join(s.write(n, 1000, 100), n.Stop()); err != nil {
		return err
	}
	n.ID = "second"
	if err := refused(ctx, n, 2, "first", "second"); err != nil {
		return err
	}
	n.ID = ""
	return s.restart(ctx, n)
}

func moved(ctx context.Context, s *stage) error {
	n, err := s.single(ctx)
	if err != nil {
		return err
	}
	at := s.path("data")
	for _, to := range []struct{ dir, workDir, flag string }{
		{s.path("elsewhere"), "", s.path("elsewhere")},
		{s.path("far/away"), s.path("far"), "./away"},
		{s.path("data"), s.dir, "data"},
	} {
		if err := errors.Join(s.write(n, 1000, 100), n.Stop(), os.MkdirAll(filepath.Dir(to.dir), 0o755), os.Rename(at, to.dir)); err != nil {
			return err
		}
		at = to.dir
		n.Dir, n.WorkDir = to.flag, to.workDir
		if err := s.restart(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// duplicate copies a directory with all that it holds.
func duplicate(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w %s", from, err, out)
	}
	return nil
}

// copied runs a copy of a stopped node's directory in the place of the original.
func copied(ctx context.Context, s *stage) error {
	n, err := s.single(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(s.write(n, 2000, 100), n.Stop(), duplicate(s.path("data"), s.path("copy"))); err != nil {
		return err
	}
	n.Dir = s.path("copy")
	if err := s.restart(ctx, n); err != nil {
		return err
	}
	return s.write(n, 100, 100)
}

func named(i int) cluster.ProcessConfig { return cluster.ProcessConfig{ID: fmt.Sprint("n", i+1)} }

// cloned starts a copy of a directory whose node runs, under the same id at other addresses.
// The copy may be refused or wait, but it takes no acknowledged write away.
func cloned(ctx context.Context, s *stage) error {
	if err := s.cluster(ctx, 3, named); err != nil {
		return err
	}
	if err := errors.Join(s.write(s.crew[0], 3000, 100), duplicate(s.path("data2"), s.path("copy")), s.write(s.crew[0], 3000, 100)); err != nil {
		return err
	}
	trial, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if _, err := s.start(trial, cluster.ProcessConfig{ID: "n2", Dir: s.path("copy"), Join: s.crew[0].Gossip}); err == nil {
		if _, err := do(s.crew[3], "GET", "key:1"); err == nil {
			return errors.New("the original and its copy both answer")
		}
	}
	for _, n := range s.crew[:3] {
		if err := s.served(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// twin starts a process with the id of a node that runs, which has data alone.
func twin(ctx context.Context, s *stage) error {
	if err := s.cluster(ctx, 3, named); err != nil {
		return err
	}
	if err := s.write(s.crew[0], 3000, 100); err != nil {
		return err
	}
	trial, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	second, err := s.start(trial, cluster.ProcessConfig{ID: "n2", Dir: s.path("empty")})
	if err == nil {
		return errors.New("both run")
	}
	if err := refused(ctx, second, 1, "n2", "answers at"); err != nil {
		return err
	}
	for _, n := range s.crew[:3] {
		if err := s.served(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// rolledBack kills a node and starts an older copy of its directory in its place.
func rolledBack(ctx context.Context, s *stage) error {
	if err := s.cluster(ctx, 3, named); err != nil {
		return err
	}
	n := s.crew[1]
	err := errors.Join(s.write(s.crew[0], 3000, 100), duplicate(s.path("data2"), s.path("copy")), s.write(s.crew[0], 3000, 100), n.Kill())
	if err != nil {
		return err
	}
	n.Dir = s.path("copy")
	if err := s.restart(ctx, n); err != nil {
		return err
	}
	if err := cluster.WaitBalanced(ctx, s.crew); err != nil {
		return err
	}
	return s.check(n)
}

// filesLost removes the tables and logs of a store that has data. It must not answer as if
// it had never had any.
func filesLost(ctx context.Context, s *stage) error {
	n, err := s.single(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(s.write(n, 1000, 100), n.Stop()); err != nil {
		return err
	}
	for _, name := range []string{"data", "log"} {
		if err := os.RemoveAll(filepath.Join(s.path("data"), name)); err != nil {
			return err
		}
	}
	return refused(ctx, n, 1, s.path("data"))
}

// tableCut cuts the file short that holds the cluster's table.
func tableCut(ctx context.Context, s *stage) error {
	n, err := s.single(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(s.write(n, 100, 100), n.Stop()); err != nil {
		return err
	}
	const pages = 3 // two of them head the file
	if err := os.Truncate(filepath.Join(s.path("data"), "raft", "raft.db"), pages*int64(os.Getpagesize())); err != nil {
		return err
	}
	return refused(ctx, n, 1, "raft.db")
}
