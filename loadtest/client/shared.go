package client

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// clientName is what CLIENT LIST shows for the connections of a shared client.
const clientName = "ringside-loadtest"

// shared is the client that all clients of a load have together, for the routes that need one.
type shared struct {
	redirects atomic.Int64 // that were followed, and are not counted yet
	newBatch  func() batch // nil: clients have connections of their own
	close     func()
}

// A batch is the commands of one client for the shared client. It belongs to one goroutine.
type batch interface {
	// add adds a command.
	add(op *workload.Op)
	// exec sends the commands, waits for all replies and returns their number.
	exec(ctx context.Context) int
	// reply translates the i-th reply of the last exec. If there is none, sent tells whether a server
	// can have got the command.
	reply(i int, to *wire.Reply) (answered, sent bool)
}

// share opens the shared client, if the route needs one.
func (l *Load) share(ctx context.Context) error {
	switch l.cfg.Route {
	case Ring:
		return l.shared.openRing(ctx, &l.cfg)
	case Cluster:
		return l.shared.openCluster(&l.cfg)
	}
	return nil
}

// A sharedLink goes through the shared client.
type sharedLink struct {
	l     *Load
	life  context.Context
	until context.Context
	batch batch
	out   []byte // one command as it travels
	reply wire.Reply
}

func (k *sharedLink) ready() bool { return k.until.Err() == nil }
func (k *sharedLink) close()      {}

func (k *sharedLink) add(op *workload.Op) int {
	k.batch.add(op)
	k.out = wire.AppendRequest(k.out[:0], op.Args...)
	return len(k.out)
}

func (k *sharedLink) exchange(w *worker) {
	ctx, cancel := context.WithTimeout(k.life, k.l.cfg.Timeout)
	n := k.batch.exec(ctx)
	cancel()
	o := outcome{at: k.l.now(), redirected: k.l.shared.redirects.Swap(0)}
	for i := range n {
		k.reply = wire.Reply{Values: k.reply.Values[:0]}
		var answered bool
		o.reply = nil
		if answered, o.sent = k.batch.reply(i, &k.reply); answered {
			o.reply = &k.reply
		}
		w.end(&o)
		o.redirected = 0
	}
}

// setValue sets a reply that is no aggregate.
func setValue(r *wire.Reply, kind byte, text []byte) {
	r.Kind, r.Text, r.Size = kind, text, stringSize(text)
}

// addElement adds an element to an aggregate.
func addElement(r *wire.Reply, text []byte) {
	r.Kind, r.Values, r.Size = '*', append(r.Values, text), r.Size+stringSize(text)
}

// stringSize is the number of bytes that a string takes in a reply.
func stringSize(text []byte) int { return len("$\r\n\r\n") + len(strconv.Itoa(len(text))) + len(text) }

// dialTimeout is how long a target may take to be connected to by a shared client.
func (c *Config) dialTimeout() time.Duration { return min(c.Timeout, 5*time.Second) }

// dialNet connects, with encryption if cfg is not nil.
func dialNet(ctx context.Context, addr string, d *net.Dialer, cfg *tls.Config) (net.Conn, error) {
	if cfg == nil {
		return d.DialContext(ctx, "tcp", addr)
	}
	return (&tls.Dialer{NetDialer: d, Config: cfg}).DialContext(ctx, "tcp", addr)
}
