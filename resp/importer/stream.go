package importer

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// silent are commands in a stream that change no key.
var silent = map[string]bool{"ping": true, "multi": true, "exec": true, "publish": true, "spublish": true}

// readStream reads the stream of the source and notes which keys it changes, until the link ends.
func (f *follower) readStream(ctx context.Context, l *link) error {
	at := f.tracker.lag().received
	in := wire.NewReplyReader(l.in)
	for {
		request, err := in.Read()
		if err != nil {
			return err
		}
		if request.Kind != wire.KindArray || len(request.Values) == 0 || len(request.Values[0]) == 0 {
			return fmt.Errorf("%w: no command in the stream at offset %d", wire.ErrReply, at.offset)
		}
		next := position{at.offset + int64(request.Size), at.database}
		if err := f.command(ctx, l, request.Values, &next); err != nil {
			return err
		}
		at = next
		f.tracker.advance(at)
	}
}

// command notes what one command changes. next is the position behind it.
func (f *follower) command(ctx context.Context, l *link, args [][]byte, next *position) error {
	name := strings.ToLower(string(args[0]))
	switch {
	case silent[name]:
		return nil
	case name == "select" && len(args) == 2:
		n, err := strconv.Atoi(string(args[1]))
		if err != nil {
			return fmt.Errorf("stream: SELECT %.20q", args[1])
		}
		next.database = n
		return nil
	case name == "replconf":
		if len(args) > 1 && wire.EqualFold(args[1], "getack") {
			return f.acknowledge(l)
		}
		return nil
	case name == "flushdb":
		return f.flush(ctx, next.database)
	case name == "flushall":
		return f.flushAll(ctx)
	case name == "swapdb" && len(args) == 3:
		return f.swap(ctx, args)
	case name == "script" || name == "function":
		return f.pass(ctx, args)
	}
	keys, err := f.finder.find(ctx, args)
	if err != nil {
		return fmt.Errorf("source: keys of %s: %w", name, err)
	}
	other, hasOther := otherDatabase(name, args)
	for _, key := range keys {
		if err := f.touch(ctx, next.database, key); err != nil {
			return err
		}
		if hasOther {
			if err := f.touch(ctx, other, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// touch has a key read again, if it is one that is taken.
func (f *follower) touch(ctx context.Context, database int, key []byte) error {
	if _, ok := f.cfg.Filter.database(database); !ok || !f.cfg.Filter.owns(key) {
		return nil
	}
	return f.tracker.touch(ctx, database, key)
}

// pass executes commands about scripts and functions at the target. Twice is the same as once.
func (f *follower) pass(ctx context.Context, args [][]byte) error {
	if len(args) < 2 || wire.EqualFold(args[0], "script") && !wire.EqualFold(args[1], "load") {
		return nil
	}
	words := make([][]byte, 0, len(args)+1)
	for i, arg := range args {
		words = append(words, arg)
		if i == 1 && wire.EqualFold(args[0], "function") && wire.EqualFold(arg, "load") &&
			!(len(args) > 2 && wire.EqualFold(args[2], "replace")) {
			words = append(words, wordReplace)
		}
	}
	ring, err := f.target.ring(ctx, 0)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	_, err = must(ctx, ring, f.cfg.RetryFor, words...)
	switch judge(ctx, err) {
	case done:
		return nil
	case lost:
		what := fmt.Sprintf("%s %s: %v", args[0], args[1], err)
		f.cfg.Stats.lose(Loss{Key: what, Reason: what, NoKey: true})
		return nil
	}
	return fmt.Errorf("target: %w", err)
}
