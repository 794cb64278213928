package goredis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/resp/client"
)

// A Ring is go-redis' Ring client for a cluster. Its methods may be called from any goroutine.
type Ring struct {
	*redis.Ring
	placement *client.Ring
	stop      chan struct{}
	once      sync.Once
	following sync.WaitGroup
	err       error
}

// Open connects to one of the addresses of cfg, and returns a client of the whole cluster. cfg is how the placement is
// followed, by a connection or two; options are those of the commands, nil for go-redis' defaults. User name, password,
// database and TLS of cfg hold for both where options leave them out. Addrs and NewConsistentHash of options are not used,
// and options are not changed. Each connection has its node forward commands, before OnConnect of options. If the user has no
// right to RING ROUTE, nodes do what is configured. Close must be called.
func Open(ctx context.Context, cfg client.Config, options *redis.RingOptions) (*Ring, error) {
	if cfg.Conns == 0 {
		cfg.Conns = 1
	}
	placement, err := client.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("goredis: %w", err)
	}
	var o redis.RingOptions
	if options != nil {
		o = *options
	}
	if o.Username == "" && o.Password == "" && o.CredentialsProvider == nil && o.CredentialsProviderContext == nil {
		o.Username, o.Password = cfg.Username, cfg.Password
	}
	if o.DB == 0 {
		o.DB = cfg.Database
	}
	if o.TLSConfig == nil {
		o.TLSConfig = cfg.TLS
	}
	o.OnConnect = forwarding(o.OnConnect)
	addrs, changed := placement.Nodes()
	o.Addrs = shardsOf(addrs)
	o.NewConsistentHash = func(shards []string) redis.ConsistentHash { return newChooser(placement, shards) }
	r := &Ring{Ring: redis.NewRing(&o), placement: placement, stop: make(chan struct{})}
	r.following.Go(func() { r.follow(changed) })
	return r, nil
}

// forwarding returns a hook that has the node of a new connection forward commands, and then calls the caller's
// hook, if any. A go-redis Ring follows no redirects.
func forwarding(then func(context.Context, *redis.Conn) error) func(context.Context, *redis.Conn) error {
	return func(ctx context.Context, conn *redis.Conn) error {
		var refusal redis.Error // of a user without the right, or a server that does not know the command
		if err := conn.Do(ctx, "RING", "ROUTE", client.Forward).Err(); err != nil && !errors.As(err, &refusal) {
			return fmt.Errorf("goredis: have the node forward commands: %w", err)
		}
		if then == nil {
			return nil
		}
		return then(ctx, conn)
	}
}

// Close ends all connections, and waits until nothing of the Ring runs.
func (r *Ring) Close() error {
	r.once.Do(func() {
		close(r.stop)
		r.following.Wait()
		r.err = r.Ring.Close()
		r.placement.Close()
	})
	return r.err
}

// follow has the shards be the nodes.
func (r *Ring) follow(changed <-chan struct{}) {
	for {
		select {
		case <-changed:
		case <-r.stop:
			return
		}
		var addrs []string
		addrs, changed = r.placement.Nodes()
		r.SetAddrs(shardsOf(addrs))
	}
}

// shardsOf names shards by their addresses.
func shardsOf(addrs []string) map[string]string {
	shards := make(map[string]string, len(addrs))
	for _, addr := range addrs {
		shards[addr] = addr
	}
	return shards
}

// A chooser finds the shard of a key among those that go-redis takes to be up.
type chooser struct {
	placement *client.Ring
	live      map[string]bool
	shards    []string
	next      atomic.Uint32
}

func newChooser(placement *client.Ring, shards []string) *chooser {
	c := &chooser{placement: placement, live: make(map[string]bool, len(shards)), shards: shards}
	for _, shard := range shards {
		c.live[shard] = true
	}
	return c
}

// Get implements redis.ConsistentHash. A key whose node is down, or not known yet, goes to any other, which forwards it.
func (c *chooser) Get(key string) string {
	if owner := c.placement.Owner([]byte(key)); c.live[owner] {
		return owner
	}
	if len(c.shards) == 0 {
		return ""
	}
	return c.shards[c.next.Add(1)%uint32(len(c.shards))]
}
