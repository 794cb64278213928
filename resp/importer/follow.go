package importer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/identity"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A FollowConfig says how a source is followed. Source.Addrs has one address.
type FollowConfig struct {
	Config
	// Source is the server that the keys come from.
	Source client.Config
	// State is the file that remembers how far the import has come; empty: none does. A file of an import from
	// another source, into another target or of other keys is refused with ErrState.
	State string
	// Once ends when all has been taken that the source had when the first copy was complete.
	Once bool
	// Merge: the target may have other keys, which stay. Keys that are deleted at the source while the
	// import does not follow may then stay, too.
	Merge bool
	// Replace: the target may have other keys, which are deleted once those of the source are there, and other
	// libraries of functions, which are removed before.
	Replace bool
	// Copiers is how many connections' worth of changed keys are read at a time; default 8.
	Copiers int
	// MaxChanged is how many changed keys wait at most before the source has to; default 1 million.
	MaxChanged int
}

// EnsureDefaults fills in what is not set.
func (c *FollowConfig) EnsureDefaults() {
	c.Config.EnsureDefaults()
	if c.Copiers <= 0 {
		c.Copiers = 8
	}
	if c.MaxChanged <= 0 {
		c.MaxChanged = 1_000_000
	}
	if c.Source.Name == "" {
		c.Source.Name = "ringside-import"
	}
}

// Errors that end an import.
var (
	// ErrNotEmpty: the target has keys, and would be mixed with the source.
	ErrNotEmpty = errors.New("the target is not empty")
	// ErrSame: the source and the target are one cluster.
	ErrSame = errors.New("the source and the target are the same cluster")
	// ErrState: the state file is of another import, or of one that has not copied all keys yet.
	ErrState = errors.New("the state file does not fit")
	// errReached ends an import that follows once.
	errReached = errors.New("all has been taken")
)

// A follower keeps the target like a source whose clients keep writing.
type follower struct {
	cfg            *FollowConfig
	source, target *cluster
	tracker        *tracker
	finder         keyFinder
	isNew          bool // the source is Redis 7.0 or later
	state          State
	resumed        bool // the target may have keys that the source has not any more
	unlock         func()

	mu       sync.Mutex // for what report writes
	reported time.Time
	written  State
	goal     int64 // with Once: the offset that ends the import; -1: not known
}

// Follow makes the target like the source: it copies all keys, and then those that change, until the
// context ends, with [FollowConfig.Once] until it has caught up. Where the connection breaks, it is made anew.
func Follow(ctx context.Context, cfg FollowConfig) error {
	f, err := openFollower(ctx, cfg)
	if err != nil {
		return err
	}
	defer f.close()
	if err := checkKeys(ctx, []*follower{f}); err != nil {
		return err
	}
	return f.run(ctx)
}

// openFollower connects to both sides and reads the state file, which must be of this import. It writes nothing. The
// caller closes the follower.
func openFollower(ctx context.Context, cfg FollowConfig) (*follower, error) {
	cfg.EnsureDefaults()
	f := &follower{cfg: &cfg, source: newCluster(cfg.Source), target: newCluster(cfg.Target), tracker: newTracker(cfg.MaxChanged), goal: -1}
	cfg.Stats.enter(phaseConnect)
	var err error
	if f.unlock, err = lockState(cfg.State); err != nil {
		return nil, err
	}
	if err := f.open(ctx); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *follower) close() {
	f.source.close()
	f.target.close()
	f.unlock()
}

// run follows the source until the context ends, or until the target has caught up.
func (f *follower) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	for range f.cfg.Copiers {
		running.Go(func() {
			c := copier{tracker: f.tracker, source: f.source, target: f.target, cfg: &f.cfg.Config, isNew: f.isNew}
			cancel(c.run(ctx))
		})
	}
	err := f.sessions(ctx)
	cancel(err)
	running.Wait()
	if errors.Is(err, errReached) {
		err = nil
	}
	return errors.Join(err, f.saveLast())
}

// open connects to both sides and looks whether the state file is theirs.
func (f *follower) open(ctx context.Context) error {
	if f.cfg.State != "" {
		s, err := ReadState(f.cfg.State)
		if err != nil {
			return err
		}
		if s != nil {
			f.state, f.resumed = *s, true
		}
	}
	if _, err := f.target.ring(ctx, 0); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	source, err := f.source.ring(ctx, 0)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	p := patience{most: f.cfg.RetryFor}
	if f.isNew, err = knowsExpireTime(ctx, source, p); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	f.finder = keyFinder{source: source, most: p}
	if err := f.finder.learn(ctx); err != nil {
		return fmt.Errorf("source: commands: %w", err)
	}
	return f.identify(ctx)
}

// sessions follows the source over one connection after the other.
func (f *follower) sessions(ctx context.Context) error {
	if f.state.Loaded {
		f.tracker.begin(position{f.state.Offset, f.state.Database})
	}
	p := patience{most: f.cfg.RetryFor}
	for {
		progress, err := f.session(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !isLink(err):
			return err
		case progress:
			p = patience{most: f.cfg.RetryFor}
		}
		f.cfg.Stats.enter(phaseReconnect)
		if err := p.wait(ctx, err); err != nil {
			return fmt.Errorf("source: %w", err)
		}
	}
}

// A linkError is one after which another connection to the source may do better.
type linkError struct{ error }

func (e linkError) Unwrap() error { return e.error }

func isLink(err error) bool {
	var link linkError
	return errors.As(err, &link)
}

// session follows the source over one connection. progress tells that it has followed it at all.
func (f *follower) session(ctx context.Context) (progress bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	l, err := dial(ctx, &f.cfg.Source)
	if err != nil {
		return false, f.refused(err)
	}
	defer l.close()
	id, offset := "", int64(0)
	if f.state.Loaded {
		id, offset = f.state.ReplicationID, f.tracker.lag().received.offset
	}
	reply, err := l.handshake(id, offset)
	if refusesSync(err) {
		return true, f.scanSession(ctx, l, err)
	}
	if err != nil {
		return false, f.refused(err)
	}
	if reply.full {
		if err := f.copyAll(ctx, l, reply); err != nil {
			return false, err
		}
	} else if reply.id != "" {
		f.state.ReplicationID = reply.id
	}
	f.cfg.Stats.enter(phaseFollow)
	if err := f.acknowledge(l); err != nil {
		return true, linkError{err}
	}
	if err := f.setGoal(ctx); err != nil {
		return true, err
	}
	running.Go(func() {
		if err := f.reports(ctx, l); err != nil {
			cancel(err)
			l.close()
		}
	})
	err = f.readStream(ctx, l)
	if cause := context.Cause(ctx); cause != nil {
		return true, cause
	}
	if isStream(err) {
		err = linkError{err}
	}
	return true, err
}

// refused says what an error of the beginning of a connection means.
func (f *follower) refused(err error) error {
	var r *refusal
	if !errors.As(err, &r) {
		return linkError{err}
	}
	switch r.code() {
	case "LOADING", "NOMASTERLINK", "MASTERDOWN", "BUSY", "TRYAGAIN":
		return linkError{err}
	}
	return fmt.Errorf("source: %w", err)
}

// IsLogin reports whether an import has failed since a server did not take its user and password, or wants one.
func IsLogin(err error) bool {
	var r *refusal
	if errors.As(err, &r) && (r.command == "AUTH" || r.code() == "NOAUTH") {
		return true
	}
	var server *client.ServerError
	return errors.As(err, &server) && (server.Code == "NOAUTH" || server.Code == "WRONGPASS")
}

// isStream reports whether an error is one of reading the connection, and none of the target or the source's
// commands.
func isStream(err error) bool {
	var server *client.ServerError
	return !errors.As(err, &server) && !errors.Is(err, client.ErrNotSent) && !errors.Is(err, client.ErrUnknownOutcome) && !errors.Is(err, client.ErrClosed)
}

// copyAll copies all keys: the source sends them as an RDB file.
func (f *follower) copyAll(ctx context.Context, l *link, reply syncReply) error {
	// Changes that were read before are in the file, too.
	if err := f.tracker.drain(ctx); err != nil {
		return err
	}
	hadKeys := f.resumed
	f.resumed = true
	f.state.beginCopy(reply.id, reply.offset)
	if err := f.state.write(f.cfg.State); err != nil {
		return err
	}
	f.cfg.Stats.enter("wait for the source's copy")
	src, length, mark, err := l.file()
	if err != nil {
		return linkError{err}
	}
	f.cfg.Stats.enter("load")
	if f.cfg.Replace {
		if err := f.dropFunctions(ctx); err != nil {
			return err
		}
	}
	f.cfg.Stats.total.Store(max(length, 0))
	r := rdbfile.NewReader(src, f.cfg.RDB)
	if err := f.loadFrom(ctx, l, r); err != nil {
		return err
	}
	if length >= 0 && r.Offset() != length {
		return fmt.Errorf("source: the RDB file ends after %d of %d bytes", r.Offset(), length)
	}
	if length < 0 {
		if err := l.afterFile(r.Rest(), mark); err != nil {
			return linkError{err}
		}
	}
	f.cfg.Stats.total.Store(0)
	f.tracker.begin(position{reply.offset, 0})
	if hadKeys && !f.cfg.Merge {
		f.cfg.Stats.enter("remove what the source has not any more")
		if err := f.sweepAll(ctx); err != nil {
			return err
		}
	} else if hadKeys {
		f.cfg.Stats.note("the source was copied anew, into a target that was not empty at the beginning: keys that were deleted meanwhile may still be there")
	}
	f.state.Loaded = true
	return f.state.write(f.cfg.State)
}

// dropFunctions removes the libraries of functions that the target has: those of the source are in its file.
func (f *follower) dropFunctions(ctx context.Context) error {
	ring, err := f.target.ring(ctx, 0)
	if err == nil {
		var reply client.Reply
		reply, err = must(ctx, ring, f.cfg.RetryFor, []byte("FUNCTION"), []byte("LIST"))
		if libraries, _ := reply.List(); err == nil && len(libraries) > 0 {
			_, err = must(ctx, ring, f.cfg.RetryFor, []byte("FUNCTION"), []byte("FLUSH"))
		}
	}
	if err != nil {
		return fmt.Errorf("target: functions: %w", err)
	}
	return nil
}

// loadFrom loads the file while the link is kept alive.
func (f *follower) loadFrom(ctx context.Context, l *link, r *rdbfile.Reader) error {
	over := make(chan struct{})
	var alive sync.WaitGroup
	alive.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = l.sendNewline() // the reader notices a broken connection
			case <-over:
				return
			}
		}
	})
	err := load(ctx, r, f.target, &f.cfg.Config)
	close(over)
	alive.Wait()
	var at *rdbfile.Error
	if errors.As(err, &at) && !errors.Is(err, rdbfile.ErrFormat) && !errors.Is(err, rdbfile.ErrUnknown) && !errors.Is(err, rdbfile.ErrVersion) &&
		!errors.Is(err, rdbfile.ErrMagic) && !errors.Is(err, rdbfile.ErrTooLarge) && !errors.Is(err, rdbfile.ErrChecksum) {
		return linkError{err} // the connection has ended in between
	}
	return err
}

// sweepAll removes the keys of the target that the source has not any more.
func (f *follower) sweepAll(ctx context.Context) error {
	all, err := f.sources(ctx)
	if err != nil {
		return err
	}
	for _, n := range all {
		if err := f.sweep(ctx, n, true); err != nil {
			return err
		}
	}
	return f.tracker.drain(ctx)
}

// setGoal sets the offset that ends an import that follows once.
func (f *follower) setGoal(ctx context.Context) error {
	if !f.cfg.Once || f.goal >= 0 {
		return nil
	}
	offset, err := sourceOffset(ctx, f.finder.source, patience{most: f.cfg.RetryFor})
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	f.goal = offset
	return nil
}

// sourceOffset is where the stream of a source ends.
func sourceOffset(ctx context.Context, r *client.Ring, p patience) (int64, error) {
	reply, err := must(ctx, r, p.most, []byte("INFO"), []byte("replication"))
	if err != nil {
		return 0, err
	}
	text, err := reply.Text()
	if err != nil {
		return 0, err
	}
	offset, err := strconv.ParseInt(identity.Field(text, "master_repl_offset"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("INFO replication has no master_repl_offset: %w", err)
	}
	return offset, nil
}
