package typegate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
)

const (
	// timeout bounds the wait of a command for the agreement.
	timeout = 5 * time.Second
	// pause is between two looks at what the nodes have agreed on.
	pause = 10 * time.Millisecond
	// body is what is agreed on: the types by the names that TYPE has for them.
	body = "ReJSON-RL MBbloom--"
)

// A Gate is that of one server. Its methods may be called from several goroutines at once.
type Gate struct {
	// Values returns what the nodes agree on, as this server knows it.
	Values func() *agreed.Values
	// Agree changes it. nil: the server is not part of a cluster, and the gate is open.
	Agree func(ctx context.Context, change agreed.Change) error

	open atomic.Bool
}

// Open returns nil once the nodes have agreed, which it proposes if need be, or why values of these types are not
// possible. It may be called by a unit that holds latches: the agreement waits for no unit, and it is needed once in the
// life of a cluster.
func (g *Gate) Open(mayWait func()) error {
	if g.open.Load() || g.Agree == nil || g.isAgreed() {
		return nil
	}
	if mayWait != nil {
		mayWait()
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	err := g.Agree(ctx, agreed.Change{Name: agreed.TypesName, Body: body})
	for errors.Is(err, agreed.ErrChanged) && ctx.Err() == nil && !g.isAgreed() { // another node was first
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	if err == nil || g.isAgreed() {
		g.open.Store(true)
		return nil
	}
	return errors.New("JSON values and filters are not possible yet: " + err.Error()) // nothing is written: no outcome is open
}

func (g *Gate) isAgreed() bool {
	if g.Values().Of(agreed.TypesName).Version == 0 {
		return false
	}
	g.open.Store(true)
	return true
}
