package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync/atomic"

	"github.com/redis/rueidis"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// openCluster opens a client of Redis Cluster. It follows redirects and says nothing of it, so they are
// counted as they come by.
func (s *shared) openCluster(cfg *Config) error {
	opt := rueidis.ClientOption{
		InitAddress: cfg.Targets(), Username: cfg.Username, Password: cfg.Password, TLSConfig: cfg.TLS, ClientName: clientName,
		DisableCache: true, DisableRetry: true, ConnWriteTimeout: cfg.Timeout,
	}
	opt.Dialer.Timeout = cfg.dialTimeout()
	opt.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, cfg *tls.Config) (net.Conn, error) {
		c, err := dialNet(ctx, addr, d, cfg)
		if err != nil {
			return nil, err
		}
		return &countingConn{Conn: c, n: &s.redirects}, nil
	}
	c, err := rueidis.NewClient(opt)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.newBatch = func() batch { return &clusterBatch{client: c, workload: &cfg.Workload} }
	s.close = c.Close
	return nil
}

// A clusterBatch is a batch for the client of Redis Cluster.
type clusterBatch struct {
	client   rueidis.Client
	workload *workload.Config
	commands []rueidis.Completed
	results  []rueidis.RedisResult
	key      []byte
}

// add tells the client which arguments are keys: by them it finds the node.
func (b *clusterBatch) add(op *workload.Op) {
	c := b.client.B().Arbitrary(string(op.Args[0]))
	next := 0
	for _, a := range op.Args[1:] {
		if next < len(op.Keys) {
			b.key = b.workload.AppendKey(b.key[:0], op.Keys[next])
			if bytes.Equal(b.key, a) {
				c = c.Keys(string(a))
				next++
				continue
			}
		}
		c = c.Args(string(a))
	}
	b.commands = append(b.commands, c.Build())
}

func (b *clusterBatch) exec(ctx context.Context) int {
	b.results = b.client.DoMulti(ctx, b.commands...)
	b.commands = b.commands[:0]
	return len(b.results)
}

func (b *clusterBatch) reply(i int, to *wire.Reply) (answered, sent bool) {
	m, err := b.results[i].ToMessage()
	if said, ok := rueidis.IsRedisErr(err); ok && !said.IsNil() {
		to.Kind, to.Text = '-', []byte(said.Error())
		return true, true
	}
	switch {
	case err != nil && !rueidis.IsRedisNil(err):
		return false, true
	case m.IsInt64():
		setValue(to, ':', nil)
		to.Int, _ = m.AsInt64()
	case m.IsArray() || m.IsMap():
		to.Kind = '*'
		elements, _ := m.ToArray()
		for i := range elements {
			text, err := elements[i].AsBytes()
			if err != nil {
				text = nil
			}
			addElement(to, text)
		}
	default:
		text, _ := m.AsBytes() // nil for null
		setValue(to, '$', text)
	}
	return true, true
}

// A countingConn counts redirects among what is read. Values that a workload writes cannot
// be mistaken for one: they are letters and digits.
type countingConn struct {
	net.Conn
	n    *atomic.Int64
	tail []byte // what was read last, too short for a redirect
}

var redirectWords = [][]byte{[]byte("-MOVED"), []byte("\n-ASK ")}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	tail := len(redirectWords[0]) - 1
	seam := slices.Concat(c.tail, p[:min(n, tail)])
	for _, w := range redirectWords {
		c.n.Add(int64(bytes.Count(seam, w) + bytes.Count(p[:n], w)))
	}
	c.tail = append(c.tail, p[max(n-tail, 0):n]...)
	c.tail = slices.Delete(c.tail, 0, max(len(c.tail)-tail, 0))
	return n, err
}
