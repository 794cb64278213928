package node

import (
	"os"
	"path/filepath"

	"github.com/ringside-kv/ringside/internal/machine"
	"github.com/ringside-kv/ringside/resp/node/internal/lastrun"
)

// lockFile is held by the store as long as it is open. It is created once, and renaming
// the directory keeps it.
const lockFile = "LOCK"

// beginRun records that the node runs, and as which start, before it can acknowledge a write and
// before another node hears of it.
func (n *Node) beginRun() error {
	if err := os.MkdirAll(n.cfg.Dir, 0o700); err != nil {
		return err
	}
	last, err := lastrun.Load(n.cfg.Dir)
	if err != nil {
		return err
	}
	if known, err := lastrun.Exists(n.cfg.Dir); err != nil {
		return err
	} else if known && last.Format == 0 {
		n.cfg.Logger.Warn("the file about the last start is damaged: the last acknowledged writes may be missing here",
			"node", n.id, "file", filepath.Join(n.cfg.Dir, lastrun.File))
	}
	now := n.cfg.env.Wall()
	if n.cfg.Role == RoleStore {
		n.run = last.Next(now, lastrun.Conditions{Boot: machine.BootID(), Place: machine.FileIdentity(filepath.Join(n.cfg.Dir, lockFile)), LogFailed: n.store.LogFailed()}, n.store.Fsync())
		if n.run.Copied && n.run.Lost {
			n.cfg.Logger.Warn("the directory was copied while its node ran, or after a crash: writes acknowledged since then may be missing",
				"node", n.id, "dir", n.cfg.Dir)
		}
	} else { // which has nothing to lose
		n.run = lastrun.Run{Format: lastrun.Format, Incarnation: last.NextIncarnation(now)}
		if n.cfg.Role == RoleWitness { // which votes
			n.run.Place = machine.FileIdentity(filepath.Join(n.cfg.raftDir(), "raft.db"))
			n.run.Copied = last.Copied || last.CopiedTo(n.run.Place)
			n.run.Apart, n.run.Bus = last.Apart || machine.IsFileCopy(last.Place, n.run.Place), last.Bus
		}
	}
	if err := n.run.Save(n.cfg.Dir); err != nil {
		return err
	}
	if n.store.LogFailed() {
		n.cfg.Logger.Warn("the log of the store had failed before the last process ended: the last acknowledged writes may be missing here", "node", n.id)
		if err := n.store.ForgetLogFailure(); err != nil {
			n.cfg.Logger.Warn("clearing the note about the failed log failed: the next start will report it again", "node", n.id, "err", err)
		}
	}
	return nil
}

// runRegistered notes that the cluster knows of this run, and where other nodes reach it.
func (n *Node) runRegistered(incarnation uint64, bus string) error {
	if n.cfg.Role == RoleProxy {
		return nil
	}
	n.run.Copied, n.run.Apart, n.run.Bus = false, false, bus
	if n.cfg.Role == RoleStore {
		n.run.Registered, n.run.Lost = incarnation, false
	} else if n.run.Place == "" {
		n.run.Place = machine.FileIdentity(filepath.Join(n.cfg.raftDir(), "raft.db")) // there was none at the start
	}
	return n.run.Save(n.cfg.Dir)
}

// endRun notes that all is durable, as the last thing that the node does.
func (n *Node) endRun() error {
	if n.cfg.Role != RoleStore {
		return nil
	}
	n.run.Stopped = true
	return n.run.Save(n.cfg.Dir)
}
