package importer

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A PoolConfig says how clients, or twemproxy, find the keys in a pool of servers.
type PoolConfig struct {
	// Rule is whose points of servers: ketama.Libketama or ketama.Twemproxy.
	Rule ketama.Rule
	// Hash is of keys: strategy.MD5, or strategy.FNV1a for fnv1a_64 of twemproxy.
	Hash string
	// Tags: only what stands between { and } is hashed, as twemproxy does with hash_tag "{}".
	Tags bool
	// Servers have the names and weights that the pool's clients know.
	Servers []ring.Member
}

// A Pool knows at which server clients look for a key.
type Pool struct {
	cfg       PoolConfig
	placement *ring.Placement
	token     ring.TokenFunc
}

// NewPool computes where keys are.
func NewPool(cfg PoolConfig) (*Pool, error) {
	c := strategy.DefaultConfig()
	c.Name, c.KetamaRule, c.Hash = strategy.Ketama, cfg.Rule, cfg.Hash
	s, err := c.New()
	if err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg, token: s.Token}
	if !cfg.Tags {
		if p.token = wholeKey[cfg.Hash]; p.token == nil {
			return nil, fmt.Errorf("hash %q: use %s or %s", cfg.Hash, strategy.MD5, strategy.FNV1a)
		}
	}
	p.placement, err = s.Desired(ring.Input{Members: cfg.Servers})
	return p, err
}

// wholeKey are token functions that know no hash tags.
var wholeKey = map[string]ring.TokenFunc{
	strategy.MD5: func(key []byte) ring.Token {
		sum := md5.Sum(key)
		return ring.Token(binary.LittleEndian.Uint32(sum[:]))
	},
	strategy.FNV1a: func(key []byte) ring.Token {
		h := uint64(14695981039346656037)
		for _, c := range key {
			h = (h ^ uint64(c)) * 1099511628211
		}
		return ring.Token(uint32(h))
	},
}

// Owner is the name of the server at which a key is looked for.
func (p *Pool) Owner(key []byte) string { return p.placement.Lookup(p.token(key)).Primary }

// owns is a Filter.Owns of a server.
func (p *Pool) owns(name string) func(key []byte) bool {
	return func(key []byte) bool { return p.Owner(key) == name }
}

// describe says which keys of a pool are those of a server.
func (p *Pool) describe(name string) string {
	servers := make([]string, 0, len(p.cfg.Servers))
	for _, s := range p.cfg.Servers {
		servers = append(servers, fmt.Sprintf("%q of weight %g", s.ID, s.Weight))
	}
	tags := ""
	if p.cfg.Tags {
		tags = " and tags"
	}
	return fmt.Sprintf("keys of server %q in a %s pool with hash %s%s: %s", name, p.cfg.Rule, p.cfg.Hash, tags, strings.Join(servers, ", "))
}

// Source returns the configuration of a server of the pool, from one that says the rest: with a filter for keys
// that the pool looks for at the server, counts of its own, and a state file of its own.
func (p *Pool) Source(name string, cfg FollowConfig) FollowConfig {
	cfg.Filter.Owns, cfg.Filter.pool = p.owns(name), p.describe(name)
	cfg.Stats = new(Stats)
	if cfg.State != "" {
		cfg.State += "." + url.PathEscape(name)
	}
	return cfg
}

// FollowAll follows several sources of one pool into one target. When one of them fails, all end. Nothing is written
// before all sources and state files have been checked.
func FollowAll(ctx context.Context, all []FollowConfig) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	followers := make([]*follower, 0, len(all))
	for _, cfg := range all {
		f, err := openFollower(ctx, cfg)
		if err != nil {
			return fmt.Errorf("%s: %w", cfg.Source.Addrs[0], err)
		}
		defer f.close()
		followers = append(followers, f)
	}
	// Once is enough: the sources fill the target for each other.
	if err := checkKeys(ctx, followers); err != nil {
		return err
	}
	errs := make([]error, len(all))
	var running sync.WaitGroup
	for i, f := range followers {
		running.Go(func() {
			if errs[i] = f.run(ctx); errs[i] != nil {
				if !errors.Is(errs[i], context.Canceled) {
					errs[i] = fmt.Errorf("%s: %w", f.cfg.Source.Addrs[0], errs[i])
				}
				cancel()
			}
		})
	}
	running.Wait()
	var real []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			real = append(real, err)
		}
	}
	if len(real) > 0 {
		return errors.Join(real...)
	}
	return errors.Join(errs...)
}

// Total adds counts up. The phase is that of the first.
func Total(all []Counts) (sum Counts) {
	for i, c := range all {
		if i == 0 {
			sum.Phase = c.Phase
		}
		sum.Keys += c.Keys
		sum.Bytes += c.Bytes
		sum.Expired += c.Expired
		sum.Filtered += c.Filtered
		sum.Misplaced += c.Misplaced
		sum.Metadata += c.Metadata
		sum.Lost += c.Lost
		sum.Losses = append(sum.Losses, c.Losses...)
		sum.Read += c.Read
		sum.Total += c.Total
		sum.Changes += c.Changes
		sum.Waiting += c.Waiting
		sum.Received += c.Received
		sum.Applied += c.Applied
		sum.Behind = max(sum.Behind, c.Behind)
		sum.Notes = append(sum.Notes, c.Notes...)
	}
	return sum
}
