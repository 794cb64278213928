package members

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/serf/serf"
)

// Forget makes all nodes forget one that has failed and will not come back, so that
// one of the same id may begin anew, from incarnation 1; otherwise they do so a day
// after its failure. It waits until the word is out. A node that is alive, or
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
		if l, err := parseLife(member.Name); err != nil || l.id != id || member.Status != serf.StatusFailed && member.Status != serf.StatusLeft {
			continue
		}
		if err := m.serf.RemoveFailedNodePrune(member.Name); err != nil {
			errs = append(errs, fmt.Errorf("members: forget %.300q: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// forgetting lets Serf forget earlier lives of a node that is there again.
type forgetting struct{ m *Members }

// ReconnectTimeout implements [serf.ReconnectTimeoutOverrider]. Serf calls it with its
// locks held.
func (f forgetting) ReconnectTimeout(member *serf.Member, timeout time.Duration) time.Duration {
	l, err := parseLife(member.Name)
	v := f.m.view.Load()
	if err != nil || v == nil {
		return timeout
	}
	if latest, ok := v.lives[l.id]; ok && latest != l {
		return f.m.cfg.Timing.Forget
	}
	return timeout
}
