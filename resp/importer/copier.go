package importer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/identity"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A copier reads keys of the source that have changed, and writes them to the target as a whole. Several
// run at a time, each with keys of its own.
type copier struct {
	tracker        *tracker
	source, target *cluster
	cfg            *Config
	isNew          bool // the source knows PEXPIRETIME

	keys    []*tracked
	batch   batch
	average int // bytes of the last values
}

// Of the values that one copier has in memory, while they have the size of the last ones.
const (
	copyBytes = 1 << 20
	copyKeys  = 128
)

// run copies until the context or an error ends it. It always returns an error.
func (c *copier) run(ctx context.Context) error {
	c.batch.again = true
	for {
		n := max(1, min(copyKeys, copyBytes/max(1, c.average)))
		keys, err := c.tracker.take(ctx, n, c.keys)
		if err != nil {
			return err
		}
		c.keys = keys
		if err := c.copy(ctx); err != nil {
			return err
		}
		c.tracker.done(keys)
	}
}

// copy brings the keys that were taken up to date.
func (c *copier) copy(ctx context.Context) error {
	from := c.keys[0].database
	to, _ := c.cfg.Filter.database(from)
	source, err := c.source.ring(ctx, from)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	target, err := c.target.ring(ctx, to)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	replies, now, err := c.read(ctx, source)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	c.batch.reset(to)
	large := large{ctx: ctx, copier: c, target: target, database: to}
	for i, k := range c.keys {
		payload, expireAt := valueOf(replies[2*i], replies[2*i+1], now)
		if payload == nil {
			c.batch.add([]byte(k.key), nil, 0, true)
			continue
		}
		c.average = (7*c.average + len(payload)) / 8
		if err := large.add(k, payload, expireAt); err != nil {
			return err
		}
	}
	return c.batch.deliver(ctx, target, c.cfg.Stats, c.cfg.RetryFor)
}

// valueOf reads the replies of DUMP, and of PEXPIRETIME, or PTTL with the time. There is no payload if the key
// does not exist.
func valueOf(dump, expiry client.Reply, now int64) (payload []byte, expireAt int64) {
	payload, err := dump.Bytes()
	if err != nil {
		return nil, 0
	}
	n, err := expiry.Int()
	switch {
	case err == nil && n == -2:
		return nil, 0 // gone since
	case err == nil && n >= 0:
		expireAt = n + now
	}
	return payload, expireAt
}

// read reads payloads and expiry times, for each key one after the other, and again until all are there. The
// expiry times are to be added to now, in ms since 1970.
func (c *copier) read(ctx context.Context, source *client.Ring) (replies []client.Reply, now int64, err error) {
	pipe := source.Pipeline()
	p := patience{most: c.cfg.RetryFor}
	for {
		expiry := "PEXPIRETIME"
		if !c.isNew {
			expiry = "PTTL"
			pipe.Do("TIME")
		}
		for _, k := range c.keys {
			pipe.Do("DUMP", k.key)
			pipe.Do(expiry, k.key)
		}
		replies, err := pipe.Exec(ctx)
		switch judge(ctx, err) {
		case done:
			if !c.isNew {
				now, err = timeOf(replies[0])
				replies = replies[1:]
			}
			return replies, now, err
		case later:
			if err := p.wait(ctx, err); err != nil {
				return nil, 0, err
			}
		default:
			return nil, 0, err
		}
	}
}

// timeOf reads the reply of TIME as ms since 1970.
func timeOf(r client.Reply) (int64, error) {
	parts, err := r.List()
	if err != nil || len(parts) != 2 {
		return 0, fmt.Errorf("not two numbers: %w", err)
	}
	seconds, err := parts[0].Int()
	if err != nil {
		return 0, err
	}
	micros, err := parts[1].Int()
	return seconds*1000 + micros/1000, err
}

// A large adds payloads to the batch of a copier, those that are too large for RESTORE to the target at once.
type large struct {
	*copier
	ctx      context.Context
	target   *client.Ring
	database int
	parts    *partWriter
}

func (l *large) add(k *tracked, payload []byte, expireAt int64) error {
	if len(payload) < l.cfg.RDB.MaxPart && isPlain(payload) {
		l.batch.add([]byte(k.key), payload, expireAt, false)
		return nil
	}
	err := rdbfile.Split(payload, l.cfg.RDB, func(e *rdbfile.Entry) error {
		e.Key, e.ExpireAt, e.Database = []byte(k.key), expireAt, k.database
		switch {
		case e.Payload == nil:
			l.lose(k, e.Reason)
			return nil
		case e.Part == 0 && !e.More:
			l.batch.add(e.Key, e.Payload, expireAt, false)
			return nil
		case e.Part == 0:
			l.parts = &partWriter{ctx: l.ctx, ring: l.target, stats: l.cfg.Stats, most: l.cfg.RetryFor, database: l.database, again: true}
		}
		return l.parts.write(e)
	})
	if err != nil && isFormat(err) {
		l.lose(k, err.Error())
		return nil
	}
	return err
}

// lose deletes an earlier value of a key that can no longer be taken.
func (l *large) lose(k *tracked, reason string) {
	l.batch.add([]byte(k.key), nil, 0, true)
	l.batch.items[len(l.batch.items)-1].reason = reason
}

// isPlain reports whether every version of Ringside takes a payload as it is.
func isPlain(payload []byte) bool {
	const newest = 21 // type
	n := len(payload)
	keydb := bytes.Contains(payload[max(n-64, 0):], []byte("mvcc-tstamp")) // as rdb.CheckEnd overlooks it
	return n > 10 && payload[0] <= newest && binary.LittleEndian.Uint16(payload[n-10:]) <= rdb.MaxVersion && !keydb
}

// knowsExpireTime reports whether a server knows PEXPIRETIME, as Redis 7.0 does. It asks for it: what INFO says of a
// version is not what a fork can do.
func knowsExpireTime(ctx context.Context, r *client.Ring, most patience) (bool, error) {
	_, err := must(ctx, r, most.most, []byte("PEXPIRETIME"), []byte("key"))
	var server *client.ServerError
	if errors.As(err, &server) && server.Code == "ERR" && strings.Contains(strings.ToLower(err.Error()), "unknown command") {
		return false, nil
	}
	return err == nil, err
}

// versionIn returns what a reply to INFO says, as 70015 for 7.0.15; 0 if it says nothing.
func versionIn(info string) int {
	version := 0
	for i, part := range strings.Split(identity.Field(info, "redis_version"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil || i > 2 {
			break
		}
		version += n * [...]int{10000, 100, 1}[i]
	}
	return version
}
