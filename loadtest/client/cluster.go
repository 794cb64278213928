package client

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"

	"crypto/tls"

	"github.com/redis/rueidis"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A clusterLink goes through the client of Redis Cluster that all share.
type clusterLink struct {
	l        *Load
	life     context.Context
	done     <-chan struct{}
	commands []rueidis.Completed
	key      []byte
	reply    wire.Reply
}

func (l *Load) newClusterLink(life context.Context, done <-chan struct{}) link {
	return &clusterLink{l: l, life: life, done: done}
}

func (k *clusterLink) ready() bool { return !over(k.done) }
func (k *clusterLink) close()      {}

// add tells the client which arguments are keys: by them it finds the node.
func (k *clusterLink) add(op *workload.Op) int {
	c := k.l.shared.cluster.B().Arbitrary(string(op.Args[0]))
	next := 0
	for _, a := range op.Args[1:] {
		if next < len(op.Keys) {
			k.key = k.l.cfg.Workload.AppendKey(k.key[:0], op.Keys[next])
			if bytes.Equal(k.key, a) {
				c = c.Keys(string(a))
				next++
				continue
			}
		}
		c = c.Args(string(a))
	}
	k.commands = append(k.commands, c.Build())
	return commandLen(op.Args)
}

func (k *clusterLink) exchange(each func(*outcome)) {
	ctx, cancel := context.WithTimeout(k.life, k.l.cfg.Timeout)
	results := k.l.shared.cluster.DoMulti(ctx, k.commands...)
	cancel()
	k.commands = k.commands[:0]
	o := outcome{at: k.l.now(), redirected: k.l.shared.redirects.Swap(0), sent: true}
	for i := range results {
		o.reply = k.translate(&results[i])
		each(&o)
		o.redirected = 0
	}
}

// translate returns nil if there was no reply.
func (k *clusterLink) translate(r *rueidis.RedisResult) *wire.Reply {
	k.reply = wire.Reply{Values: k.reply.Values[:0]}
	m, err := r.ToMessage()
	if said, ok := rueidis.IsRedisErr(err); ok && !said.IsNil() {
		k.reply.Kind, k.reply.Text = '-', []byte(said.Error())
		return &k.reply
	}
	switch {
	case err != nil && !rueidis.IsRedisNil(err):
		return nil
	case m.IsNil():
		k.reply.Kind = '$'
	case m.IsInt64():
		k.reply.Kind = ':'
		k.reply.Int, _ = m.AsInt64()
	case m.IsArray() || m.IsMap():
		k.reply.Kind = '*'
		elements, _ := m.ToArray()
		for i := range elements {
			v, err := elements[i].AsBytes()
			if err != nil {
				v = nil
			}
			k.reply.Values = append(k.reply.Values, v)
			k.reply.Size += len(v) + headLen(len(v)) + 2
		}
		return &k.reply
	default:
		k.reply.Kind = '$'
		k.reply.Text, _ = m.AsBytes()
	}
	k.reply.Size = len(k.reply.Text) + headLen(len(k.reply.Text)) + 2
	return &k.reply
}

// dialCounted connects, and counts the redirects that come by: the client follows them and
// says nothing of it.
func (s *shared) dialCounted(ctx context.Context, addr string, d *net.Dialer, cfg *tls.Config) (net.Conn, error) {
	var c net.Conn
	var err error
	if cfg != nil {
		c, err = (&tls.Dialer{NetDialer: d, Config: cfg}).DialContext(ctx, "tcp", addr)
	} else {
		c, err = d.DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	return &countingConn{Conn: c, n: &s.redirects}, nil
}

// A countingConn counts redirects among what is read. Values that a workload writes cannot
// be mistaken for one: they are letters and digits.
type countingConn struct {
	net.Conn
	n    *atomic.Int64
	tail [redirectLen - 1]byte // what was read last
}

const redirectLen = 6

var redirectWords = [][]byte{[]byte("-MOVED"), []byte("\n-ASK ")}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	seam := append(append(make([]byte, 0, 2*redirectLen), c.tail[:]...), p[:min(n, redirectLen-1)]...)
	found := 0
	for _, w := range redirectWords {
		found += bytes.Count(seam, w) + bytes.Count(p[:n], w)
	}
	if found > 0 {
		c.n.Add(int64(found))
	}
	if n >= len(c.tail) {
		copy(c.tail[:], p[n-len(c.tail):n])
	} else {
		copy(c.tail[:], seam[max(len(seam)-len(c.tail), 0):])
	}
	return n, err
}
