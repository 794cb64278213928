package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// dataOf returns the data of a record: each number has its own, most are short, some longer than a chunk.
func dataOf(number uint64) []byte {
	rng := rand.New(rand.NewPCG(number, 1))
	size := batchHead + rng.IntN(200)
	switch rng.IntN(40) {
	case 0:
		size += rng.IntN(3 * chunkSize)
	case 1, 2:
		size += rng.IntN(chunkSize / 2)
	}
	data := make([]byte, size)
	binary.LittleEndian.PutUint64(data, number)
	for i := 8; i < len(data); i += 7 {
		data[i] = byte(rng.Uint32())
	}
	return data
}

// A disk is one that fails at times.
type disk struct {
	*memdisk.FS
	failing atomic.Int32 // one of so many operations; 0 for none
	rng     *rand.Rand
}

// MaybeError implements errorfs.Injector.
func (d *disk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpRemove:
		if n := d.failing.Load(); n > 0 && d.rng.Int32N(n) == 0 {
			return syscall.EIO
		}
	}
	return nil
}

func (d *disk) String() string { return "disk" }

const testDir = "/store/log"

func newDisk(t *testing.T, rng *rand.Rand) *disk {
	t.Helper()
	d := &disk{FS: memdisk.New(), rng: rng}
	if err := d.MkdirAll(testDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/store"} {
		dir, err := d.OpenDir(path)
		if err == nil {
			err = errors.Join(dir.Sync(), dir.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *disk) open(t *testing.T, mode Mode) *Log {
	t.Helper()
	l, _, err := Open(Config{
		FS: errorfs.Wrap(d, d), Dir: testDir, Mode: mode, Unsynced: 1 << 20, Failing: func() {}, Look: func() {}, Opened: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustAppend(t *testing.T, l *Log, data []byte) {
	t.Helper()
	if _, err := l.Append(data, nil); err != nil {
		t.Fatal(err)
	}
}

// replayed returns the numbers of the first and the last record that a log replays. Each has its data.
func replayed(t *testing.T, l *Log) (first, last uint64) {
	t.Helper()
	err := l.Replay(func(data []byte, _ bool) error {
		n := binary.LittleEndian.Uint64(data)
		if !bytes.Equal(data, dataOf(n)) {
			return fmt.Errorf("record %d has other data", n)
		}
		if first == 0 {
			first = n
		} else if n != last+1 {
			return fmt.Errorf("record %d follows record %d", n, last)
		}
		last = n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return first, last
}

// Whatever is appended, written, synced, cut, dropped and lost, and wherever operations of the disk
// fail: after a crash the log has all that was promised and not dropped, without a gap.
func TestLogKeepsWhatItPromises(t *testing.T) {
	first := randomtest.Seed(t)
	for i := range uint64(randomtest.Length(10_000, 100)) {
		seed := first + i
		rng := rand.New(rand.NewPCG(seed, 2))
		mode := []Mode{Always, EverySec, No}[rng.IntN(3)]
		d := newDisk(t, rng)
		var dropped, promised uint64 // records before one, and up to one
		next := uint64(1)
		for range 1 + rng.IntN(4) {
			l := d.open(t, mode)
			first, last := replayed(t, l)
			if promised > 0 && promised >= dropped && (last < promised || first > max(dropped, 1)) {
				t.Fatalf("seed %d: records %d to %d, promised were %d to %d", seed, first, last, dropped, promised)
			}
			if last > 0 {
				next = last + 1
			}
			if next != l.next {
				// All had been dropped, and the numbers begin anew.
				if promised >= dropped && promised > 0 {
					t.Fatalf("seed %d: the next record is %d, not %d", seed, l.next, next)
				}
				next, dropped, promised = l.next, l.next, 0
			}
			steps := rng.IntN(200)
			var handed uint64 // up to which record the system has all
			for range steps {
				switch rng.IntN(14) {
				case 0:
					if l.Sync() == nil {
						handed, promised = next-1, next-1
					}
				case 1:
					l.Cut()
				case 2:
					if before := l.Cut(); l.Sync() == nil {
						_ = l.Drop(before) // perhaps of a part
						dropped, handed, promised = before, next-1, next-1
					}
				case 3, 4:
					if l.Write() == nil {
						handed = next - 1
						if mode == Always {
							promised = handed
						}
					}
				case 5:
					if l.Failed() != nil && l.Recover() == nil {
						handed, promised = next-1, next-1
					}
				case 6:
					d.failing.Store([]int32{0, 0, 0, 3, 10}[rng.IntN(5)])
				default:
					n, err := l.Append(dataOf(next), nil)
					if failed := l.Failed(); err != failed { //nolint:errorlint // the very same
						t.Fatalf("seed %d: %v, of a log that failed with %v", seed, err, failed)
					}
					if err != nil {
						break
					}
					if n != next {
						t.Fatalf("seed %d: record %d, want %d", seed, n, next)
					}
					next++
				}
			}
			d.failing.Store(0)
			percent := []int{0, 30, 100}[rng.IntN(3)]
			if percent == 100 {
				promised = max(promised, handed) // the process was killed, not the machine
			}
			if percent == 100 {
				d.FS = d.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
			} else {
				d.FS = d.LosePower(rng, percent)
			}
			_ = l.Close()
		}
		l := d.open(t, mode)
		first, last := replayed(t, l)
		if promised > 0 && promised >= dropped && (last < promised || first > max(dropped, 1)) {
			t.Fatalf("seed %d: records %d to %d at the end, promised were %d to %d", seed, first, last, dropped, promised)
		}
		_ = l.Close()
	}
}

// What is before a mark and damaged is not believed.
func TestDamageBeforeTheMarkIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(randomtest.Seed(t), 1))
	d := newDisk(t, rng)
	l := d.open(t, EverySec)
	for n := uint64(1); n <= 30; n++ {
		mustAppend(t, l, dataOf(n))
		if n == 10 {
			l.Cut()
		}
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	names, err := d.List(testDir)
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	for range 100 {
		d := &disk{FS: d.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng}), rng: rng}
		path := d.PathJoin(testDir, names[rng.IntN(2)])
		f, err := d.OpenReadWrite(path, category)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		b, at := make([]byte, 1), rng.Int64N(info.Size())
		if _, err := f.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1 << rng.IntN(8)
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if _, _, err := Open(Config{FS: d, Dir: testDir, Mode: EverySec}); !errors.Is(err, damage.Err) {
			t.Fatalf("a flipped bit of byte %d of %s: %v", at, path, err)
		}
	}
}

// Records that wait for an fsync which hangs stay in memory up to a bound only.
func TestLogBoundsWhatItKeepsInMemory(t *testing.T) {
	d := newDisk(t, rand.New(rand.NewPCG(1, 1)))
	l := d.open(t, No)
	data := make([]byte, 10_000)
	for range 1000 {
		mustAppend(t, l, data)
		if err := l.Write(); err != nil {
			t.Fatal(err)
		}
		if l.unsynced > 1<<20+2*int64(len(data)) {
			t.Fatalf("%d bytes are kept", l.unsynced)
		}
	}
	_ = l.Close()
}

func FuzzSegment(f *testing.F) {
	s := segment{3, 7}
	b := s.head()
	for n := s.first; n < 10; n++ {
		b = appendRecord(b, n, dataOf(n), nil)
	}
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		fs := memdisk.New()
		w, err := fs.Create("000003.wal", category)
		if err == nil {
			_, err = w.Write(b)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := openSegment(fs, "000003.wal", 3)
		if err != nil {
			if !errors.Is(err, errHead) {
				t.Fatal(err)
			}
			return
		}
		again := r.head()
		for {
			data, ok, err := r.record(nil)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			again = appendRecord(again, r.next-1, data, nil)
		}
		if !bytes.HasPrefix(b, again) || int64(len(again)) != r.offset {
			t.Fatalf("%d bytes of %d are valid, to byte %d", len(again), len(b), r.offset)
		}
	})
}

// What a log has when it is opened counts for the next Cut: or a process that is started again and again would
// never remove anything.
func TestLogThatIsOpenedKnowsItsLength(t *testing.T) {
	d := newDisk(t, rand.New(rand.NewPCG(1, 1)))
	total := int64(0)
	for life := range uint64(3) {
		l := d.open(t, EverySec)
		if _, last := replayed(t, l); last != 10*life {
			t.Fatalf("%d records, want %d", last, 10*life)
		}
		if n := l.SinceCut(); n < total || n > total+100*int64(life) { // heads of segments
			t.Errorf("%d bytes are in the log when it is opened, want %d", n, total)
		}
		for n := 10*life + 1; n <= 10*life+10; n++ {
			mustAppend(t, l, dataOf(n))
			total += int64(recordHead + len(dataOf(n)))
		}
		if err := errors.Join(l.Sync(), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	l := d.open(t, EverySec)
	replayed(t, l)
	if l.Cut(); l.SinceCut() != 0 {
		t.Errorf("%d bytes since a cut", l.SinceCut())
	}
	_ = l.Close()
}

// A slowDisk lets the removal of a file wait until it is released.
type slowDisk struct {
	vfs.FS
	removed, release chan struct{}
}

// Remove implements vfs.FS.
func (d *slowDisk) Remove(name string) error {
	d.removed <- struct{}{}
	<-d.release
	return d.FS.Remove(name)
}

// Segments are removed by several callers at once: the keeper of the log, what frees space on a short disk, and
// what cuts out damage. Each segment goes once, and the newest stays.
func TestSegmentsAreRemovedOnceByManyCallers(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		d := &slowDisk{vfs.NewMem(), make(chan struct{}, 8), make(chan struct{})}
		if err := d.MkdirAll(testDir, 0o755); err != nil {
			t.Fatal(err)
		}
		l, _, err := Open(Config{FS: d, Dir: testDir, Mode: No, Failing: func() {}, Look: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		appendOne := func() {
			t.Helper()
			_, err := l.Append(make([]byte, batchHead), nil)
			if err = errors.Join(err, l.Sync()); err != nil {
				t.Fatal(err)
			}
		}
		appendOne()
		before := l.Cut()
		appendOne()
		ended := make(chan error)
		for range 2 {
			go func() { ended <- l.Drop(before) }()
			synctest.Wait()
		}
		close(d.release)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if len(d.removed) != 1 {
			t.Errorf("%d files were removed, want 1", len(d.removed))
		}
		appendOne() // to the segment that is left
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}
