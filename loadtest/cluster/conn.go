package cluster

import (
	"net"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Conn is a client's connection. It may be used by one goroutine at a time.
type Conn struct {
	net net.Conn
	in  *wire.ReplyReader
	out []byte // requests that have not been sent
	err error  // of sending them
}

// sendAt is the number of bytes of requests from which on [Conn.Add] sends them.
const sendAt = 256 << 10

// Dial connects to a node.
func Dial(addr string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	return Over(c), nil
}

// Over returns a Conn over a connection whose deadlines the caller sets.
func Over(c net.Conn) *Conn {
	in := wire.NewReplyReader(c)
	in.Flat = true
	return &Conn{net: c, in: in}
}

// Close ends the connection.
func (c *Conn) Close() { _ = c.net.Close() }

// Add adds a request; [Conn.Flush] sends it.
func (c *Conn) Add(args ...[]byte) {
	if c.out = wire.AppendRequest(c.out, args...); len(c.out) >= sendAt {
		c.send()
	}
}

func (c *Conn) send() {
	if c.err == nil && len(c.out) > 0 {
		_, c.err = c.net.Write(c.out)
	}
	c.out = c.out[:0]
}

// Flush sends the requests that were added.
func (c *Conn) Flush() error {
	c.send()
	return c.err
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
	c.out = wire.AppendRequest(c.out, args...)
	if err := c.Flush(); err != nil {
		return "", err
	}
	return c.Reply()
}

// Words returns RING INFO.
func (c *Conn) Words() (map[string]string, error) {
	text, err := c.Do("RING", "INFO")
	if err != nil {
		return nil, err
	}
	return readFigures(text), nil
}

// Info returns the numbers of RING INFO.
func (c *Conn) Info() (map[string]int64, error) {
	words, err := c.Words()
	if err != nil {
		return nil, err
	}
	figures := make(map[string]int64)
	for name, value := range words {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			figures[name] = n
		}
	}
	return figures, nil
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
		c.Add([]byte("RING"), []byte("LOCATE"), []byte(key))
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
