package acts

import (
	"context"
	"syscall"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// An act is done to nodes of its own. It returns an error if a promise was broken, and an
// unable if the machine does not allow it.
type act struct {
	name string
	what string
	run  func(ctx context.Context, s *stage) error
}

var acts = []act{
	{"kill", "a node is killed again and again", killed},
	{"rename", "the host gets another name", renamed},
	{"rename3", "the hosts of all three nodes get other names at once", renamedTogether},
	{"otherid", "the node is given another id", otherID},
	{"move", "the directory is moved, and opened by a relative path", moved},
	{"copy", "the directory of a stopped node is copied", copied},
	{"clone", "a directory is copied while its node runs, and started beside it", cloned},
	{"twin", "a node is started with the id of one that runs, and an empty directory", twin},
	{"rollback", "a node of three is replaced by an older copy of its directory", rolledBack},
	{"lose", "the files of the data are removed", filesLost},
	{"cut", "the table's file is cut short", tableCut},
	{"sighup", "the terminal is closed", hungUp},
	{"disk", "the disk is filled", diskFilled},
	{"memory", "the memory is limited to 300 MiB", memoryLimited},
	{"memory96", "the memory is limited to the 96 MiB that a node needs at least", memoryLeast},
	{"repeat", "every large command is run 1,000 times at a memory limit of 300 MiB", repeated},
	{"browser", "a web page posts commands", posted},
	{"flush", "all keys of three nodes are deleted 1,000 times, through each in turn", flushed},
	{"flush1", "all keys of a node that is alone are deleted 1,000 times", flushedAlone},
}

// killed kills a node that has just acknowledged writes.
func killed(ctx context.Context, s *stage) error {
	n, err := s.single(ctx)
	for range 5 {
		if err == nil {
			err = s.write(n, 2000, 100)
		}
		if err == nil {
			err = n.Kill()
		}
		if err == nil {
			err = s.restart(ctx, n)
		}
	}
	return err
}

// hungUp sends SIGHUP, which must not end the node.
func hungUp(ctx context.Context, s *stage) error {
	n, err := s.single(ctx)
	if err != nil {
		return err
	}
	if err := s.write(n, 1000, 100); err != nil {
		return err
	}
	for range 3 {
		if err := n.Signal(syscall.SIGHUP); err != nil {
			return err
		}
		time.Sleep(300 * time.Millisecond) // a node that ends does so meanwhile
	}
	if err := s.check(n); err != nil {
		return err
	}
	return n.Stop()
}

// stopAll stops all nodes in order, the last first.
func stopAll(s *stage) error { return cluster.StopProcesses(s.crew) }
