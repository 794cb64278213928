package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

const (
	fillClients  = 4
	fillPipeline = 64
)

// fill writes every key of the keyspace once and reads it again. That proves that
// all are there, and lets a cache take in what it holds.
func fill(ctx context.Context, addr string, keys, valueSize int) error {
	for _, command := range []string{"SET", "GET"} {
		if err := sweep(ctx, addr, command, keys, valueSize); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return nil
}

// sweep sends a command for every key, in parts at a time.
func sweep(ctx context.Context, addr, command string, keys, valueSize int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, fillClients)
	var all sync.WaitGroup
	for i := range fillClients {
		all.Go(func() {
			if errs[i] = sweepPart(ctx, addr, command, valueSize, keys*i/fillClients, keys*(i+1)/fillClients); errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(errs...)
}

func sweepPart(ctx context.Context, addr, command string, valueSize, from, to int) error {
	c, err := dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	rng := rand.New(rand.NewPCG(uint64(from), uint64(to)))
	var b *batch
	for at := from; at < to; {
		n := min(fillPipeline, to-at)
		if b == nil || len(b.keys) != n {
			if b, err = newBatch(command, n, valueSize); err != nil {
				return err
			}
		}
		for i := range n {
			b.setKey(i, at+i)
		}
		b.setValues(rng)
		if _, err := c.Write(b.wire); err != nil {
			return err
		}
		for range n {
			reply, err := c.reply()
			if err != nil {
				return err
			}
			if command == "GET" && len(reply.Text) != valueSize {
				return errUnexpectedValue
			}
		}
		at += n
	}
	return nil
}
