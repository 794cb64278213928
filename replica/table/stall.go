package table

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
)

// The library's heartbeats do not depend on the leader's disk. A leader whose disk stalls
// decides nothing, and keeps all others from deciding anything. So this server stops sending
// as a leader once its disk has not answered for StallTimeout: the others hear of no leader,
// elect one, and no lease is granted here, since no majority confirms this leader. It goes on
// by itself when its disk answers.
//
// It does so only if other voters, a majority of all, have just made some bytes durable, within a
// time in which one of them can win an election. Where most disks stall, or all are slow, an election
// needs more writes than the entry that is waited for, and fails: the leader stays, leases go on, and
// all goes on when the disks do. A server that follows waits in any case.
//
// The process need not end for any of that. It ends when its disk has not answered for
// EndTimeout while those of such a majority work. Until then gossip says that the node is there, so
// its ranges get no other copies. Where others cannot go on alone, ending only takes a copy away.

// diskCheckFile is the name in Config.Dir under which checkDisk writes.
const diskCheckFile = "disk-check"

// watchDisk runs on every node until the table is closed.
func (t *Table) watchDisk() {
	tick := time.NewTicker(t.cfg.HeartbeatTimeout)
	defer tick.Stop()
	stalled, ended := false, false
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-tick.C:
		}
		pending := t.writes.pending()
		if pending < t.cfg.StallTimeout {
			if stalled {
				t.cfg.Logger.Info("the disk with the table of the cluster answers again", "node", t.cfg.ID)
			}
			stalled = false
			t.silent.Store(false)
			continue
		}
		if !stalled {
			stalled = true
			t.cfg.Logger.Warn("the disk with the table of the cluster does not answer", "node", t.cfg.ID, "for", pending.Round(time.Millisecond))
		}
		leads := t.raft.State() == raft.Leader && !t.silent.Load()
		ends := pending >= t.cfg.EndTimeout && !ended
		if !leads && !ends {
			continue
		}
		if _, decide := t.workingVoters(0); !decide {
			continue
		}
		if leads {
			t.cfg.Logger.Warn("this node gives up the leadership: its disk does not answer, and those of a majority do", "node", t.cfg.ID)
			t.silent.Store(true)
		}
		if ends {
			ended = true
			t.cfg.Stalled()
		}
	}
}

// TransferLeadershipFromStalledDisk hands the leadership, if this node has it, to a voter whose disk
// works. It is for a node whose data disk stalls, and whose Raft disk does not.
func (t *Table) TransferLeadershipFromStalledDisk(ctx context.Context) error {
	if _, isSelf := t.Leader(); !isSelf || t.writes.pending() > 0 {
		return nil
	}
	return t.ask(ctx, "cede the leadership", func() error {
		voter, decide := t.workingVoters(1) // this one's own Raft disk works
		if !decide {
			return fmt.Errorf("too few disks of other voters are known to work")
		}
		return t.transferTo(voter)
	})
}

// workingVoters asks the other voters to make something durable. It returns one that has, and whether
// those that have are a majority of all voters together with so many beside them.
func (t *Table) workingVoters(beside int) (one raft.Server, majority bool) {
	// As long as a candidate waits for votes, which the voters have to store.
	ctx, cancel := context.WithTimeout(t.ctx, t.cfg.ElectionTimeout/2)
	defer cancel()
	working := make(chan raft.Server)
	voters, asked := 0, 0
	for _, s := range t.servers() {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if string(s.ID) == t.disk.server {
			continue
		}
		asked++
		go func() {
			reply, err := t.cfg.Forward(ctx, string(s.Address), []byte{messageDisk})
			if err != nil || len(reply) != 1 || reply[0] != replyDisk {
				s = raft.Server{}
			}
			working <- s
		}()
	}
	for range asked {
		if s := <-working; s.ID != "" {
			one = s
			beside++
		}
		if beside > voters/2 {
			cancel() // the others need not answer
		}
	}
	return one, one.ID != "" && beside > voters/2
}

// checkDisk makes some bytes durable in the table's directory.
func (t *Table) checkDisk(ctx context.Context) error {
	if err := t.mayStand(); err != nil {
		return err
	}
	// On a disk that does not answer, one check waits at a time.
	if !t.checking.CompareAndSwap(false, true) {
		return errStalled
	}
	done := make(chan error, 1)
	started := t.tasks.start(func() {
		defer t.checking.Store(false)
		done <- t.writeCheck()
	})
	if !started {
		t.checking.Store(false)
		return ErrClosed
	}
	// workingVoters does not wait for longer.
	ctx, cancel := context.WithTimeout(ctx, t.cfg.ElectionTimeout)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errStalled
	}
}

func (t *Table) writeCheck() error {
	if before := t.cfg.Hooks.Write; before != nil {
		if err := before(); err != nil {
			return err
		}
	}
	if t.cfg.Dir == "" {
		return nil
	}
	path := filepath.Join(t.cfg.Dir, diskCheckFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	_, err = f.WriteString("The table writes here to see whether the disk answers.\n")
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// silencedTransport sends no leader's request while the table is silenced.
type silencedTransport struct {
	raft.Transport
	table *Table
}

// AppendEntries implements raft.Transport.
func (q *silencedTransport) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if q.table.silent.Load() {
		return errStalled
	}
	return q.Transport.AppendEntries(id, target, args, resp)
}

// RequestPreVote implements raft.WithPreVote.
func (q *silencedTransport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t, ok := q.Transport.(raft.WithPreVote); ok {
		return t.RequestPreVote(id, target, args, resp)
	}
	return errNoPreVote
}

// Close implements raft.WithClose.
func (q *silencedTransport) Close() error {
	if c, ok := q.Transport.(raft.WithClose); ok {
		return c.Close()
	}
	return nil
}
