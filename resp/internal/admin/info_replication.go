package admin

import (
	"fmt"
	"math"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/internal/psync"
	"github.com/ringside-kv/ringside/resp/internal/replicaof"
)

// Replication writes the section Replication: the nodes that are backups, by their addresses, and replicas of Redis.
// good is how many backups each range has at least; below 0 it is not shown. followed is the server that the cluster is a
// replica of.
func (w *Info) Replication(followed *replicaof.Status, backups []string, good int, o psync.Overview, runID string) {
	if followed.Replica {
		w.followed(followed)
	} else {
		w.Line("role", "master")
	}
	w.Line("connected_slaves", len(backups)+len(o.Replicas))
	if good >= 0 {
		w.Line("min_slaves_good_slaves", good)
	}
	for i, addr := range backups {
		at := placement.SplitAddr(addr)
		w.Line(fmt.Sprint("slave", i), fmt.Sprintf("ip=%s,port=%d,state=online,offset=0,lag=0", at.Host, at.Port))
	}
	for i, r := range o.Replicas {
		w.Line(fmt.Sprint("slave", len(backups)+i), fmt.Sprintf("ip=%s,port=%d,state=%s,offset=%d,lag=%d",
			r.Host, r.Port, r.State, r.Offset, r.Lag/time.Second))
	}
	id, active, start, length := runID, 0, int64(0), o.End-o.Start
	if o.ID != "" {
		id, active, start = o.ID, 1, o.Start+1
	}
	w.Line("master_failover_state", "no-failover")
	w.Line("master_replid", id)
	w.Line("master_replid2", "0000000000000000000000000000000000000000")
	w.Line("master_repl_offset", o.End)
	w.Line("second_repl_offset", -1)
	w.Line("repl_backlog_active", active)
	w.Line("repl_backlog_size", o.Backlog)
	w.Line("repl_backlog_first_byte_offset", start)
	w.Line("repl_backlog_histlen", length)
}

// followed writes how a replica is getting on. Only the node that copies knows that.
func (w *Info) followed(s *replicaof.Status) {
	w.Line("role", "slave")
	w.Line("master_host", s.Host)
	w.Line("master_port", s.Port)
	w.Line("copying_node", s.Node)
	if s.Here {
		link, silent := "down", -1
		if s.Following {
			link = "up"
		}
		if s.Silent >= 0 {
			silent = int(min(s.Silent/time.Second, math.MaxInt32))
		}
		w.Line("master_link_status", link)
		w.Line("master_last_io_seconds_ago", silent)
		w.Line("master_sync_in_progress", Bit(s.Copying))
		w.Line("slave_read_repl_offset", s.Received)
		w.Line("slave_repl_offset", s.Applied)
		if s.Copying && s.Total > 0 {
			w.Line("master_sync_total_bytes", s.Total)
			w.Line("master_sync_read_bytes", s.Read)
			w.Line("master_sync_left_bytes", s.Total-s.Read)
		}
		if !s.Following {
			w.Line("master_link_down_since_seconds", int64(s.Down/time.Second))
		}
		w.Line("keys_not_copied", s.Lost)
	}
	w.Line("slave_priority", 100)
	w.Line("slave_read_only", 1)
	w.Line("replica_announced", 1)
}
