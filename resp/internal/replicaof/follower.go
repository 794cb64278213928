package replicaof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
)

// A Config is what a Follower needs of its server.
type Config struct {
	// Node is the ID of the node.
	Node string
	// Dir is where the place in the primary's stream is kept, for the next start; empty: nowhere, and each start copies
	// all keys.
	Dir string
	// Agree has the cluster agree on a change, and returns once all nodes that seem to be there go by it. It is nil for a
	// server that is in no cluster.
	Agree func(ctx context.Context, c agreed.Change) error
	// Settle returns once no node runs a client's write that began before that node knew of the agreed value of a version.
	Settle func(ctx context.Context, version uint64) error
	// Dial connects to the server itself, with the right to write while the agreed value has a version.
	Dial func(version uint64) (net.Conn, error)
	// Login returns the user and the password for the primary.
	Login  func() (user, password string)
	Logger *slog.Logger
}

// A Follower copies from the primary of the cluster, if this node is the one to do that. Its methods may be called from any
// goroutine.
type Follower struct {
	cfg   Config
	heard atomic.Int64 // when the primary last sent something, ns since 1970
	stale atomic.Bool  // this node copies, and the copy does not follow

	mu        sync.Mutex
	primary   Primary
	version   uint64 // of the agreed value; 0: the cluster is no replica
	stop      context.CancelFunc
	ended     chan struct{} // closed with the end of the newest run; nil: there was none
	stats     *importer.Stats
	downSince time.Time // zero: the copy follows
	closed    bool
}

// New returns a Follower that does nothing yet. Close must be called.
func New(cfg Config) *Follower { return &Follower{cfg: cfg} }

// Agreed tells what the cluster has agreed on: the value of [agreed.ReplicaofName]. It does not block.
func (f *Follower) Agreed(v agreed.Value) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || v.Version == f.version {
		return
	}
	if f.stop != nil {
		f.stop()
	}
	f.primary, f.version, f.stats = read(v), v.Version, nil
	if v.Version == 0 {
		f.cfg.Logger.Info("the cluster is no replica any more: clients may write")
	} else {
		f.cfg.Logger.Info("the cluster is a replica of another server: clients only read", "primary", f.primary.Addr(), "copying node", f.primary.Node)
	}
	f.setDown(time.Now())
	ctx, stop := context.WithCancel(context.Background())
	before, ended := f.ended, make(chan struct{})
	f.stop, f.ended = stop, ended
	p := f.primary
	go func() {
		defer close(ended)
		if before != nil {
			<-before
		}
		f.forget(v.Version)
		if v.Version != 0 && p.Node == f.cfg.Node {
			f.run(ctx, p, v.Version)
		}
	}()
}

// setDown notes since when the copy does not follow; zero: it does. The lock is held.
func (f *Follower) setDown(since time.Time) {
	f.downSince = since
	f.stale.Store(!since.IsZero() && f.version != 0 && f.primary.Node == f.cfg.Node)
}

// Stale reports whether this node copies and the copy does not follow.
func (f *Follower) Stale() bool {
	if !f.stale.Load() {
		return false
	}
	s := f.Status() // watch may not have seen yet that it follows
	return !s.Following
}

// Close ends the copying.
func (f *Follower) Close() {
	f.mu.Lock()
	f.closed = true
	if f.stop != nil {
		f.stop()
	}
	ended := f.ended
	f.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

func (f *Follower) now() (Primary, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.primary, f.version
}

// statePath is the file that keeps the place in the stream, for one agreed value: once the cluster was no replica in
// between, clients may have written, and all keys are copied again.
func (f *Follower) statePath(version uint64) string {
	if f.cfg.Dir == "" {
		return ""
	}
	return filepath.Join(f.cfg.Dir, fmt.Sprintf("replicaof-%d.state", version))
}

// forget removes the files of all other agreed values.
func (f *Follower) forget(version uint64) {
	if f.cfg.Dir == "" {
		return
	}
	keep := f.statePath(version)
	files, _ := filepath.Glob(filepath.Join(f.cfg.Dir, "replicaof-*.state*")) // the pattern is well-formed
	for _, file := range files {
		if file == keep || file == keep+".lock" {
			continue
		}
		if err := os.Remove(file); err != nil {
			f.cfg.Logger.Warn("a file of a former primary cannot be removed", "err", err)
		}
	}
}

const (
	// retryPause is the pause before another attempt to connect, as in Redis.
	retryPause = time.Second
	// rescanPause is the pause before all keys are read again of a primary that says nothing of changes.
	rescanPause = 30 * time.Second
	// failurePeriod is how often the same failure is logged.
	failurePeriod = 30 * time.Second
)

// failures are what attempts have failed with.
type failures struct {
	last string
	at   time.Time // when it was logged
}

// isNew reports whether a failure is to be logged: it is another one than the last, or that is some time ago.
func (f *failures) isNew(err error) bool {
	if err.Error() == f.last && time.Since(f.at) < failurePeriod {
		return false
	}
	f.last, f.at = err.Error(), time.Now()
	return true
}

// run copies from the primary until ctx ends.
func (f *Follower) run(ctx context.Context, p Primary, version uint64) {
	log := f.cfg.Logger.With("primary", p.Addr())
	settled := false
	var failed failures
	log.Info("copying begins once writes that clients have sent before have ended")
	for ctx.Err() == nil {
		pause := retryPause
		var err error
		if !settled {
			err = f.cfg.Settle(ctx, version)
			settled = err == nil
		}
		if settled {
			err = f.follow(ctx, log, p, version)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, importer.ErrState):
			log.Info("all keys of the primary are copied again", "reason", err)
			if err := os.Remove(f.statePath(version)); err == nil {
				continue
			}
		case err != nil && !failed.isNew(err):
		case importer.IsLogin(err):
			log.Error("Unable to AUTH to MASTER: set masteruser and masterauth", "err", err) // Redis' words, which tools look for
		case err != nil:
			log.Error("copying from the primary failed", "err", err, "retry after", retryPause)
		default:
			log.Warn("the primary takes no replicas and tells no key events: all keys are read again", "after", rescanPause)
			pause = rescanPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// follow copies until it fails or ctx ends.
func (f *Follower) follow(ctx context.Context, log *slog.Logger, p Primary, version uint64) error {
	stats := new(importer.Stats)
	show := func(s *importer.Stats) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.version == version {
			f.stats = s
		}
	}
	show(stats)
	defer show(nil)
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { f.watch(ctx, log, stats, version) })
	user, password := f.cfg.Login()
	return importer.Follow(ctx, importer.FollowConfig{
		Config: importer.Config{
			Target: client.Config{
				Addrs: []string{"127.0.0.1:0"}, Name: "ringside-replicaof", Route: client.Forward,
				Dial: func(context.Context, string) (net.Conn, error) { return f.cfg.Dial(version) },
			},
			Stats: stats,
		},
		Source: client.Config{
			Addrs: []string{p.Addr()}, Username: user, Password: password, Name: "ringside-replicaof", Dial: f.dialPrimary,
		},
		State: f.statePath(version), Replace: true,
	})
}

// dialPrimary connects to the primary, and notes when it sends something.
func (f *Follower) dialPrimary(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return heardConn{conn, &f.heard}, nil
}

type heardConn struct {
	net.Conn
	at *atomic.Int64
}

// Read reads, and notes the time.
func (c heardConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.at.Store(time.Now().UnixNano())
	}
	return n, err
}

// watch logs how the copy is getting on, until ctx ends.
func (f *Follower) watch(ctx context.Context, log *slog.Logger, stats *importer.Stats, version uint64) {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	following, lost, noted := false, 0, 0
	note := func(since time.Time) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.version == version {
			f.setDown(since)
		}
	}
	defer func() {
		if following {
			note(time.Now())
		}
	}()
	for {
		c := stats.Counts()
		switch {
		case c.Following && !following:
			log.Info("all keys are copied, changes follow", "keys", c.Keys)
			note(time.Time{})
		case following && !c.Following:
			log.Warn("the connection to the primary is lost, it is made again")
			note(time.Now())
		}
		following = c.Following
		if c.Lost > lost && len(c.Losses) > 0 {
			log.Error("not all keys of the primary can be copied", "lost", c.Lost, "last", c.Losses[len(c.Losses)-1].String())
		}
		lost = c.Lost
		for ; noted < len(c.Notes); noted++ {
			log.Warn("the copy cannot promise everything", "note", c.Notes[noted])
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

const watchPeriod = 200 * time.Millisecond
