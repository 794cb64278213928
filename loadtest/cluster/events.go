package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/ring/strategy"
)

// ErrClosed says that the fleet is closed, or is being closed.
var ErrClosed = errors.New("cluster: closed")

// begin begins an event: one at a time, until the fleet is closed.
func (f *Cluster) begin(ctx context.Context) (context.Context, func(), error) {
	f.events.Lock()
	if f.ctx.Err() != nil {
		f.events.Unlock()
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, patient)
	ctx, abandon := context.WithCancelCause(ctx)
	stop := context.AfterFunc(f.ctx, func() { abandon(ErrClosed) })
	return ctx, func() {
		stop()
		abandon(nil)
		cancel()
		f.events.Unlock()
	}, nil
}

// Join starts n further nodes, all at a time, and returns once all are in the cluster, with
// their ids: n1, n2 and so on, of which none comes twice. Whatever moves to them moves after
// that. With an error, some may be in it.
func (f *Cluster) Join(ctx context.Context, n int) ([]string, error) {
	ctx, end, err := f.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	var fresh []*member
	f.mu.Lock()
	if n < 1 || len(f.members)+n > MostNodes {
		f.mu.Unlock()
		return nil, fmt.Errorf("cluster: %d more nodes than %d are not within 1..%d", n, len(f.members), MostNodes)
	}
	for range n {
		f.joined++
		id := fmt.Sprint("n", f.joined)
		fresh = append(fresh, &member{id: id, number: f.joined, dir: filepath.Join(f.dir, id)})
	}
	f.mu.Unlock()
	return f.bring(ctx, fresh)
}

// Restart starts all those again that were killed, at their addresses and with their data,
// and returns once they are in the cluster, with their ids.
func (f *Cluster) Restart(ctx context.Context) ([]string, error) {
	ctx, end, err := f.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	back := f.those(dead)
	if len(back) == 0 {
		return nil, errors.New("cluster: restart: no node is dead")
	}
	return f.bring(ctx, back)
}

// bring starts members and waits until they are in the cluster. The very first founds it.
func (f *Cluster) bring(ctx context.Context, all []*member) (ids []string, err error) {
	for _, m := range all {
		ids = append(ids, m.id)
	}
	rest := all
	if len(f.those(up)) == 0 {
		if err := f.run(ctx, all[0], nil); err != nil {
			return nil, err
		}
		rest = all[1:]
	}
	join := f.gossip()
	faults := make(chan error, len(rest))
	for _, m := range rest {
		go func() { faults <- f.run(ctx, m, join) }()
	}
	for range rest {
		err = errors.Join(err, <-faults)
	}
	if err != nil {
		return nil, err
	}
	if err := until(ctx, look, func(ctx context.Context) error { return f.notIn(ctx, ids) }); err != nil {
		return ids, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range all {
		m.ready = true
	}
	return ids, nil
}

// Leave has n nodes hand over all that they have. It returns once the cluster knows, with
// their ids; each ends when it has nothing left, and is no member of the fleet any more then.
// The seed draws who leaves.
func (f *Cluster) Leave(ctx context.Context, n int) ([]string, error) {
	ctx, end, err := f.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	candidates := f.draw(f.those(up))
	if n < 1 || n >= len(candidates) {
		return nil, fmt.Errorf("cluster: leave: %d of %d nodes cannot leave", n, len(candidates))
	}
	var ids []string
	for _, m := range candidates[:n] {
		f.put(m, leaving) // before it can end
		// An order may come while those who decide are choosing a leader.
		err := until(ctx, look, func(ctx context.Context) error {
			if _, err := f.access().ask(ctx, m.at.client, "RING", "LEAVE"); err != nil {
				return fmt.Errorf("%s does not leave: %w", m.id, err)
			}
			return nil
		})
		if err != nil {
			f.put(m, up)
			return ids, err
		}
		ids = append(ids, m.id)
	}
	return ids, nil
}

// Kill ends n nodes as kill -9 does, or a loss of power, and returns their ids. They keep
// their directories, for [Fleet.Restart].
//
// The seed draws who dies: of several placements with the same nodes the same die. But
// those are avoided with whom the last copy of something would die, as far as that can be.
func (f *Cluster) Kill(ctx context.Context, n int) ([]string, error) {
	ctx, end, err := f.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	candidates := f.draw(f.those(up))
	if n < 1 || n >= len(candidates) {
		return nil, fmt.Errorf("cluster: kill: %d of %d nodes cannot be killed", n, len(candidates))
	}
	p, err := f.placement(ctx, candidates[0].at.client)
	if err != nil {
		return nil, fmt.Errorf("cluster: kill: %w", err)
	}
	f.lookOnce(ctx) // what they have done until now is not known to others
	var ids []string
	for _, m := range victims(candidates, n, p) {
		f.put(m, dead)
		m.body.Kill()
		ids = append(ids, m.id)
	}
	return ids, nil
}

// Switch has the cluster switch to another strategy, with settings as RING STRATEGY takes them, and
// returns once that is agreed; the data moves after that. It does nothing if the strategy is in force.
func (f *Cluster) Switch(ctx context.Context, to []string) error {
	ctx, end, err := f.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	present := f.strategy()
	next, err := present.With(to[0], to[1:])
	if err != nil || next == present {
		return err
	}
	err = f.order(ctx, append([]string{"RING", "STRATEGY"}, to...), func(ctx context.Context, addr string, _ error) bool {
		return f.isPlacedBy(ctx, addr, next)
	})
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.placing, f.evened = next, false
	}
	return err
}

// EvenLoad has the cluster even the load on its nodes once, and returns when that is agreed; data moves after
// that. It does nothing if the load is as even as it can be.
func (f *Cluster) EvenLoad(ctx context.Context) error {
	ctx, end, err := f.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	err = f.order(ctx, []string{"RING", "BALANCE", "LOAD", "ONCE"}, func(_ context.Context, _ string, err error) bool {
		return strings.Contains(err.Error(), "nothing would make the load more even")
	})
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.evened = true
	}
	return err
}

// order sends a command to a node that is up, until the reply is no error or done reports that nothing
// is left to do.
func (f *Cluster) order(ctx context.Context, words []string, done func(ctx context.Context, addr string, err error) bool) error {
	return until(ctx, look, func(ctx context.Context) error {
		all := f.those(up)
		if len(all) == 0 {
			return errNobody
		}
		addr := all[0].at.client
		_, err := f.access().ask(ctx, addr, words...)
		if err != nil && done(ctx, addr, err) {
			return nil
		}
		return err
	})
}

// isPlacedBy reports whether a node names a strategy with its settings as that of the cluster. An order
// whose reply was lost may have been carried out.
func (f *Cluster) isPlacedBy(ctx context.Context, addr string, by strategy.Config) bool {
	text, err := f.access().ask(ctx, addr, "RING", "STRATEGY")
	of := readFigures(text)
	for _, setting := range strategy.Settings(by.Name) {
		if of[strings.ReplaceAll(setting, "-", "_")] != by.Setting(setting) {
			return false
		}
	}
	return err == nil && of["strategy"] == by.Name
}

// strategy is the one in force.
func (f *Cluster) strategy() strategy.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.placing
}

// put notes the state that a member is in from now on.
func (f *Cluster) put(m *member, s state) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.state = s
}

// those are the members in a state, in the order in which they joined.
func (f *Cluster) those(s state) []*member {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*member
	for _, m := range f.members {
		if m.state == s {
			all = append(all, m)
		}
	}
	return all
}

// gossip are the addresses at which others find the cluster.
func (f *Cluster) gossip() []string {
	var all []string
	for _, m := range f.those(up) {
		all = append(all, m.at.gossip)
	}
	return all
}

const (
	look    = 25 * time.Millisecond // between two looks at nodes that start
	lookAll = 50 * time.Millisecond // between two looks at a whole cluster
	patient = 2 * time.Minute       // for what does not depend on how much data there is
)

var errNobody = errors.New("no node is up")

func (f *Cluster) access() access { return access{password: f.cfg.Password} }

// until is poll, with an error of this package.
func until(ctx context.Context, every time.Duration, holds func(context.Context) error) error {
	if err := poll(ctx, every, holds); err != nil {
		return fmt.Errorf("cluster: waited in vain: %w", err)
	}
	return nil
}
