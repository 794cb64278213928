package psync

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A reader is a connection to this node that reads values. One goroutine uses it.
type reader struct {
	dial     func() (net.Conn, error)
	conn     net.Conn
	replies  *wire.ReplyReader
	database int
	out      []byte
}

// open connects, unless the connection is there.
func (r *reader) open() error {
	if r.conn != nil {
		return nil
	}
	conn, err := r.dial()
	if err != nil {
		return err
	}
	r.conn, r.replies, r.database = conn, wire.NewReplyReader(conn), 0
	r.out = r.out[:0]
	for _, words := range [][]string{{"CLIENT", "SETNAME", "replicas"}, {"CLIENT", "NO-EVICT", "on"}, {"CLIENT", "NO-TOUCH", "on"}} {
		if _, err := r.do(words...); err != nil {
			r.close()
			return err
		}
	}
	return nil
}

func (r *reader) close() {
	if r.conn != nil {
		_ = r.conn.Close()
		r.conn = nil
	}
}

// do runs a command. The reply is valid until the next one.
func (r *reader) do(words ...string) (*wire.Reply, error) {
	if _, err := r.conn.Write(wire.AppendRequest(nil, words...)); err != nil {
		return nil, err
	}
	reply, err := r.replies.Read()
	if err == nil && reply.Kind == wire.KindError {
		err = wire.ReplyError(reply.Text)
	}
	return reply, err
}

// use selects a database.
func (r *reader) use(database int) error {
	if database == r.database {
		return nil
	}
	if _, err := r.do("SELECT", strconv.Itoa(database)); err != nil {
		return fmt.Errorf("SELECT: %w", err)
	}
	r.database = database
	return nil
}

// request adds a question for a key to what send sends.
func (r *reader) request(at place, version string) (selects bool) {
	if selects = at.database != r.database; selects {
		r.out = wire.AppendRequest(r.out, "SELECT", strconv.Itoa(at.database))
		r.database = at.database
	}
	r.out = wire.AppendRequest(r.out, "RING", "VALUE", at.key, version)
	return selects
}

// send sends all questions in a goroutine, since these and the answers may be more than the connection holds. The
// result comes when they are sent, or after close.
func (r *reader) send() <-chan error {
	sent := make(chan error, 1)
	conn, out := r.conn, r.out
	if r.out = out[:0]; cap(out) > chunkSize {
		r.out = nil
	}
	go func() {
		_, err := conn.Write(out)
		sent <- err
	}()
	return sent
}

// answer reads the reply to a question, which is valid until the next one.
func (r *reader) answer(selects bool) (*wire.Reply, error) {
	if selects {
		reply, err := r.replies.Read()
		if err != nil {
			return nil, err
		}
		if reply.Kind == wire.KindError {
			return nil, errors.New(string(reply.Text))
		}
	}
	return r.replies.Read()
}
