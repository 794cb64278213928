package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A smallDisk has so many bytes for the files of a store.
type smallDisk struct {
	vfs.FS
	dir  string
	size uint64
}

func (d *smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	used := uint64(0)
	for _, dir := range []string{"data", "log"} {
		dir = d.PathJoin(d.dir, dir)
		names, err := d.List(dir)
		if err != nil {
			return vfs.DiskUsage{}, err
		}
		for _, name := range names {
			if info, err := d.Stat(d.PathJoin(dir, name)); err == nil { // else it was removed meanwhile
				used += uint64(info.Size())
			}
		}
	}
	return vfs.DiskUsage{AvailBytes: d.size - min(d.size, used), TotalBytes: d.size, UsedBytes: used}, nil
}

// slowDisk holds back what it has read of the free space while it is asked to.
type slowDisk struct {
	vfs.FS
	free atomic.Uint64
	hold atomic.Pointer[heldReading]
}

type heldReading struct{ read, release chan struct{} }

func (d *slowDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	usage := vfs.DiskUsage{AvailBytes: d.free.Load(), TotalBytes: 1 << 40}
	if h := d.hold.Swap(nil); h != nil {
		close(h.read)
		<-h.release
	}
	return usage, nil
}

// A reading of the free space that is late does not replace a later one.
func TestLateReadingOfFreeSpaceIsNotBelieved(t *testing.T) {
	cfg := testConfig("/data/store")
	disk := &slowDisk{FS: vfs.NewMem()}
	disk.free.Store(1 << 30)
	cfg.FS, cfg.MinFreeDisk = disk, 1<<20
	s := openTest(t, cfg)
	for range 200 {
		h := &heldReading{make(chan struct{}), make(chan struct{})}
		disk.free.Store(0)
		disk.hold.Store(h)
		var both sync.WaitGroup
		both.Go(s.health.checkDisk)
		<-h.read
		disk.free.Store(1 << 30)
		reserve := s.MinFreeDisk() + 1
		both.Go(func() { s.SetMinFreeDisk(reserve) })
		for s.MinFreeDisk() != reserve {
			runtime.Gosched()
		}
		close(h.release)
		both.Wait()
		if err := s.Writable(); err != nil {
			t.Fatal(err)
		}
	}
}

// On a disk that is short, what is removed gives its space back soon.
func TestRemovedDataGiveTheirSpaceBackOnAShortDisk(t *testing.T) {
	oneGoroutine(t)
	cfg := testConfig("/data/store")
	disk := &smallDisk{FS: vfs.NewMem(), dir: cfg.Dir, size: 64 << 20}
	cfg.FS, cfg.MemTable, cfg.MinFreeDisk = disk, 1<<20, 24<<20
	s := openTest(t, cfg)
	change := func(key string, f func(u *Unit, key []byte, v Value) error) error {
		u := s.NewUnit()
		u.Begin(s.now(), []Place{u.Place([]byte(key))})
		v, err := u.Get([]byte(key))
		if err == nil {
			err = f(u, []byte(key), v)
		}
		return u.end(err)
	}
	rnd := rand.NewChaCha8([32]byte{})
	value := make([]byte, 10_000) // cannot be compressed
	written := 0
	write := func() error {
		_, _ = rnd.Read(value)
		return change(fmt.Sprint("key", written), func(u *Unit, key []byte, v Value) error { return u.PutString(key, v, value, 0, false) })
	}
	for ; ; written++ {
		err := write()
		if errors.Is(err, ErrReadOnly) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if written > 5000 {
			t.Fatal("the disk is never short")
		}
	}
	// The free space does not tell it: a compaction may be using some of the reserve.
	if n := written * len(value); n > 52<<20 {
		t.Errorf("%d MiB were written: half of the reserve was used up", n>>20)
	}
	// What Pebble frees by itself is not enough.
	if err := s.flushTables(); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "the tables to be merged", func() bool { return s.db.Metrics().Compact.NumInProgress == 0 })
	if err := s.db.Compact(t.Context(), []byte{0}, []byte{255}, false); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "obsolete tables to be deleted", func() bool {
		m := s.db.Metrics()
		return m.Table.ObsoleteCount == 0 && m.Table.ZombieCount == 0
	})
	usage, err := disk.GetDiskUsage("")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d KiB free, merged", usage.AvailBytes>>10)
	s.SetMinFreeDisk(int64(usage.AvailBytes) + 6<<20)
	for i := 0; i < written; i += 2 {
		// A removal is refused while a compaction has written new tables and has not deleted the old ones.
		resptest.WaitFor(t, "a removal to be accepted", func() bool {
			err := change(fmt.Sprint("key", i), func(u *Unit, key []byte, v Value) error {
				u.Delete(key, v)
				u.RemovesOnly()
				return nil
			})
			if err != nil && !errors.Is(err, ErrReadOnly) {
				t.Fatal(err)
			}
			return err == nil
		})
	}
	began := time.Now()
	resptest.WaitFor(t, "writes to be accepted", func() bool { return s.Writable() == nil })
	t.Logf("writes are accepted after %v", time.Since(began))
	if err := write(); err != nil {
		t.Error(err)
	}
	for i := range written {
		v, err := s.read([]byte(fmt.Sprint("key", i)))
		if there := len(v) > 0; err != nil || there != (i%2 == 1) {
			t.Fatalf("key %d: %d bytes, %v", i, len(v), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
