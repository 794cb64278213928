package importer

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/client"
)

// scanCount is about how many keys one SCAN returns.
const scanCount = "1000"

// scan calls each with the keys of a database, batch by batch. Keys that are there all the time come at
// least once.
func scan(ctx context.Context, r *client.Ring, f *Filter, p patience, each func(keys [][]byte) error) error {
	cursor := []byte("0")
	for {
		args := [][]byte{[]byte("SCAN"), cursor, []byte("COUNT"), []byte(scanCount)}
		if f.Match != "" {
			args = append(args, []byte("MATCH"), []byte(f.Match))
		}
		reply, err := must(ctx, r, p.most, args...)
		if err != nil {
			return err
		}
		parts, err := reply.List()
		if err != nil || len(parts) != 2 {
			return fmt.Errorf("reply to SCAN: %v %w", reply, err)
		}
		texts, err := parts[1].Texts()
		if err != nil {
			return fmt.Errorf("reply to SCAN: %w", err)
		}
		keys := make([][]byte, 0, len(texts))
		for _, text := range texts {
			if key := []byte(text); f.owns(key) {
				keys = append(keys, key)
			}
		}
		if err := each(keys); err != nil {
			return err
		}
		if cursor, err = parts[0].Bytes(); err != nil || string(cursor) == "0" {
			return err
		}
	}
}

// databasesOf returns the numbers of the databases that have keys, as INFO tells.
func databasesOf(ctx context.Context, r *client.Ring, p patience) ([]int, error) {
	reply, err := must(ctx, r, p.most, []byte("INFO"), []byte("keyspace"))
	if err != nil {
		return nil, err
	}
	text, err := reply.Text()
	if err != nil {
		return nil, err
	}
	var all []int
	for line := range strings.Lines(text) {
		name, facts, ok := strings.Cut(line, ":")
		number, ok2 := strings.CutPrefix(name, "db")
		n, err := strconv.Atoi(number)
		if ok && ok2 && err == nil && !strings.HasPrefix(facts, "keys=0,") {
			all = append(all, n)
		}
	}
	return all, nil
}

// sources returns the databases of the source whose keys are in the target, or may be.
func (f *follower) sources(ctx context.Context) ([]int, error) {
	var all []int
	for n := range f.cfg.Filter.Databases {
		all = append(all, n)
	}
	if f.cfg.Filter.Databases != nil {
		return all, nil
	}
	ring, err := f.target.ring(ctx, 0)
	if err == nil {
		all, err = databasesOf(ctx, ring, patience{most: f.cfg.RetryFor})
	}
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return all, nil
}

// sweep has keys of the target read again that came from a database of the source: all, or those that the
// source does not have.
func (f *follower) sweep(ctx context.Context, n int, missing bool) error {
	m, ok := f.cfg.Filter.database(n)
	if !ok {
		return nil
	}
	target, err := f.target.ring(ctx, m)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	source, err := f.source.ring(ctx, n)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	p := patience{most: f.cfg.RetryFor}
	return scan(ctx, target, &f.cfg.Filter, p, func(keys [][]byte) error {
		if missing {
			if keys, err = absent(ctx, source, p, keys); err != nil {
				return fmt.Errorf("source: %w", err)
			}
		}
		for _, key := range keys {
			if err := f.tracker.touch(ctx, n, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// absent returns the keys that do not exist.
func absent(ctx context.Context, r *client.Ring, p patience, keys [][]byte) ([][]byte, error) {
	pipe := r.Pipeline()
	for {
		for _, key := range keys {
			pipe.DoBytes([]byte("EXISTS"), key)
		}
		replies, err := pipe.Exec(ctx)
		switch judge(ctx, err) {
		case done:
			gone := keys[:0]
			for i, key := range keys {
				if n, _ := replies[i].Int(); n == 0 {
					gone = append(gone, key)
				}
			}
			return gone, nil
		case later:
			if err := p.wait(ctx, err); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

// flush empties what came from a database of the source.
func (f *follower) flush(ctx context.Context, n int) error {
	m, ok := f.cfg.Filter.database(n)
	switch {
	case !ok:
		return nil
	case f.cfg.Merge:
		f.cfg.Stats.note("database %d of the source was emptied, and the target was not empty at the beginning: keys that it had only there may still be at the target", n)
		return nil
	case !f.cfg.Filter.all(n):
		return f.sweep(ctx, n, false)
	}
	// What changed before must be written before; what changes behind this command is read again behind it.
	if err := f.tracker.drain(ctx); err != nil {
		return err
	}
	target, err := f.target.ring(ctx, m)
	if err == nil {
		_, err = must(ctx, target, f.cfg.RetryFor, []byte("FLUSHDB"))
	}
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

func (f *follower) flushAll(ctx context.Context) error {
	if err := f.tracker.drain(ctx); err != nil { // what is being written shows in the databases then
		return err
	}
	all, err := f.sources(ctx)
	if err != nil {
		return err
	}
	for _, n := range all {
		if err := f.flush(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// swap reads all keys of two databases again that the source has swapped.
func (f *follower) swap(ctx context.Context, args [][]byte) error {
	for _, arg := range args[1:] {
		n, err := strconv.Atoi(string(arg))
		if err != nil {
			return fmt.Errorf("stream: SWAPDB %.20q", arg)
		}
		if err := f.sweep(ctx, n, false); err != nil {
			return err
		}
		if err := f.readAll(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// readAll has all keys of a database of the source read again.
func (f *follower) readAll(ctx context.Context, n int) error {
	if _, ok := f.cfg.Filter.database(n); !ok {
		return nil
	}
	source, err := f.source.ring(ctx, n)
	if err == nil {
		err = scan(ctx, source, &f.cfg.Filter, patience{most: f.cfg.RetryFor}, func(keys [][]byte) error {
			for _, key := range keys {
				if err := f.tracker.touch(ctx, n, key); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	return nil
}
