package importer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/wire"
)

// refusesSync reports whether a source will not have replicas, as hosted services do.
func refusesSync(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.command == "PSYNC" && (r.code() == "ERR" || r.code() == "NOPERM")
}

// scanSession copies all keys by SCAN and DUMP, and after that those that change, as far as the source tells
// by its keyspace events. Where the connection breaks, all keys are read again.
func (f *follower) scanSession(ctx context.Context, l *link, refused error) error {
	s := f.cfg.Stats
	s.note("the source refuses replicas (%v): keys were read by SCAN. The copy is not of one moment", refused)
	s.scanning.Store(true)
	hadKeys := f.resumed
	f.resumed = true
	f.state.beginCopy("", 0)
	if err := f.state.write(f.cfg.State); err != nil {
		return err
	}
	told, err := f.events(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer l.close()
	defer cancel(nil)
	if told {
		in, err := subscribe(l)
		if err != nil {
			return linkError{err}
		}
		running.Go(func() {
			err := f.readEvents(ctx, in)
			if ctx.Err() == nil && isStream(err) {
				err = linkError{err}
			}
			cancel(err)
		})
	}
	if err := f.scanAll(ctx, hadKeys); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	if f.cfg.Once || !told {
		return errReached
	}
	s.scanning.Store(false)
	s.enter(phaseEvents)
	<-ctx.Done()
	return context.Cause(ctx)
}

// scanAll reads all keys of the source, and removes others from the target.
func (f *follower) scanAll(ctx context.Context, hadKeys bool) error {
	f.cfg.Stats.enter("scan")
	p := patience{most: f.cfg.RetryFor}
	all, err := databasesOf(ctx, f.finder.source, p)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	for _, n := range all {
		if err := f.readAll(ctx, n); err != nil {
			return err
		}
	}
	if err := f.tracker.drain(ctx); err != nil || !hadKeys || f.cfg.Merge {
		return err
	}
	f.cfg.Stats.enter("remove what the source has not any more")
	return f.sweepAll(ctx)
}

// events reports whether the source tells which keys change.
func (f *follower) events(ctx context.Context) (bool, error) {
	reply, err := must(ctx, f.finder.source, f.cfg.RetryFor, []byte("CONFIG"), []byte("GET"), []byte("notify-keyspace-events"))
	if err != nil {
		var server *client.ServerError
		if !errors.As(err, &server) {
			return false, fmt.Errorf("source: %w", err)
		}
		f.cfg.Stats.note("the source does not tell its settings: changes are seen only if its notify-keyspace-events is KA")
		return true, nil
	}
	pairs, err := reply.Map()
	if err != nil {
		return false, err
	}
	flags, _ := pairs["notify-keyspace-events"].Text()
	if !strings.Contains(flags, "K") || !strings.Contains(flags, "A") {
		f.cfg.Stats.note("keys that changed while they were read may be missing, since notify-keyspace-events of the source is %q: set it to KA, or run the import again when nothing writes", flags)
		return false, nil
	}
	f.cfg.Stats.note("changes are seen by keyspace events, which do not tell of FLUSHALL and FLUSHDB, and are lost while the connection is broken: all keys are read again then")
	return true, nil
}

const eventPrefix = "__keyspace@"

func subscribe(l *link) (*wire.ReplyReader, error) {
	if err := l.send("PSUBSCRIBE", eventPrefix+"*__:*"); err != nil {
		return nil, err
	}
	in := wire.NewReplyReader(l.in)
	reply, err := in.Read()
	if err == nil && reply.Kind == wire.KindError {
		err = &refusal{"PSUBSCRIBE", string(reply.Text)}
	}
	return in, err
}

// readEvents notes which keys change.
func (f *follower) readEvents(ctx context.Context, in *wire.ReplyReader) error {
	for {
		message, err := in.Read()
		if err != nil {
			return err
		}
		if len(message.Values) != 4 || string(message.Values[0]) != "pmessage" {
			continue
		}
		number, key, ok := strings.Cut(strings.TrimPrefix(string(message.Values[2]), eventPrefix), "__:")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if err := f.touch(ctx, n, []byte(key)); err != nil {
			return err
		}
	}
}
