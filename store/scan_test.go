package store

import (
	"errors"
	"fmt"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// scan returns how often a scan by calls of count keys comes by each key.
func (s *Store) scan(t *testing.T, count int, afterCall ...func()) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for cursor := Cursor(0); ; {
		n := 0
		next, err := s.Scan(cursor, count, func(e Entry) bool {
			seen[string(e.Key)]++
			n++
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if n > count+8 {
			t.Errorf("%d keys in one call with count %d", n, count)
		}
		if next >= 1<<53 || next != 0 && next <= cursor {
			t.Errorf("cursor %d after %d", next, cursor)
		}
		for _, f := range afterCall {
			f()
		}
		if cursor = next; cursor == 0 {
			return seen
		}
	}
}

func TestScanFindsEveryKeyOnce(t *testing.T) {
	oneGoroutine(t)
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	want := map[string]int{}
	for i := range 1500 {
		for _, key := range []string{fmt.Sprint("k", i), fmt.Sprint("{tag}", i)} {
			value := "v"
			if i%100 == 0 {
				value = string(make([]byte, 3*pieceSize+5)) // pieces of zeros are not stored
			}
			if i%100 == 50 {
				value = fmt.Sprintf("%0*d", 3*pieceSize, 7)
			}
			s.set(t, key, value, 0)
			want[key] = 1
		}
	}
	s.set(t, "", "the empty key", 0)
	want[""] = 1
	soon := s.now() + 1
	s.set(t, "expired", "x", soon)
	resptest.WaitFor(t, "one key expires", func() bool { return s.now() > soon })
	for _, count := range []int{1, 10, 333, 1 << 40} {
		if seen := s.scan(t, count); !maps.Equal(seen, want) {
			t.Errorf("count %d: %d keys, want %d", count, len(seen), len(want))
		}
	}
}

// TestScanEndsEarly when it is told to, and loses nothing by it.
func TestScanEndsEarly(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	for i := range 100 {
		s.set(t, fmt.Sprint(i), "", 0)
	}
	seen, calls := 0, 0
	for cursor := Cursor(0); calls == 0 || cursor != 0; calls++ {
		var err error
		cursor, err = s.Scan(cursor, 1000, func(Entry) bool {
			seen++
			return seen%10 != 0
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen != 100 || calls < 10 || calls > 11 {
		t.Errorf("%d keys in %d calls", seen, calls)
	}
}

// TestScanContinuesInAnotherStore: another store with the same keys takes a cursor over.
func TestScanContinuesInAnotherStore(t *testing.T) {
	rnd := seeded(t)
	stores := []*Store{openTest(t, testConfig(t.TempDir())), openTest(t, testConfig(t.TempDir()))}
	want := map[string]int{}
	for i := range 1000 {
		key := fmt.Sprintf("{%d}%d", i%7*(i%2), i)
		want[key] = 1
		for _, s := range stores {
			s.set(t, key, "v", 0)
		}
	}
	seen := map[string]int{}
	for cursor, first := Cursor(0), true; first || cursor != 0; first = false {
		var err error
		cursor, err = stores[rnd.IntN(2)].Scan(cursor, 1+rnd.IntN(20), func(e Entry) bool {
			seen[string(e.Key)]++
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(seen, want) {
		t.Errorf("%d keys, want %d", len(seen), len(want))
	}
	for _, s := range stores {
		s.mustClose(t)
	}
}

func TestScanRefusesCursorsThatDoNotExist(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	for _, c := range []Cursor{cursorLimit, 1 << 53, 1<<64 - 1} {
		if _, err := s.Scan(c, 10, func(Entry) bool { return true }); !errors.Is(err, ErrCursor) {
			t.Errorf("%d: %v", c, err)
		}
	}
	if next, err := s.Scan(cursorLimit-1, 10, func(Entry) bool { return true }); next != 0 || err != nil {
		t.Errorf("the last cursor: %d, %v", next, err)
	}
}

// TestScanFindsKeysThatExistThroughout while other keys come and go at the same
// places.
func TestScanFindsKeysThatExistThroughout(t *testing.T) {
	rnd := seeded(t)
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	for i := range 2000 {
		s.set(t, fmt.Sprintf("{%d}stays%d", i%5*(i%2), i), "v", 0)
	}
	// Each call of Scan lets others run units meanwhile, so that the work does not grow with the time.
	turns := make(chan struct{}, 500)
	var others sync.WaitGroup
	for i := range 2 {
		c := &churner{rand.New(rand.NewPCG(rnd.Uint64(), 1)), s, fmt.Sprint(i), 2000, i == 0}
		others.Go(func() {
			for range turns {
				c.run(t)
			}
		})
	}
	for _, count := range []int{1, 7, 100, 3000} {
		allow := func() {
			for range 2 + count/10 {
				select {
				case turns <- struct{}{}:
				default: // others have enough to do
				}
			}
		}
		allow()
		seen := s.scan(t, count, allow)
		for i := range 2000 {
			if key := fmt.Sprintf("{%d}stays%d", i%5*(i%2), i); seen[key] != 1 {
				t.Errorf("count %d: %s was seen %d times", count, key, seen[key])
			}
		}
	}
	close(turns)
	others.Wait()
}

// TestScannedKeysSurviveACrash once AwaitAll has been obeyed.
func TestScannedKeysSurviveACrash(t *testing.T) {
	rnd := seeded(t)
	fs := memdisk.New()
	s := openTest(t, memConfig(fs, FsyncAlways))
	// Each round allows so many writes more, so that the work does not grow with the time.
	var writes, allowed atomic.Int64
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				for writes.Load() >= allowed.Load() {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
					}
				}
				s.set(t, fmt.Sprint(w, "-", i), "v", 0)
				writes.Add(1)
			}
		})
	}
	for range rounds(8) {
		allowed.Store(writes.Load() + 200)
		for target := writes.Load() + int64(rnd.IntN(5)); writes.Load() < target; {
			time.Sleep(10 * time.Microsecond)
		}
		before := s.Keys()
		seen := slices.Collect(maps.Keys(s.scan(t, 1<<40)))
		var done Signal
		if s.AwaitAll(&done) {
			if err := done.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		again := openTest(t, memConfig(crash(fs, rnd, 0), FsyncAlways))
		if n := again.Keys(); n < before {
			t.Errorf("%d keys after a crash, %d before", n, before)
		}
		for _, key := range seen {
			if _, ok := again.get(t, key); !ok {
				t.Errorf("%s was seen before the crash, and is gone", key)
			}
		}
		again.mustClose(t)
	}
	close(stop)
	writers.Wait()
	s.mustClose(t)
}

// TestAwaitAllWaits for the log, and only then.
func TestAwaitAllWaits(t *testing.T) {
	slow := &slowLog{FS: vfs.NewMem()}
	s := openTest(t, memConfig(slow, FsyncAlways))
	s.set(t, "a", "1", 0)
	var none Signal
	if s.AwaitAll(&none) {
		t.Error("everything is durable, and yet it waits")
	}
	slow.mu.Lock()
	set := make(chan struct{})
	go func() {
		defer close(set)
		s.set(t, "b", "2", 0)
	}()
	for s.Keys() < 2 {
		time.Sleep(time.Millisecond)
	}
	waited := make(chan error)
	go func() {
		var done Signal
		if !s.AwaitAll(&done) {
			waited <- errors.New("a key can be seen that is not durable")
			return
		}
		waited <- done.Wait()
	}()
	select {
	case err := <-waited:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	slow.mu.Unlock()
	if err := <-waited; err != nil {
		t.Error(err)
	}
	<-set
	s.mustClose(t)
}

// TestAwaitAllWaitsForCommitsUnderWay, which can be seen before the sync queue has
// them.
func TestAwaitAllWaitsForCommitsUnderWay(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	latched := s.latches.Lock([]uint16{7})
	s.latches.BeginCommit(latched, latch.Committing)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		var done Signal
		if s.AwaitAll(&done) {
			_ = done.Wait()
		}
	}()
	select {
	case <-returned:
		t.Error("it returned before the commit was known")
	case <-time.After(50 * time.Millisecond):
	}
	s.latches.EndCommit(latched, latch.Committing)
	s.latches.Unlock(latched)
	<-returned
}

// slowLog is a file system whose logs are fsynced only while mu is free.
type slowLog struct {
	vfs.FS
	mu sync.Mutex
}

func (f *slowLog) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return slowFile{file, f}, err
}

func (f *slowLog) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(from, to, c)
	return slowFile{file, f}, err
}

type slowFile struct {
	vfs.File
	fs *slowLog
}

func (f slowFile) SyncData() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.File.SyncData()
}

// TestRandomKeyIsFair: no key is much likelier than another, whether few or many
// share a token or a slice.
func TestRandomKeyIsFair(t *testing.T) {
	randomtest.Draw(t, 6)
	if testing.Short() {
		t.Skip("draws thousands of keys, one after the other")
	}
	for name, key := range map[string]func(int) string{
		"spread":  func(i int) string { return fmt.Sprint("key", i) },
		"one tag": func(i int) string { return fmt.Sprint("{tag}", i) },
		"tags":    func(i int) string { return fmt.Sprintf("{tag%d}%d", i%10, i) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, testConfig(t.TempDir()))
			defer s.mustClose(t)
			if k, err := s.RandomKeyIn(0, []ring.Range{ring.Whole}); k != nil || err != nil {
				t.Errorf("without keys: %q, %v", k, err)
			}
			const keys, draws = 100, 6000
			for i := range keys {
				s.set(t, key(i), "v", 0)
			}
			drawn := map[string]int{}
			for range draws {
				k, err := s.RandomKeyIn(0, []ring.Range{ring.Whole})
				if err != nil {
					t.Fatal(err)
				}
				drawn[string(k)]++
			}
			for i := range keys {
				if n := drawn[key(i)]; n < draws/keys/4 || n > draws/keys*4 {
					t.Errorf("%s was drawn %d times of %d", key(i), n, draws)
				}
				delete(drawn, key(i))
			}
			if len(drawn) > 0 {
				t.Errorf("drawn, but never set: %v", drawn)
			}
		})
	}
}

// TestRandomKeyIsAlive, even if few are.
func TestRandomKeyIsAlive(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	soon := s.now() + 1
	for i := range 100 {
		s.set(t, fmt.Sprint("x", i), "v", soon)
	}
	resptest.WaitFor(t, "all keys expire", func() bool { return s.now() > soon })
	if k, err := s.RandomKeyIn(0, []ring.Range{ring.Whole}); k != nil || err != nil {
		t.Errorf("all have expired: %q, %v", k, err)
	}
	s.set(t, "", "v", 0)
	if k, err := s.RandomKeyIn(0, []ring.Range{ring.Whole}); k == nil || len(k) > 0 || err != nil {
		t.Errorf("the empty key is the only one: %q, %v", k, err)
	}
}
