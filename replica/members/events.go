package members

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/hashicorp/serf/serf"
)

// eventRoom is more than Serf can still have on its way, 1024 and the one in its hand,
// when it is shut down and events are not read any more: the goroutine that
// sends them would never end if it found no room.
const eventRoom = 2048

// drainEvents takes Serf's events off. Serf sends them while it holds its locks, so that it
// stands still when this does; therefore it takes no lock that another may hold for
// long, and only leaves a note for follow. It runs until Serf has been shut down.
func (m *Members) drainEvents() {
	for {
		select {
		case event := <-m.events:
			if e, ok := event.(serf.UserEvent); ok && e.Name == forgetEvent {
				m.forgotten.add(string(e.Payload))
			}
			signal(m.changed)
		case <-m.drained:
			for len(m.events) > 0 {
				<-m.events
			}
			return
		}
	}
}

// updateViews makes views of what Serf knows and tells of them. It may wait for Serf's
// locks, since drain does not.
func (m *Members) updateViews() {
	failed := time.NewTimer(0)
	defer failed.Stop()
	for {
		select {
		case <-m.changed:
			m.updateView()
		case <-failed.C:
		case <-m.ctx.Done():
			return
		}
		if again := m.logFailures(); again > 0 {
			failed.Reset(again)
		}
	}
}

// updateView makes a view, and all that follows from it. Several goroutines may call it.
func (m *Members) updateView() {
	m.viewMu.Lock() // a view never replaces one of later members
	defer m.viewMu.Unlock()
	members := m.forgotten.without(m.serf.Members())
	now, before := newView(members), m.view.Load()
	m.view.Store(now)
	m.metrics.show(now)
	m.checkReplaced(members)
	if before != nil && slices.Equal(before.nodes, now.nodes) {
		return
	}
	m.logChanges(before, now)
	m.watchers.notify()
	signal(m.peersChanged)
}

// checkReplaced looks for another node of the same id that goes before this one. One
// with a higher incarnation does even if it has failed since: it was there. One that
// left does not, nor does one that was forgotten.
func (m *Members) checkReplaced(members []serf.Member) {
	for _, member := range members {
		l, n, ok := memberNode(member)
		if !ok || l.id != m.self.id || l == m.self || n.Status == Left {
			continue
		}
		switch {
		case l.incarnation > m.self.incarnation,
			n.Status == Alive && compareStartIDs(l, m.self, true, true) > 0:
			m.fail(fmt.Errorf("%w: %s is also at %s, with incarnation %d; this one has %d and gives way",
				ErrReplaced, l.id, n.GossipAddr, l.incarnation, m.self.incarnation))
		case n.Status == Alive && l.incarnation == m.self.incarnation:
			m.log.Warn("another node has the same id and incarnation as this one; it is told to stop",
				slog.String("node", l.id), slog.String("addr", n.GossipAddr))
		}
	}
}

// fail tells of the first fault after which this node should not go on.
func (m *Members) fail(err error) {
	m.failOnce.Do(func() {
		m.log.Error("this node cannot take part in the cluster", slog.Any("err", err))
		m.fatal <- err // has room for one
	})
}

// logChanges logs what differs between two views. The caller locks viewMu.
func (m *Members) logChanges(before, now *view) {
	for _, n := range now.nodes {
		var old Node
		if before != nil {
			old, _ = before.find(n.ID)
		}
		if old.Generation = n.Generation; old == n || n.ID == m.self.id && old.Status == 0 {
			continue // nothing that others would want to know, or this node's own start
		}
		if n.Status != Failed {
			delete(m.failures, n.ID)
		}
		what := "node changed"
		switch {
		case n.Status == Failed && old.Status != Failed:
			m.failures[n.ID] = time.Now() // logged unless it turns out to have left
			continue
		case n.Status == Left && old.Status != Left:
			what = "node left"
		case n.Status == Alive && old.Status != Alive:
			what = "node is there"
		case n.Incarnation != old.Incarnation:
			what = "node has started anew"
		}
		m.log.Info(what, n.attrs()...)
	}
}

// attrs are what logs say of a node.
func (n *Node) attrs() []any {
	return []any{slog.String("node", n.ID), slog.Uint64("incarnation", n.Incarnation), slog.String("role", string(n.Role)), slog.String("addr", n.GossipAddr)}
}
