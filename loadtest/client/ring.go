package client

import (
	"context"
	"errors"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A ringLink goes through the routing client that all share.
type ringLink struct {
	l     *Load
	life  context.Context
	done  <-chan struct{}
	pipe  *client.Pipeline
	reply wire.Reply
}

func (l *Load) newRingLink(life context.Context, done <-chan struct{}) link {
	return &ringLink{l: l, life: life, done: done, pipe: l.shared.ring.Pipeline()}
}

func (k *ringLink) ready() bool { return !over(k.done) }
func (k *ringLink) close()      {}

func (k *ringLink) add(op *workload.Op) int {
	k.pipe.DoBytes(op.Args...)
	return commandLen(op.Args)
}

// commandLen is the length of a command as it travels.
func commandLen(args [][]byte) int {
	n := headLen(len(args))
	for _, a := range args {
		n += headLen(len(a)) + len(a) + 2
	}
	return n
}

func headLen(n int) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits + 3
}

func (k *ringLink) exchange(each func(*outcome)) {
	ctx, cancel := context.WithTimeout(k.life, k.l.cfg.Timeout)
	replies, _ := k.pipe.Exec(ctx) // each reply has its own error
	cancel()
	o := outcome{at: k.l.now(), redirected: k.l.shared.redirects.Swap(0)}
	for _, r := range replies {
		err := r.Err()
		var said *client.ServerError
		o.reply, o.sent = nil, false
		switch {
		case errors.As(err, &said):
			k.reply = wire.Reply{Kind: '-', Text: []byte(said.Text)}
			o.reply = &k.reply
		case err != nil:
			o.sent = !errors.Is(err, client.ErrNotSent)
		default:
			k.translate(r)
			o.reply = &k.reply
		}
		each(&o)
		o.redirected = 0
	}
}

func (k *ringLink) translate(r client.Reply) {
	k.reply = wire.Reply{Values: k.reply.Values[:0]}
	switch r.Kind() {
	case client.Integer, client.Boolean:
		k.reply.Kind = ':'
		k.reply.Int, _ = r.Int()
	case client.List, client.Map:
		k.reply.Kind = '*'
		elements, _ := r.List()
		for _, e := range elements {
			v, _ := e.Bytes() // nil for null
			k.reply.Values = append(k.reply.Values, v)
			k.reply.Size += len(v) + headLen(len(v)) + 2
		}
		return
	case client.Null:
		k.reply.Kind = '$'
	default:
		k.reply.Kind = '$'
		k.reply.Text, _ = r.Bytes()
	}
	k.reply.Size = len(k.reply.Text) + headLen(len(k.reply.Text)) + 2
}
