package importer

import (
	"context"
	"strconv"
	"time"
)

// Of reports.
const (
	reportEvery = 50 * time.Millisecond // looks
	ackEvery    = time.Second
	ackLeast    = 100 * time.Millisecond // between two, where the target has just caught up
)

// reports tells the source and the state file how far the target is, until the context ends.
func (f *follower) reports(ctx context.Context, l *link) error {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		if err := f.report(l); err != nil {
			return err
		}
	}
}

func (f *follower) report(l *link) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.tracker.lag()
	f.show(at)
	now := time.Now()
	caughtUp := at.keys == 0 && at.applied.offset != f.written.Offset
	if since := now.Sub(f.reported); since >= ackEvery || caughtUp && since >= ackLeast {
		f.reported = now
		if err := l.send("REPLCONF", "ACK", strconv.FormatInt(at.applied.offset, 10)); err != nil {
			return linkError{err}
		}
		if err := f.save(at); err != nil {
			return err
		}
	}
	if f.goal >= 0 && at.applied.offset >= f.goal {
		return errReached
	}
	return nil
}

// acknowledge tells the source at once.
func (f *follower) acknowledge(l *link) error {
	return l.send("REPLCONF", "ACK", strconv.FormatInt(f.tracker.lag().applied.offset, 10))
}

func (f *follower) show(at lag) {
	s := f.cfg.Stats
	s.received.Store(at.received.offset)
	s.applied.Store(at.applied.offset)
	s.waiting.Store(int64(at.keys))
	s.oldest.Store(0)
	if !at.oldest.IsZero() {
		s.oldest.Store(at.oldest.UnixNano())
	}
}

// save writes the state file if it has changed.
func (f *follower) save(at lag) error {
	f.state.Offset, f.state.Database = at.applied.offset, at.applied.database
	if f.state == f.written {
		return nil
	}
	if err := f.state.write(f.cfg.State); err != nil {
		return err
	}
	f.written = f.state
	return nil
}

// saveLast writes the state file once nothing runs any more.
func (f *follower) saveLast() error {
	if !f.state.Loaded {
		return nil
	}
	at := f.tracker.lag()
	f.show(at)
	return f.save(at)
}
