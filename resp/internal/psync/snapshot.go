package psync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/moment"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A snapshot is what one replica gets first: the cluster at one moment, and where the stream goes on, if it does. A file
// alone has no history: one would have writes wait for changes to be told until repl-backlog-ttl after it.
type snapshot struct {
	s      *Server
	h      *history // nil, as cursor: a file alone
	moment *moment.Reader
	cursor *cursor
}

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// snapshot takes a moment, again and again until there is one. The caller closes it.
func (s *Server) snapshot(ctx context.Context, fileOnly bool) (*snapshot, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		snap, err := s.trySnapshot(ctx, fileOnly)
		if err == nil || ctx.Err() != nil {
			return snap, err
		}
		s.warn("a replica has to wait for its full synchronization", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

func (s *Server) trySnapshot(ctx context.Context, fileOnly bool) (*snapshot, error) {
	if fileOnly {
		m, err := moment.Open(ctx, s.pool)
		return &snapshot{s: s, moment: m}, err
	}
	if err := s.cfg.Ready(ctx); err != nil {
		return nil, err
	}
	h, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	h.pause()
	m, err := moment.Open(ctx, s.pool)
	cursor := h.resume(err == nil)
	if err != nil {
		return nil, err
	}
	return &snapshot{s, h, m, cursor}, nil
}

// completeVersion is the RDB version of a file without a stream behind it, which must have all keys. It is that of Redis
// 7.4, which has fields of hashes that expire.
const completeVersion = 12

// write sends the file with a mark behind it. anyValue: the replica reads values of every RDB version and of modules.
func (sn *snapshot) write(ctx context.Context, out io.Writer, want Content, anyValue bool) error {
	mark := newID()
	if _, err := io.WriteString(out, "$EOF:"+mark+"\r\n"); err != nil {
		return err
	}
	if err := sn.writeFile(ctx, out, want, anyValue); err != nil {
		return err
	}
	_, err := io.WriteString(out, mark)
	return err
}

func (sn *snapshot) writeFile(ctx context.Context, out io.Writer, want Content, anyValue bool) error {
	s := sn.s
	settings := s.cfg.Settings()
	_, version := settings.versions()
	switch {
	case anyValue:
		version = rdbfile.MaxWriteVersion
	case want.FileOnly && settings.Version == 0:
		version = completeVersion
	}
	w, err := rdbfile.NewWriter(out, version)
	if err != nil {
		return err
	}
	for _, fact := range [][2]string{
		{"redis-ver", "7.0.0"}, {"redis-bits", "64"}, {"ctime", strconv.FormatInt(sn.moment.Moment.AtMS/1000, 10)}, {"made-by", "ringside"},
	} {
		if err := w.Aux(fact[0], fact[1]); err != nil {
			return err
		}
	}
	if version >= functionVersion && !want.NoFunctions {
		libraries, err := moment.Libraries(ctx, s.pool)
		if err != nil {
			return fmt.Errorf("functions: %w", err)
		}
		for _, code := range libraries {
			if err := w.Function(code); err != nil {
				return err
			}
		}
	}
	if want.NoKeys {
		return w.Close()
	}
	for i := range sn.moment.Moment.Parts {
		err := sn.moment.Part(ctx, i).Each(func(e *rdbfile.Entry) error {
			if e.Reason != "" && want.FileOnly {
				return fmt.Errorf("key %q: %s", e.Key, e.Reason)
			}
			if e.Reason != "" {
				s.skipped.Add(1)
				return nil
			}
			err := error(rdbfile.ErrVersion)
			if anyValue || want.FileOnly || !rdb.IsModule(e.Payload) { // Redis ends its process at a value of a module that it lacks
				err = w.Key(e.Database, e.Key, e.Payload, e.ExpireAt)
			}
			if err != nil && want.FileOnly {
				return fmt.Errorf("key %q: %w", e.Key, err)
			}
			if errors.Is(err, rdbfile.ErrVersion) {
				sn.h.touch(place{e.Database, string(e.Key)}) // what the replica takes of it comes by the stream
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return w.Close()
}
