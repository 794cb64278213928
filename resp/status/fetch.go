package status

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Source is a node that reports are fetched from.
type Source struct {
	Addr     string      // host:port where it serves clients, or the path of its Unix socket
	Password string      // empty: none
	TLS      *tls.Config // nil: no TLS
}

// Errors of a [Source].
var (
	// ErrUnreachable: there was no answer.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrPassword: the node wants a password, or another one.
	ErrPassword = errors.New("refuses the password")
	// ErrAnswer: what answered is no Ringside that knows RING STATUS, or is not in its
	// cluster yet.
	ErrAnswer = errors.New("does not tell")
)

// maxReport bounds what is read as a report, in bytes: more than the largest.
const maxReport = 64 << 20

// Fetch asks the node for a report, on a connection of its own.
func (s *Source) Fetch(ctx context.Context) (*Report, error) {
	text, err := s.fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Addr, err)
	}
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w: its report cannot be read: %w", s.Addr, ErrAnswer, err)
	}
	return r, nil
}

func (s *Source) fetch(ctx context.Context) ([]byte, error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, plain(err))
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var requests []byte
	if s.Password != "" {
		requests = wire.AppendRequest(requests, "AUTH", s.Password)
	}
	requests = wire.AppendRequest(requests, "RING", "STATUS", "JSON")
	text, err := s.talk(conn, requests)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: no answer in time", ErrUnreachable)
	}
	return text, err
}

// IsPath reports whether an address is the path of a Unix socket: it begins with / or a dot.
func IsPath(addr string) bool { return strings.HasPrefix(addr, "/") || strings.HasPrefix(addr, ".") }

func (s *Source) dial(ctx context.Context) (net.Conn, error) {
	if IsPath(s.Addr) {
		return new(net.Dialer).DialContext(ctx, "unix", s.Addr)
	}
	if s.TLS != nil {
		return (&tls.Dialer{Config: s.TLS}).DialContext(ctx, "tcp", s.Addr)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", s.Addr)
}

// plain leaves out what the reader knows: the address, and that it was dialled.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return op.Err
	}
	return err
}

func (s *Source) talk(conn net.Conn, requests []byte) ([]byte, error) {
	if _, err := conn.Write(requests); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	// The limit is for both replies.
	r := wire.NewReplyReader(io.LimitReader(conn, maxReport))
	if s.Password != "" {
		// A node without a password refuses to be given one, and tells all the same.
		if _, err := readReply(r); err != nil && !strings.Contains(err.Error(), "without any password configured") {
			return nil, s.explain(err)
		}
	}
	text, err := readReply(r)
	return text, s.explain(err)
}

// A refusal is an error reply.
type refusal string

func (r refusal) Error() string { return string(r) }

// explain says what an error means for the caller.
func (s *Source) explain(err error) error {
	var r refusal
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrAnswer):
		return err
	case errors.Is(err, wire.ErrReply) && s.TLS == nil:
		return fmt.Errorf("%w: this is not an answer of a Redis server (does it speak TLS?): %w", ErrAnswer, err)
	case errors.Is(err, wire.ErrReply):
		return fmt.Errorf("%w: this is not an answer of a Redis server: %w", ErrAnswer, err)
	case !errors.As(err, &r) && s.TLS == nil:
		return fmt.Errorf("%w: %w (does it speak TLS?)", ErrUnreachable, err)
	case !errors.As(err, &r):
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	case strings.HasPrefix(string(r), "NOAUTH"):
		return fmt.Errorf("%w: it wants one", ErrPassword)
	case strings.HasPrefix(string(r), "WRONGPASS"):
		return fmt.Errorf("%w: it wants another one", ErrPassword)
	case strings.HasPrefix(string(r), "ERR unknown"):
		return fmt.Errorf("%w: it does not know RING STATUS: it is not Ringside, or an older version", ErrAnswer)
	}
	return fmt.Errorf("%w: %w", ErrAnswer, err)
}

// readReply reads a simple string, an error or a bulk string.
func readReply(r *wire.ReplyReader) ([]byte, error) {
	reply, err := r.Read()
	switch {
	case err != nil:
		return nil, err
	case reply.Kind == wire.KindError:
		return nil, refusal(printable(string(reply.Text)))
	case reply.Text == nil:
		return nil, fmt.Errorf("%w: the reply is not a text", ErrAnswer)
	}
	return bytes.Clone(reply.Text), nil
}
