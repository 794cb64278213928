package importer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/identity"
)

// A CutoverConfig says how to stop writes at a source until all of them are at the target. Source and State are
// those of the import, which runs meanwhile.
type CutoverConfig struct {
	Source client.Config
	State  string
	// Timeout bounds the pause, and before it the wait for the import to be near; default 10 s.
	Timeout time.Duration
	// Hold is how long writes stay paused after that, so that clients can be sent to the target; 0: they go
	// on at once.
	Hold time.Duration
}

// A CutoverResult is what a cutover has done.
type CutoverResult struct {
	ReplicationID string
	// Offset is where the source's stream ended, and Applied what the import has applied and the target
	// acknowledged.
	Offset, Applied int64
	// Pause is how long clients of the source could not write until all was at the target.
	Pause time.Duration
	// HeldUntil is when writes resume, unless the source is told before; zero: they have resumed.
	HeldUntil time.Time
}

// Errors of a cutover. Clients of the source can write then, unless one of them is ErrStillPaused.
var (
	// ErrBehind: the import did not catch up in time, or does not run.
	ErrBehind = errors.New("the import is behind")
	// ErrNotPaused: a pause of the source's clients does not stop all writes.
	ErrNotPaused = errors.New("the source cannot be paused")
	// ErrStillPaused: the source could not be told that its clients may write again.
	ErrStillPaused = errors.New("writes at the source are still paused")
)

// unpauseTime bounds the attempt to end the pause of a cutover that was stopped.
const unpauseTime = 5 * time.Second

// statePoll is how often the state file is read.
const statePoll = 5 * time.Millisecond

// Cutover pauses the writes of the source's clients, waits until the import has applied all, and lets them go
// on. The source is a primary of Redis 6.2 or later, or of Valkey.
func Cutover(ctx context.Context, cfg CutoverConfig) (*CutoverResult, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	l, err := dial(ctx, &cfg.Source)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer l.close()
	source := newCluster(cfg.Source)
	defer source.close()
	ring, err := source.ring(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	c := cutover{cfg: &cfg, link: l, source: ring, most: patience{most: cfg.Timeout}}
	return c.run(ctx)
}

type cutover struct {
	cfg    *CutoverConfig
	link   *link
	source *client.Ring
	most   patience
}

// check returns an error unless CLIENT PAUSE WRITE at the source stops its stream.
func (c *cutover) check(ctx context.Context) error {
	reply, err := must(ctx, c.source, c.cfg.Timeout, []byte("INFO"))
	if err != nil {
		return err
	}
	info, err := reply.Text()
	if err != nil {
		return err
	}
	if version := versionIn(info); version < 60200 {
		return fmt.Errorf("version %d.%d.%d cannot pause writes alone, 6.2 or later can: stop the application instead",
			version/10000, version/100%100, version%100)
	}
	if isRingside(info) {
		return fmt.Errorf("%w: it is Ringside, which pauses the clients of one node alone and sends changes after they are acknowledged: "+
			"stop the application instead, and end the import when replicas_pending_keys of the source is 0 and then nothing is behind", ErrNotPaused)
	}
	if role := identity.Field(info, "role"); role != "master" {
		return fmt.Errorf("%w: it is a %s, and its primary accepts writes: cut over at the primary, %s:%s",
			ErrNotPaused, role, identity.Field(info, "master_host"), identity.Field(info, "master_port"))
	}
	return nil
}

func (c *cutover) run(ctx context.Context) (*CutoverResult, error) {
	if err := c.check(ctx); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	// An import that does not run must not cost a pause.
	if _, err := c.reach(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	length := c.cfg.Timeout + c.cfg.Hold
	if _, err := c.link.do("CLIENT", "PAUSE", strconv.FormatInt(length.Milliseconds(), 10), "WRITE"); err != nil {
		err = fmt.Errorf("source: %w", err)
		var refused *refusal
		if !errors.As(err, &refused) { // the source may have paused them
			err = errors.Join(err, c.unpause(ctx, began.Add(length)))
		}
		return nil, err
	}
	result, err := c.reach(ctx)
	if err != nil {
		return nil, errors.Join(err, c.unpause(ctx, began.Add(length)))
	}
	result.Pause = time.Since(began)
	if c.cfg.Hold > 0 {
		result.HeldUntil = began.Add(length)
		return result, nil
	}
	return result, c.unpause(ctx, began.Add(length))
}

// unpause lets clients of the source write again, also after the context has ended, and with it the link.
func (c *cutover) unpause(ctx context.Context, until time.Time) error {
	if ctx.Err() == nil {
		if _, err := c.link.do("CLIENT", "UNPAUSE"); err == nil {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unpauseTime)
	defer cancel()
	l, err := dial(ctx, &c.cfg.Source)
	if err == nil {
		defer l.close()
		_, err = l.do("CLIENT", "UNPAUSE")
	}
	if err != nil {
		return fmt.Errorf("%w until %s; CLIENT UNPAUSE at the source ends the pause: %w", ErrStillPaused, until.Format(time.TimeOnly), err)
	}
	return nil
}

// reach waits until the import has applied what the source's stream has now.
func (c *cutover) reach(ctx context.Context) (*CutoverResult, error) {
	reply, err := must(ctx, c.source, c.cfg.Timeout, []byte("INFO"), []byte("replication"))
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	text, _ := reply.Text()
	r := &CutoverResult{ReplicationID: identity.Field(text, "master_replid")}
	if r.Offset, err = strconv.ParseInt(identity.Field(text, "master_repl_offset"), 10, 64); err != nil {
		return nil, fmt.Errorf("source: INFO replication has no master_repl_offset: %w", err)
	}
	timeout := time.NewTimer(c.cfg.Timeout)
	defer timeout.Stop()
	ticker := time.NewTicker(statePoll)
	defer ticker.Stop()
	for {
		s, err := ReadState(c.cfg.State)
		switch {
		case err != nil:
			return nil, err
		case s == nil:
			return nil, fmt.Errorf("%w: there is no %s", ErrState, c.cfg.State)
		case !s.Loaded:
			return nil, fmt.Errorf("%w: the import has not copied all keys yet", ErrState)
		case s.ReplicationID != r.ReplicationID:
			return nil, fmt.Errorf("%w: it is of replication ID %s, the source's is %s", ErrState, s.ReplicationID, r.ReplicationID)
		case s.Offset >= r.Offset:
			r.Applied = s.Offset
			return r, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timeout.C:
			return nil, fmt.Errorf("%w by %d bytes of the stream after %v", ErrBehind, r.Offset-s.Offset, c.cfg.Timeout)
		}
	}
}
