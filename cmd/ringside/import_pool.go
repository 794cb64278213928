package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// poolOptions say how the clients of several sources find keys.
type poolOptions struct {
	rule, hash string
	tags       bool
	pool       *importer.Pool // nil: one source alone
}

// A poolServer is a source, and how the pool's clients know it.
type poolServer struct {
	source client.Config
	member ring.Member
}

func (o *poolOptions) add(s *settings.Set) {
	o.hash = strategy.MD5
	s.Add("pool", settings.Text(&o.rule, strings.Join(strategy.KetamaRules(), "|")),
		"several --from are a pool, whose clients find keys by ketama with these points. Keys that they would not look for at their server are left out",
		settings.Choices(strategy.KetamaRules()...))
	s.Add("pool-hash", settings.OneOf(&o.hash, strategy.MD5, strategy.FNV1a), "hash of keys in the pool; fnv1a is fnv1a_64 of twemproxy",
		settings.Choices(strategy.MD5, strategy.FNV1a))
	s.Add("pool-tags", settings.YesNo(&o.tags), "the pool hashes only what stands between { and }, as hash_tag \"{}\" of twemproxy", settings.Choices("yes", "no"))
}

// newPoolServer reads what follows the address of a source.
func newPoolServer(source client.Config, query url.Values, fault func(flag, format string, args ...any)) poolServer {
	p := poolServer{source: source, member: ring.Member{ID: source.Addrs[0], Weight: 1}}
	for name, values := range query {
		text := values[len(values)-1]
		switch name {
		case "name":
			p.member.ID = text
		case "weight":
			weight, err := strconv.ParseFloat(text, 64)
			if err != nil || weight <= 0 {
				fault("from", "%s: weight %q is not a number above 0", source.Addrs[0], text)
			}
			p.member.Weight = weight
		default:
			fault("from", "%s: %q is neither name nor weight", source.Addrs[0], name)
		}
	}
	return p
}

// resolve computes the placement of the pool.
func (o *poolOptions) resolve(servers []poolServer, fault func(flag, format string, args ...any)) {
	switch {
	case o.rule == "" && len(servers) > 1:
		fault("from", "is given %d times, so --pool must say how clients find keys: %s", len(servers), strings.Join(strategy.KetamaRules(), " or "))
		return
	case o.rule == "" || len(servers) == 0:
		return
	}
	cfg := importer.PoolConfig{Rule: ketama.Rule(o.rule), Hash: o.hash, Tags: o.tags}
	for _, s := range servers {
		cfg.Servers = append(cfg.Servers, s.member)
	}
	pool, err := importer.NewPool(cfg)
	if err != nil {
		fault("pool", "%v", err)
	}
	o.pool = pool
}

// sources are the configurations of all sources, and their counts.
func (o *importOptions) sources() (all []importer.FollowConfig, counts func() importer.Counts) {
	if o.pool.pool == nil {
		return []importer.FollowConfig{o.follow}, o.follow.Stats.Counts
	}
	for _, s := range o.servers {
		cfg := o.pool.pool.Source(s.member.ID, o.follow)
		cfg.Source = s.source
		all = append(all, cfg)
	}
	return all, func() importer.Counts {
		each := make([]importer.Counts, len(all))
		for i := range all {
			each[i] = all[i].Stats.Counts()
		}
		return importer.Total(each)
	}
}

// followAll follows, or compares, all sources.
func (o *importOptions) followAll(ctx context.Context, all []importer.FollowConfig) (*importer.Comparison, error) {
	if !o.verify {
		if len(all) == 1 {
			return nil, importer.Follow(ctx, all[0])
		}
		return nil, importer.FollowAll(ctx, all)
	}
	sum := new(importer.Comparison)
	for _, cfg := range all {
		c, err := importer.Verify(ctx, cfg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cfg.Source.Addrs[0], err)
		}
		sum.Keys += c.Keys
		sum.Different += c.Different
		sum.Differences = append(sum.Differences, c.Differences...)
	}
	return sum, nil
}
