package importer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/identity"
)

// beginAnew says what can be done about a state file that does not fit. Where the target is to be like another source, that
// copies all keys anyway.
const beginAnew = "name another state file, or delete this one to copy all keys into an empty target"

// identify learns what the sides are, and returns an error if the state file is of other ones or of other keys. A resumed
// import skips the check that the target is empty, and deletes keys that the source does not have: so it must not write
// before.
func (f *follower) identify(ctx context.Context) error {
	p := patience{most: f.cfg.RetryFor}
	target, err := f.target.identity(ctx, p)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	source, err := f.source.identity(ctx, p)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if source.Generation != "" && source.Same(target) {
		return fmt.Errorf("source: %w: %v", ErrSame, source)
	}
	if err := f.refuseCircle(ctx, target); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	keys, was := f.cfg.Filter.describe(), &f.state
	if f.resumed {
		refuse := func(format string, args ...any) error {
			return fmt.Errorf("state file %s: %w: %s", f.cfg.State, ErrState, fmt.Sprintf(format, args...))
		}
		isSame, err := f.isSource(ctx, source)
		switch {
		case err != nil:
			return fmt.Errorf("source: %w", err)
		case !was.Target.Same(target):
			return refuse("it is of an import into %v; the target is %v: %s", was.Target, target, beginAnew)
		case !isSame:
			return refuse("it is of an import from %v, replication ID %q; the source is %v and does not continue that history: %s",
				was.Source, was.ReplicationID, source, beginAnew)
		case was.Keys != keys:
			return refuse("the import takes %s, not %s: %s", was.Keys, keys, beginAnew)
		case was.Merge && !f.cfg.Merge:
			return refuse("the import lets other keys of the target stay, which would be deleted now: it needs merge again")
		}
	}
	was.Source, was.Target, was.Keys, was.Merge = source, target, keys, f.cfg.Merge
	return nil
}

// refuseCircle returns an error if the source is a replica of the target, itself or by way of others: each change would go
// round for ever, and one that removes keys could leave none anywhere. A server on the way that does not say what it is
// is not looked behind.
func (f *follower) refuseCircle(ctx context.Context, target identity.Server) error {
	ctx, cancel := context.WithTimeout(ctx, circleTimeout)
	defer cancel()
	at, cfg := f.source, f.cfg.Source
	for range circleHops {
		ring, err := at.ring(ctx, 0)
		if err != nil {
			return nil //nolint:nilerr // it does not say
		}
		info, err := ring.Do(ctx, "INFO", "replication").Text()
		if err != nil || identity.Field(info, "role") != "slave" {
			return nil //nolint:nilerr // likewise
		}
		cfg.Addrs = []string{net.JoinHostPort(identity.Field(info, "master_host"), identity.Field(info, "master_port"))}
		at = newCluster(cfg)
		defer at.close()
		if server, err := at.identity(ctx, patience{most: 1}); err == nil && server.Generation != "" && server.Same(target) {
			return fmt.Errorf("%w: the source is a replica of it", ErrSame)
		}
	}
	return nil
}

const (
	// circleTimeout is how long servers on a way of replicas are asked, and circleHops how many at most.
	circleTimeout = 2 * time.Second
	circleHops    = 8
)

// isSource reports whether a source is that of the state file: the same cluster of Ringside, the same address, or a server
// that continues the history of the one before, as a new primary does after a failover. A server that was restarted may
// have begun another history; at the same address it is taken for the same.
func (f *follower) isSource(ctx context.Context, source identity.Server) (bool, error) {
	was := &f.state
	if was.Source.Generation != "" && source.Generation != "" || was.Source.Addr == source.Addr {
		return was.Source.Same(source), nil
	}
	reply, err := must(ctx, f.finder.source, f.cfg.RetryFor, []byte("INFO"))
	if err != nil {
		return false, err
	}
	info, err := reply.Text()
	if err != nil || was.ReplicationID == "" {
		return false, err
	}
	// Before Redis 4.0 the ID is that of the process.
	histories := []string{identity.Field(info, "master_replid"), identity.Field(info, "master_replid2"), identity.Field(info, "run_id")}
	return slices.Contains(histories, was.ReplicationID), nil
}

// Target asks what keys are written to by a configuration, so that a caller can tell targets apart. It waits for a node
// that is not part of a cluster yet, for RetryFor.
func Target(ctx context.Context, cfg Config) (identity.Server, error) {
	cfg.EnsureDefaults()
	target := newCluster(cfg.Target)
	defer target.close()
	s, err := target.identity(ctx, patience{most: cfg.RetryFor})
	if err != nil {
		err = fmt.Errorf("target: %w", err)
	}
	return s, err
}

// identity asks the server, or one of the cluster, what it is.
func (c *cluster) identity(ctx context.Context, p patience) (identity.Server, error) {
	ring, err := c.ring(ctx, 0)
	if err != nil {
		return identity.Server{}, err
	}
	for {
		s, err := identity.Parse(ring.Do(ctx, identity.Command...), c.cfg.Addrs[0])
		if err == nil || !errors.Is(err, identity.ErrNoCluster) && judge(ctx, err) != later {
			return s, err
		}
		if err := p.wait(ctx, err); err != nil {
			return s, err
		}
	}
}

// checkKeys looks at the keys that the target of some imports has, before they write. A target that has some is refused
// at the beginning. A target that has none when an import is resumed was emptied meanwhile: all keys are copied again.
func checkKeys(ctx context.Context, all []*follower) error {
	if len(all) == 0 {
		return nil
	}
	first := all[0]
	ring, err := first.target.ring(ctx, 0)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	used, err := databasesOf(ctx, ring, patience{most: first.cfg.RetryFor})
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	used = slices.DeleteFunc(used, func(m int) bool { return !first.cfg.Filter.reaches(m) })
	resumed := slices.ContainsFunc(all, func(f *follower) bool { return f.resumed })
	switch {
	case len(used) == 0:
		for _, f := range all {
			if f.state.Loaded {
				f.state.Loaded = false
				f.cfg.Stats.note("the target had no keys, though the import was resumed: all keys were copied again")
			}
		}
	case !resumed && first.cfg.Replace:
		for _, f := range all {
			f.resumed = true // so what the source does not have is deleted behind the first copy
		}
	case !resumed && !first.cfg.Merge:
		return fmt.Errorf("%w: database %d has keys; empty it, or let them stay with merge", ErrNotEmpty, used[0])
	}
	return nil
}

// beginCopy notes that all keys are being copied, as of a place in the stream of the source.
func (s *State) beginCopy(replicationID string, offset int64) {
	s.ReplicationID, s.Offset, s.Database, s.Loaded = replicationID, offset, 0, false
}
