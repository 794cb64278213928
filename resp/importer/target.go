package importer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
)

// A cluster is a server, or several, in any of its databases: the source or the target. Its methods may be
// called from any number of goroutines.
type cluster struct {
	cfg client.Config

	mu    sync.Mutex
	rings map[int]*client.Ring // by database
}

func newCluster(cfg client.Config) *cluster {
	return &cluster{cfg: cfg, rings: make(map[int]*client.Ring)}
}

// ring returns the client of a database, which close closes.
func (c *cluster) ring(ctx context.Context, database int) (*client.Ring, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.rings[database]; r != nil {
		return r, nil
	}
	cfg := c.cfg
	cfg.Database = database
	r, err := client.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c.rings[database] = r
	return r, nil
}

func (c *cluster) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.rings {
		r.Close()
	}
	clear(c.rings)
}

// An outcome is what an error says about going on.
type outcome int

const (
	done   outcome = iota
	lost           // the server will never execute this command
	later          // the same command may be executed later
	failed         // no command will be executed
)

// refusals are codes of a server that refuses this client.
var refusals = map[string]bool{"NOAUTH": true, "WRONGPASS": true, "NOPERM": true, "DENIED": true}

// judge says what an error of a command means that may be sent again.
func judge(ctx context.Context, err error) outcome {
	var server *client.ServerError
	switch {
	case err == nil:
		return done
	case ctx.Err() != nil, errors.Is(err, client.ErrClosed), errors.Is(err, client.ErrUnshared):
		return failed
	case !errors.As(err, &server):
		return later
	case refusals[server.Code]:
		return failed
	case server.Code == "ERR", server.Code == "WRONGTYPE":
		return lost
	}
	return later
}

// A patience is how long something is tried again that fails for now. The zero value tries for ever.
type patience struct {
	most  time.Duration
	began time.Time
	pause time.Duration
}

const (
	firstPause = 20 * time.Millisecond
	lastPause  = 2 * time.Second
)

// wait waits before the next attempt. It returns an error when patience has ended.
func (p *patience) wait(ctx context.Context, cause error) error {
	now := time.Now()
	if p.began.IsZero() {
		p.began = now
	}
	if p.most > 0 && now.Sub(p.began) >= p.most {
		return fmt.Errorf("tried for %v: %w", p.most, cause)
	}
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	timer := time.NewTimer(p.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// must runs a command until it is done. It is for commands that may be executed several times.
func must(ctx context.Context, r *client.Ring, most time.Duration, args ...[]byte) (client.Reply, error) {
	p := patience{most: most}
	for {
		reply := r.DoBytes(ctx, args...)
		err := reply.Err()
		if judge(ctx, err) != later {
			return reply, err
		}
		if err := p.wait(ctx, err); err != nil {
			return reply, err
		}
	}
}
