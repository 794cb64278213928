package main

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

// A conn is a client's connection, with as little of the protocol as is needed here.
type conn struct {
	net net.Conn
	r   *bufio.Reader
	w   *bufio.Writer
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReaderSize(c, 64<<10), bufio.NewWriterSize(c, 256<<10)}, nil
}

func (c *conn) close() { _ = c.net.Close() }

func (c *conn) add(args ...[]byte) {
	_, _ = fmt.Fprintf(c.w, "*%d\r\n", len(args))
	for _, a := range args {
		_, _ = c.w.WriteString("$" + strconv.Itoa(len(a)) + "\r\n")
		_, _ = c.w.Write(a)
		_, _ = c.w.WriteString("\r\n")
	}
}

// reply reads one reply: a line, or a bulk string.
func (c *conn) reply() (string, error) {
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

func (c *conn) do(args ...string) (string, error) {
	var b [][]byte
	for _, a := range args {
		b = append(b, []byte(a))
	}
	c.add(b...)
	if err := c.w.Flush(); err != nil {
		return "", err
	}
	return c.reply()
}

// info is what RING INFO says, as numbers.
func (c *conn) info() (map[string]int64, error) {
	text, err := c.do("RING", "INFO")
	if err != nil {
		return nil, err
	}
	figures := make(map[string]int64)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			figures[name] = n
		}
	}
	return figures, nil
}
