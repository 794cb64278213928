package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Conn is a client's connection. It may be used by one goroutine at a time.
type Conn struct {
	net.Conn
	in  *wire.ReplyReader
	out []byte      // requests that have not been sent
	err error       // of sending them
	cut func() bool // ends the watch that closes it with a context
}

const (
	// sendAt is the number of bytes of requests from which on [Conn.Add] sends them.
	sendAt = 256 << 10
	// patience is how long a node may take to answer.
	patience = 2 * time.Second
)

// access is how nodes are talked to.
type access struct {
	username, password string
	tls                *tls.Config // nil: without
}

// dial connects and logs in.
func (a access) dial(ctx context.Context, addr string) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dial := new(net.Dialer).DialContext
	if a.tls != nil {
		dial = (&tls.Dialer{Config: a.tls}).DialContext
	}
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := Over(context.Background(), conn)
	if a.password == "" {
		return c, nil
	}
	words := []string{"AUTH", a.username, a.password}
	if a.username == "" {
		words = slices.Delete(words, 1, 2)
	}
	if _, err := c.do(ctx, words...); err != nil {
		c.Close()
		return nil, fmt.Errorf("log in: %w", err)
	}
	return c, nil
}

// ask sends one command over a connection of its own.
func (a access) ask(ctx context.Context, addr string, words ...string) (string, error) {
	c, err := a.dial(ctx, addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.do(ctx, words...)
}

// Dial connects to a node that wants no password. The methods of the connection wait without limit.
func Dial(addr string) (*Conn, error) { return access{}.dial(context.Background(), addr) }

// DialContext is Dial with a connection that ends with ctx.
func DialContext(ctx context.Context, addr string) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return Over(ctx, conn), nil
}

// Ask sends one command over a connection of its own, which ends with ctx.
func Ask(ctx context.Context, addr string, words ...string) (string, error) {
	c, err := DialContext(ctx, addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Do(words...)
}

// Over returns a Conn over a connection, which ends with ctx.
func Over(ctx context.Context, conn net.Conn) *Conn {
	c := &Conn{Conn: conn, in: wire.NewReplyReader(conn), cut: context.AfterFunc(ctx, func() { _ = conn.Close() })}
	c.in.Flat = true
	return c
}

// Close ends the connection.
func (c *Conn) Close() {
	c.cut()
	_ = c.Conn.Close()
}

// Add adds a request; [Conn.Flush] sends it.
func (c *Conn) Add(args ...[]byte) {
	if c.out = wire.AppendRequest(c.out, args...); len(c.out) >= sendAt {
		c.send()
	}
}

// AddWords is Add of words.
func (c *Conn) AddWords(words ...string) {
	if c.out = wire.AppendRequest(c.out, words...); len(c.out) >= sendAt {
		c.send()
	}
}

func (c *Conn) send() {
	if c.err == nil && len(c.out) > 0 {
		_, c.err = c.Write(c.out)
	}
	c.out = c.out[:0]
}

// Flush sends the requests that were added.
func (c *Conn) Flush() error {
	c.send()
	return c.err
}

// Exchange sends the requests that were added and reads n replies, of which none may be an error.
func (c *Conn) Exchange(n int) error {
	if err := c.Flush(); err != nil {
		return err
	}
	for range n {
		if _, err := c.Reply(); err != nil {
			return err
		}
	}
	return nil
}

// Reply reads one reply as [wire.Reply.Joined] returns it.
func (c *Conn) Reply() (string, error) {
	reply, err := c.in.Read()
	if err != nil {
		return "", err
	}
	return reply.Joined()
}

// Strings reads one reply: the strings of an array of any depth, or one string.
func (c *Conn) Strings() ([]string, error) {
	reply, err := c.in.Read()
	if err != nil {
		return nil, err
	}
	text, err := reply.Joined()
	if reply.Kind != '*' {
		return []string{text}, err
	}
	all := make([]string, len(reply.Values))
	for i, v := range reply.Values {
		all[i] = string(v)
	}
	return all, err
}

// Do sends a command and waits for its reply.
func (c *Conn) Do(args ...string) (string, error) {
	c.AddWords(args...)
	if err := c.Flush(); err != nil {
		return "", err
	}
	return c.Reply()
}

// do is Do within ctx and patience.
func (c *Conn) do(ctx context.Context, args ...string) (string, error) {
	defer c.bound(ctx, patience)()
	return c.Do(args...)
}

// bound ends what waits for the node when ctx does, or the node's time is over.
func (c *Conn) bound(ctx context.Context, d time.Duration) (free func()) {
	_ = c.SetDeadline(time.Now().Add(d))
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// figures are names and values, as INFO tells them.
type figures map[string]string

func readFigures(text string) figures {
	f := make(figures)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			f[name] = value
		}
	}
	return f
}

// int is a number, 0 if there is none.
func (f figures) int(name string) int64 {
	n, _ := strconv.ParseInt(f[name], 10, 64)
	return n
}

func (f figures) float(name string) float64 {
	x, _ := strconv.ParseFloat(f[name], 64)
	return x
}

// Numbers are the numbers in a reply to INFO, by their names.
func Numbers(info string) map[string]int64 {
	numbers := make(map[string]int64)
	for name, value := range readFigures(info) {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			numbers[name] = n
		}
	}
	return numbers
}

// A Place is where a key lies.
type Place struct {
	Range   string
	Primary string
	Backups []string
}

// Locate tells where keys lie, as far as the node knows.
func (c *Conn) Locate(keys []string) ([]Place, error) {
	for _, key := range keys {
		c.AddWords("RING", "LOCATE", key)
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	places := make([]Place, len(keys))
	for i := range keys {
		reply, err := c.Strings()
		if err != nil {
			return nil, err
		}
		places[i] = place(reply)
	}
	return places, nil
}

// place reads names and values in turn; all that follows the name of the backups are those.
func place(reply []string) (p Place) {
	for i := 0; i+1 < len(reply); i += 2 {
		switch reply[i] {
		case "range":
			p.Range = reply[i+1]
		case "primary":
			p.Primary = reply[i+1]
		case "backups":
			p.Backups = reply[i+1:]
			return p
		}
	}
	return p
}
