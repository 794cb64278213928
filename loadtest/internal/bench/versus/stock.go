package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	stockElements = 100 // in one command
	stockPipeline = 16
)

// prepare makes what a measurement is to find: nothing under its key, or as many
// elements as it needs. What the measurement before has left goes.
func (r *recipe) prepare(ctx context.Context, l load) error {
	if r.key == "" {
		return nil
	}
	c, err := dial(ctx, l.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err := c.do("DEL", r.key); err != nil {
		return fmt.Errorf("prepare %s: DEL: %w", r.command, err)
	}
	if r.stock == nil {
		return nil
	}
	if err := c.SetDeadline(time.Time{}); err != nil { // the context limits it
		return err
	}
	if err := r.fill(c, l); err != nil {
		return fmt.Errorf("prepare %s: %w", r.command, err)
	}
	return nil
}

func (r *recipe) fill(c *conn, l load) error {
	n, value := r.elements, string(valuePool[:l.valueSize])
	if n == 0 {
		n = l.requests + l.clients*l.pipeline
	}
	var requests []byte
	commands := 0
	for at := 0; at < n; {
		args := append([]string(nil), r.stock...)
		for end := min(at+stockElements, n); at < end; at++ {
			args = append(args, r.element(at, value)...)
		}
		requests = wire.AppendRequest(requests, args...)
		if commands++; commands < stockPipeline && at < n {
			continue
		}
		if err := c.exchange(requests, commands); err != nil {
			return err
		}
		requests, commands = requests[:0], 0
	}
	return nil
}

// errRanEmpty means that some commands found nothing to take.
var errRanEmpty = errors.New("nothing is left: some commands found nothing")

// check fails if elements have run out.
func (r *recipe) check(ctx context.Context, addr string) error {
	if r.left == nil {
		return nil
	}
	c, err := dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	text, err := c.do(r.left...)
	if err != nil {
		return fmt.Errorf("%s: %w", r.left[0], err)
	}
	if n, err := strconv.Atoi(text); err != nil {
		return fmt.Errorf("%s: %w", r.left[0], err)
	} else if n == 0 {
		return fmt.Errorf("%s: %w", r.command, errRanEmpty)
	}
	return nil
}
