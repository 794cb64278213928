package store

import (
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A pacedFS slows Pebble down while its flushes and compactions fail. Pebble tries
// again at once, for ever, and on a full disk would keep a CPU busy with it. It
// asks for the free space after each attempt, without holding a lock: that question
// is answered late.
type pacedFS struct {
	vfs.FS
	stop     <-chan struct{}
	failures atomic.Int32 // in a row
	parked   atomic.Bool
}

const (
	minPace = 10 * time.Millisecond
	maxPace = time.Second
)

// GetDiskUsage implements vfs.FS.
func (p *pacedFS) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	if p.parked.Load() {
		select {} // see park
	}
	if n := p.failures.Load(); n > 0 {
		timer := time.NewTimer(min(minPace<<min(n-1, 10), maxPace))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.stop:
		}
	}
	return p.FS.GetDiskUsage(path)
}

// park stops Pebble for good at the end of its next attempt: there is no other way
// to be rid of one that does not get through opening a database.
func (p *pacedFS) park() { p.parked.Store(true) }
