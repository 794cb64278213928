package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A Conn is a client's connection, with as little of the protocol as is needed here. It
// may be used by one goroutine at a time.
type Conn struct {
	net net.Conn
	r   *bufio.Reader
	w   *bufio.Writer
}

// Dial connects to a node.
func Dial(addr string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	return &Conn{c, bufio.NewReaderSize(c, 64<<10), bufio.NewWriterSize(c, 256<<10)}, nil
}

// Over talks over a connection that is there, and whose deadlines hold.
func Over(c net.Conn) *Conn {
	return &Conn{c, bufio.NewReaderSize(c, 16<<10), bufio.NewWriterSize(c, 1<<10)}
}

// Close ends the connection.
func (c *Conn) Close() { _ = c.net.Close() }

// Add puts a command on its way; [Conn.Flush] sends it.
func (c *Conn) Add(args ...[]byte) {
	_, _ = fmt.Fprintf(c.w, "*%d\r\n", len(args))
	for _, a := range args {
		_, _ = c.w.WriteString("$" + strconv.Itoa(len(a)) + "\r\n")
		_, _ = c.w.Write(a)
		_, _ = c.w.WriteString("\r\n")
	}
}

// Flush sends what was added.
func (c *Conn) Flush() error { return c.w.Flush() }

// Reply reads one reply: a line, or a bulk string. An error that the node replies is an
// error.
func (c *Conn) Reply() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("empty reply")
	}
	switch line[0] {
	case '-':
		return "", errors.New(line[1:])
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil || n < 0 {
			return "", err
		}
		b := make([]byte, n+2)
		_, err = io.ReadFull(c.r, b)
		return string(b[:n]), err
	}
	return line[1:], nil
}

// Strings reads one reply: the strings of an array, one after the other.
func (c *Conn) Strings() ([]string, error) {
	head, err := c.r.Peek(1)
	if err != nil {
		return nil, err
	}
	if head[0] != '*' {
		one, err := c.Reply()
		return []string{one}, err
	}
	line, err := c.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	var all []string
	for i := 0; i < count && err == nil; i++ {
		var some []string
		some, err = c.Strings()
		all = append(all, some...)
	}
	return all, err
}

// Do sends a command and waits for its reply.
func (c *Conn) Do(args ...string) (string, error) {
	var b [][]byte
	for _, a := range args {
		b = append(b, []byte(a))
	}
	c.Add(b...)
	if err := c.w.Flush(); err != nil {
		return "", err
	}
	return c.Reply()
}

// Words are what RING INFO says.
func (c *Conn) Words() (map[string]string, error) {
	text, err := c.Do("RING", "INFO")
	if err != nil {
		return nil, err
	}
	words := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			words[name] = value
		}
	}
	return words, nil
}

// Info is what RING INFO says, as numbers.
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
