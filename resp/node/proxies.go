package node

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
)

const (
	// proxyForget is how long a proxy may be away before the cluster forgets it. It has no data
	// and no vote, so it is back as soon as it is started again.
	proxyForget = 5 * time.Minute
	// proxyLook is the time between two looks at which proxies are away.
	proxyLook = 5 * time.Second
	// proxyLeave is how long a proxy that stops may take to say so.
	proxyLeave = 3 * time.Second
)

// forgetProxies has the cluster forget proxies that have been away for proxyForget, while this node
// leads. A new leader starts to count from zero.
func (c *cluster) forgetProxies() {
	tick := time.NewTicker(proxyLook)
	defer tick.Stop()
	away := make(map[string]time.Time) // when a proxy was first seen to be away
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		if _, self := c.table.Leader(); !self {
			clear(away)
			continue
		}
		now := time.Now()
		seen := c.awayProxies()
		for id := range away {
			if !seen[id] {
				delete(away, id)
			}
		}
		for id := range seen {
			if _, known := away[id]; !known {
				away[id] = now
			}
			if now.Sub(away[id]) < proxyForget {
				continue
			}
			ctx, cancel := context.WithTimeout(c.ctx, enterTimeout)
			err := forgetProxy(ctx, c, id)
			cancel()
			if err != nil {
				c.n.cfg.Logger.Info("forgetting a proxy that is away failed, trying again", "node", id, "err", err)
				continue
			}
			c.n.cfg.Logger.Info("forgot a proxy that was away", "node", id, "after", proxyForget)
			delete(away, id)
		}
	}
}

// forgetProxy removes a proxy, which the table may not know.
func forgetProxy(ctx context.Context, c *cluster, id string) error {
	if n, known := c.table.State().Node(id); known && n.State != table.Gone {
		return forgetNode(ctx, c, n)
	}
	return c.members.Forget(id)
}

// awayProxies returns the proxies that the table or the gossip knows and that are not there.
func (c *cluster) awayProxies() map[string]bool {
	away := make(map[string]bool)
	for _, n := range c.table.State().Nodes() {
		if n.Role == table.Proxy && n.State != table.Gone && !c.alive(n.ID) {
			away[n.ID] = true
		}
	}
	for _, m := range c.members.Nodes() {
		if m.Role == members.RoleProxy && m.Status == members.Failed {
			away[m.ID] = true
		}
	}
	return away
}

// withdraw has the cluster forget this node at once if it is a proxy, which stops. Its
// directory keeps what it needs to join again.
func (c *cluster) withdraw() {
	if c.n.cfg.Role != RoleProxy {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), proxyLeave)
	defer cancel()
	// The proxy is put out of the group once the table has forgotten it, and may never hear
	// of that.
	c.departure.withdrawing.Store(true)
	var err error
	if n, known := c.table.State().Node(c.n.id); known && n.Incarnation == c.incarnation {
		forget, end := context.WithTimeout(ctx, proxyLeave/3)
		_, err = c.table.Decide(forget, &table.Forget{Node: c.n.id, Incarnation: c.incarnation})
		end()
	}
	if leaveErr := c.members.Withdraw(ctx); leaveErr != nil {
		err = leaveErr
	}
	if err != nil {
		c.n.cfg.Logger.Info("leaving the cluster failed: the other nodes forget this proxy later", "node", c.n.id, "after", proxyForget, "err", err)
	}
}
