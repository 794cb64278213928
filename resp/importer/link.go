package importer

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/psync"
	"github.com/ringside-kv/ringside/resp/wire"
)

// silence is how long a source may send nothing before its connection is given up. It sends a PING every
// 10 seconds, unless it is set otherwise.
const silence = 70 * time.Second

// A link is a connection to a source, of its own: as a replica, or for commands that change the connection.
// One goroutine reads; send is for any.
type link struct {
	conn net.Conn
	in   *bufio.Reader
	stop func() bool

	mu  sync.Mutex // for writes
	out []byte
}

// timedConn fails a read that waits for too long.
type timedConn struct{ net.Conn }

// Read reads, for a limited time.
func (c timedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// A refusal is an error that a source has replied with.
type refusal struct{ command, text string }

func (r *refusal) Error() string { return r.command + ": " + r.text }

// code is the first word of the error.
func (r *refusal) code() string {
	code, _, _ := strings.Cut(r.text, " ")
	return code
}

// dial connects and logs in. The connection ends with the context.
func dial(ctx context.Context, cfg *client.Config) (*link, error) {
	addr := cfg.Addrs[0]
	dialing, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	connect := cfg.Dial
	if connect == nil {
		var d net.Dialer
		connect = func(ctx context.Context, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) }
	}
	conn, err := connect(dialing, addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	if cfg.TLS != nil {
		conf := cfg.TLS.Clone()
		if conf.ServerName == "" {
			conf.ServerName, _, _ = net.SplitHostPort(addr)
		}
		conn = tls.Client(conn, conf)
	}
	l := &link{conn: conn}
	l.in = bufio.NewReaderSize(timedConn{conn}, 64<<10)
	l.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	if cfg.Password != "" {
		words := []string{"AUTH", cfg.Password}
		if cfg.Username != "" {
			words = []string{"AUTH", cfg.Username, cfg.Password}
		}
		if _, err := l.do(words...); err != nil {
			l.close()
			return nil, fmt.Errorf("log in to %s: %w", addr, err)
		}
	}
	return l, nil
}

func (l *link) close() {
	l.stop()
	_ = l.conn.Close()
}

// send sends a command.
func (l *link) send(words ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = wire.AppendRequest(l.out[:0], words...)
	return l.write()
}

// sendNewline sends what a replica that is loading sends, so that its source does not give up.
func (l *link) sendNewline() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = append(l.out[:0], '\n')
	return l.write()
}

func (l *link) write() error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(silence)); err != nil {
		return err
	}
	_, err := l.conn.Write(l.out)
	return err
}

// do sends a command and returns its reply of one line.
func (l *link) do(words ...string) (string, error) {
	if err := l.send(words...); err != nil {
		return "", err
	}
	line, err := l.line()
	if err != nil {
		return "", err
	}
	if text, isError := strings.CutPrefix(line, "-"); isError {
		return "", &refusal{words[0], text}
	}
	return strings.TrimPrefix(line, "+"), nil
}

// line returns the next line that is not empty: a source sends empty ones while it is busy.
func (l *link) line() (string, error) {
	for {
		line, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = fmt.Errorf("the source sends a line of more than %d bytes", len(line))
		}
		if err != nil {
			return "", err
		}
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			return text, nil
		}
	}
}

// A syncReply is what a source replies to PSYNC.
type syncReply struct {
	full   bool
	id     string // empty: as before
	offset int64  // of a full copy: the offset in the stream at which it was made
}

// handshake makes the link that of a replica. With an ID it asks for what follows the offset.
func (l *link) handshake(id string, offset int64) (r syncReply, err error) {
	if _, err := l.do("PING"); err != nil {
		return r, err
	}
	// Old sources do not know some of these, and do well without.
	for _, words := range [][]string{{"listening-port", "1"}, {"capa", "eof", "capa", "psync2", "capa", psync.CapaAnyValue}} {
		var refused *refusal
		if _, err := l.do(append([]string{"REPLCONF"}, words...)...); err != nil && !errors.As(err, &refused) {
			return r, err
		}
	}
	words := []string{"PSYNC", "?", "-1"}
	if id != "" {
		words = []string{"PSYNC", id, strconv.FormatInt(offset+1, 10)}
	}
	reply, err := l.do(words...)
	if err != nil {
		return r, err
	}
	fields := strings.Fields(reply)
	switch {
	case len(fields) == 3 && fields[0] == "FULLRESYNC":
		r.full, r.id = true, fields[1]
		r.offset, err = strconv.ParseInt(fields[2], 10, 64)
	case len(fields) >= 1 && fields[0] == "CONTINUE" && id != "":
		if len(fields) > 1 {
			r.id = fields[1]
		}
	default:
		err = errors.New("unexpected")
	}
	if err != nil {
		return r, fmt.Errorf("reply to PSYNC is %.60q: %w", reply, err)
	}
	return r, nil
}

// markSize is the length of the mark behind an RDB file whose length is not known.
const markSize = 40

// file returns the RDB file that comes now, its length or -1, and the mark behind it if there is one.
func (l *link) file() (src io.Reader, length int64, mark string, err error) {
	line, err := l.line()
	if err != nil {
		return nil, 0, "", err
	}
	text, ok := strings.CutPrefix(line, "$")
	if mark, marked := strings.CutPrefix(text, "EOF:"); ok && marked && len(mark) == markSize {
		return l.in, -1, mark, nil
	}
	length, err = strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || length < 0 {
		return nil, 0, "", fmt.Errorf("the source sends %.60q in place of an RDB file", line)
	}
	return io.LimitReader(l.in, length), length, "", nil
}

// afterFile reads the mark that follows a file. rest is what its reader has left.
func (l *link) afterFile(rest io.Reader, mark string) error {
	if mark == "" {
		return nil
	}
	l.in = bufio.NewReaderSize(rest, 64<<10)
	var got [markSize]byte
	if _, err := io.ReadFull(l.in, got[:]); err != nil {
		return err
	}
	if string(got[:]) != mark {
		return fmt.Errorf("%.40q follows the RDB file, not its mark", got[:])
	}
	return nil
}
