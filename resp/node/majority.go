package node

import "time"

const (
	// majorityAfter is for how long a node without a lease, or a proxy, must know no leader before
	// its clients are refused at once: an election takes less.
	majorityAfter = 2 * time.Second
	majorityCheck = 250 * time.Millisecond
)

// watchMajority updates the routes when this node has certainly lost the majority, and when it is
// back. In between requests fail at once.
func (rd *readiness) watchMajority() {
	tick := time.NewTicker(majorityCheck)
	defer tick.Stop()
	var since time.Time
	for {
		select {
		case <-rd.c.ctx.Done():
			return
		case now := <-tick.C:
			leader, _ := rd.c.table.Leader()
			leased := rd.c.n.cfg.Role != RoleProxy && rd.c.engine.Lease().Valid() // a proxy needs no lease
			if leader != "" || !rd.c.entry.entered.Load() || leased {
				since = time.Time{}
			} else if since.IsZero() {
				since = now
			}
			if away := !since.IsZero() && now.Sub(since) >= majorityAfter; away != rd.isolated.Load() {
				rd.isolated.Store(away)
				rd.c.mu.Lock()
				if rd.c.routed {
					rd.c.routeLocked()
				}
				rd.c.mu.Unlock()
			}
		}
	}
}
