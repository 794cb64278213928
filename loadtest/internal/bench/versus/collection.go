package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// fillPipeline is the number of commands that are under way at a time where data is written.
const fillPipeline = 64

// fill adds n elements to key.
func (f *collection) fill(c *cluster.Conn, key string, n int, value string) error {
	commands := 0
	for at := 0; at < n; {
		args := []string{f.Add, key}
		for end := min(at+f.Batch, n); at < end; at++ {
			args = append(args, f.element(at, value)...)
		}
		c.AddWords(args...)
		if commands++; commands < fillPipeline && at < n {
			continue
		}
		if err := c.Exchange(commands); err != nil {
			return err
		}
		commands = 0
	}
	return nil
}

func (f *collection) element(i int, value string) []string {
	return expand(f.Element, valueMark, value, indexMark, strconv.Itoa(i), numberMark, digits(i), nextMark, strconv.Itoa(i+1))
}

func digits(i int) string { return fmt.Sprintf("%0*d", keyDigits, i) }

// prepare makes what a measurement needs: no key, or a collection of so many elements.
func (l *load) prepare(ctx context.Context) error {
	c, err := cluster.DialContext(ctx, l.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Do("DEL", l.do.Key); err != nil {
		return fmt.Errorf("prepare %s: DEL: %w", l.Command, err)
	}
	if l.do.Collection == nil {
		return nil
	}
	n := l.do.Elements
	if n == 0 {
		n = l.requests + l.clients*l.Pipeline
	}
	if err := l.do.Collection.fill(c, l.do.Key, n, l.value()); err != nil {
		return fmt.Errorf("prepare %s: %w", l.Command, err)
	}
	return nil
}

// errRanEmpty means that some commands found nothing to remove.
var errRanEmpty = errors.New("nothing is left: some commands found nothing")

// check fails if elements have run out.
func (l *load) check(ctx context.Context) error {
	if l.do.Left == "" {
		return nil
	}
	text, err := cluster.Ask(ctx, l.addr, l.do.Left, l.do.Key)
	if err == nil && text == "0" {
		err = errRanEmpty
	}
	if err != nil {
		return fmt.Errorf("%s after %s: %w", l.do.Left, l.Command, err)
	}
	return nil
}
