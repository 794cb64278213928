package admin

import (
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/internal/psync"
)

// Replication writes the section Replication: the nodes that are backups, by their addresses, and replicas of Redis.
// good is how many backups each range has at least; below 0 it is not shown.
func (w *Info) Replication(backups []string, good int, o psync.Overview, runID string) {
	w.Line("role", "master")
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
