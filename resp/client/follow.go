package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// refreshPause is the time between two placements that are fetched whole, at least. A
// client that hears of a change by redirects does not wait for it.
const refreshPause = 200 * time.Millisecond

// publishPause is how long changes are gathered that come one by one.
const publishPause = time.Millisecond

// meetAny returns a session with the first of the nodes that answers; with one that does
// not know its cluster's placement yet only if no other does.
func (r *Ring) meetAny(ctx context.Context, addrs []string) (*session, error) {
	var errs []error
	var blank *session
	for _, addr := range addrs {
		s, err := r.meet(ctx, addr)
		switch {
		case err != nil:
			errs = append(errs, err)
		case s.blank() && blank == nil:
			blank = s
		case s.blank():
			_ = s.conn.Close()
		default:
			if blank != nil {
				_ = blank.conn.Close()
			}
			return s, nil
		}
	}
	if blank != nil {
		return blank, nil
	}
	return nil, errors.Join(errs...)
}

// follow keeps the owners up to date until the Ring closes.
func (r *Ring) follow(s *session) {
	pause := r.cfg.MinBackoff
	for {
		r.metrics.subscribed.Update(float64(bit(s.pushed)))
		err := r.heed(s)
		r.metrics.subscribed.Update(0)
		if r.ctx.Err() != nil {
			return
		}
		r.cfg.Logger.Warn("client: the connection for placement updates failed", "node", s.addr, "err", err)
		lost := s.addr
		for s = nil; s == nil; {
			if s, err = r.meetAny(r.ctx, r.candidates(lost)); err == nil {
				break
			}
			select {
			case <-time.After(pause/2 + rand.N(pause/2+1)):
			case <-r.ctx.Done():
				return
			}
			pause = min(2*pause, r.cfg.MaxBackoff)
		}
		pause = r.cfg.MinBackoff
		r.publish(s)
		r.cfg.Logger.Info("client: receiving placement updates from another node", "node", s.addr)
	}
}

// candidates are the nodes to ask, in any order, but first those that are connected, and last
// the one that has just failed.
func (r *Ring) candidates(failed string) []string {
	addrs := slices.Clone(r.cfg.Addrs)
	for _, to := range r.owners.Load().all {
		addrs = append(addrs, to.addr)
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	connected := make(map[string]bool)
	r.mu.Lock()
	for addr, to := range r.remotes {
		connected[addr] = to.connected()
	}
	r.mu.Unlock()
	slices.SortStableFunc(addrs, func(a, b string) int { return bit(connected[b]) - bit(connected[a]) })
	if i := slices.Index(addrs, failed); i >= 0 {
		addrs = append(slices.Delete(addrs, i, i+1), failed)
	}
	return addrs
}

// heed takes in what a node tells, until the connection ends.
func (r *Ring) heed(s *session) error {
	s.listen(r.ctx, r.cfg.Timeout)
	defer s.hush()
	poll := time.NewTicker(r.cfg.Poll)
	defer poll.Stop()
	var soon, now <-chan time.Time // to fetch, to publish
	fetched := time.Now()
	for {
		var fresh bool
		var err error
		select {
		case reply := <-s.arrived:
			if !reply.isPush() {
				return fmt.Errorf("%w: %v without a request", ErrReply, reply.kind)
			}
			s.pushes = append(s.pushes, reply)
		case err = <-s.ended:
			s.ended <- err
		case <-poll.C:
			fresh, err = r.poll(s)
		case <-r.again:
			if soon == nil {
				soon = time.After(refreshPause - time.Since(fetched))
			}
		case <-soon:
			soon = nil
			fresh, err = true, r.fetch(s)
			fetched = time.Now()
		case <-now:
			now = nil
			if s.known != nil && s.known.strangers() {
				s.known.addrs, err = s.nodes()
			}
			r.publish(s)
		case <-r.ctx.Done():
			return ErrClosed
		}
		if err != nil {
			return err
		}
		// Some may have come while something else was asked for.
		pushed, err := s.takePushes(r.metrics)
		if err != nil {
			return err
		}
		if fresh {
			r.publish(s)
		} else if pushed && now == nil {
			now = time.After(publishPause)
		}
	}
}

// poll fetches the placement if it is not the one that was fetched last. So it is also
// when its changes have been pushed since: there may have been more of them.
func (r *Ring) poll(s *session) (fresh bool, err error) {
	if s.plain {
		return false, r.fetch(s)
	}
	reply, err := s.do("RING", "INFO")
	if err != nil {
		return false, err
	}
	info, err := infoOf(reply)
	if err != nil {
		return false, err
	}
	if info["digest"] != s.digest || s.known != nil && s.known.strangers() {
		return true, r.fetch(s)
	}
	if s.known == nil {
		return false, nil
	}
	addrs, err := s.nodes() // nodes without data come and go without a change of the placement
	if err != nil || maps.Equal(addrs, s.known.addrs) {
		return false, err
	}
	s.known.addrs = addrs
	return true, nil
}
