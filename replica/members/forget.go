package members

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/serf/serf"
)

// Forget makes all nodes forget one that has failed and will not come back, so that
// one of the same id may start, from incarnation 1; otherwise they do so a day
// after its failure. It waits until the word is out, and [Members.Node] does not know
// the node from then on. A node that is alive, or
// unknown, is an error: a live one would be there again at once.
func (m *Members) Forget(id string) error {
	if m.ctx.Err() != nil {
		return ErrClosed
	}
	node, ok := m.Node(id)
	switch {
	case !ok:
		return fmt.Errorf("members: forget %.300q: no such node", id)
	case node.Status == Alive:
		return fmt.Errorf("members: forget %.300q: it is alive", id)
	}
	var errs []error
	if err := m.forgetPeer(id); err != nil {
		errs = append(errs, fmt.Errorf("members: forget %.300q: %w", id, err))
	}
	for _, member := range m.serf.Members() {
		if l, err := parseStartID(member.Name); err != nil || l.id != id || !isOver(member) {
			continue
		}
		m.forgotten.add(member.Name) // Serf erases it later, in a goroutine of its own
		err := errors.Join(m.serf.UserEvent(forgetEvent, []byte(member.Name), false), m.serf.RemoveFailedNodePrune(member.Name))
		if err != nil {
			errs = append(errs, fmt.Errorf("members: forget %.300q: %w", id, err))
		}
	}
	m.updateView()
	return errors.Join(errs...)
}

// forgetEvent is Serf's user event that names a forgotten life. Serf's own word for it is
// not enough: it spreads once, so that nodes that are cut off then never hear it; and
// a node that hears before it, from another node's state, that the life has left, takes
// it for old. Events are repeated to nodes that missed them.
const forgetEvent = "forget"

// isOver reports that a life has failed or left, as far as this node knows.
func isOver(m serf.Member) bool {
	return m.Status == serf.StatusFailed || m.Status == serf.StatusLeft
}

// forgotten are the names of lives that this node was told to forget. Its lock is held
// for nothing that could wait.
type forgotten struct {
	mu    sync.Mutex
	names map[string]bool
}

func (f *forgotten) add(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil {
		f.names = map[string]bool{}
	}
	f.names[name] = true
}

// without returns members but for those that are forgotten, unless they are there
// after all. Names that Serf does not know any more do not come back, and are dropped.
func (f *forgotten) without(members []serf.Member) []serf.Member {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.names) == 0 {
		return members
	}
	for name := range f.names {
		if !slices.ContainsFunc(members, func(m serf.Member) bool { return m.Name == name }) {
			delete(f.names, name)
		}
	}
	return slices.DeleteFunc(members, func(m serf.Member) bool { return f.names[m.Name] && isOver(m) })
}

// reconnectPolicy lets Serf forget earlier lives of a node that is there again.
type reconnectPolicy struct{ m *Members }

// ReconnectTimeout implements [serf.ReconnectTimeoutOverrider]. Serf calls it with its
// locks held.
func (f reconnectPolicy) ReconnectTimeout(member *serf.Member, timeout time.Duration) time.Duration {
	l, err := parseStartID(member.Name)
	v := f.m.view.Load()
	if err != nil || v == nil {
		return timeout
	}
	if latest, ok := v.newest[l.id]; ok && latest != l {
		return f.m.cfg.Timing.Forget
	}
	return timeout
}
