package table

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// Below is where tests let what a table rests on fail. The zero value lets nothing fail.
type Below struct {
	// Append is asked before entries are written to the log; its error is that of the write.
	Append func() error
	// Applying is called before an entry is applied, by the goroutine that applies it.
	Applying func()
}

// standAgainAfter is for how long a server whose log has refused an entry does not stand for
// election. A leader has to write an entry first of all, so such a server would lead for a
// moment only, and might be the first to stand each time. Others are elected in much less;
// if the logs of all servers fail, each tries again after this.
const standAgainAfter = 3 * time.Second

var errLogFails = errors.New("table: this server does not stand for election: its log takes no entries")

// An appender is a log that remembers whether its last write has failed.
type appender struct {
	raft.LogStore
	before func() error // nil: nothing fails
	opened time.Time
	failed atomic.Int64 // when the last write failed, since opened; 0 if it did not
}

func (a *appender) StoreLog(l *raft.Log) error { return a.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (a *appender) StoreLogs(l []*raft.Log) (err error) {
	if a.before != nil {
		err = a.before()
	}
	if err == nil {
		err = a.LogStore.StoreLogs(l)
	}
	failed := int64(0)
	if err != nil {
		failed = max(int64(time.Since(a.opened)), 1)
	}
	a.failed.Store(failed)
	return err
}

// mayStand returns an error while this server should not stand for election.
func (a *appender) mayStand() error {
	if failed := a.failed.Load(); failed != 0 && time.Since(a.opened)-time.Duration(failed) < standAgainAfter {
		return errLogFails
	}
	return nil
}
