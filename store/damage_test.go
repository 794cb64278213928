package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/identity"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// copyMem returns a copy of a file system.
func copyMem(fs *memdisk.FS) *memdisk.FS {
	return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
}

func readFile(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil && len(b) > 0 {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fs.Create(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// files returns the paths of all files whose names hold part, in order.
func filesIn(t *testing.T, fs vfs.FS, dir, part string) []string {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var found []string
	for _, name := range names {
		if strings.Contains(name, part) {
			found = append(found, fs.PathJoin(dir, name))
		}
	}
	return found
}

// content is all that a file system holds, to tell whether anything changed.
func content(t *testing.T, fs vfs.FS, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			for k, v := range content(t, fs, path) {
				all[k] = v
			}
		} else if name != "LOCK" {
			all[path] = string(readFile(t, fs, path))
		}
	}
	return all
}

// tornStore returns a store that was killed after one writer's units, the segment of the log that
// they are in, and where in it each unit ended; it is synced behind the third.
func tornStore(t *testing.T, mode Fsync) (fs *memdisk.FS, h *history, log string, ends []int) {
	t.Helper()
	h = newHistory(7, 1) // a history that fits one log; see the check below
	w := h.writers[0]
	live := memdisk.New()
	s := openTest(t, crashConfig(live, mode))
	for w.next <= 6 {
		if err := w.do(s, w.next); err != nil {
			t.Fatal(err)
		}
		if w.next == 3 {
			_ = s.wal.Sync()
		}
		w.acked.Store(int64(w.next))
		w.next++
		ends = append(ends, logBytes(s))
	}
	fs = copyMem(live)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs := filesIn(t, fs, "/data/store/log", "")
	if len(logs) != 1 {
		t.Fatalf("logs %v, want one", logs)
	}
	return fs, h, logs[0], ends
}

// A log that ends, or turns to garbage, anywhere behind its mark opens, with all the
// units that end before; one that does before its mark is damaged.
func TestTornLog(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	fs, h, log, ends := tornStore(t, FsyncEverySec)
	w := h.writers[0]
	whole := readFile(t, fs, log)
	mark := ends[2]
	seed := testSeed(t)
	rng := rand.New(rand.NewPCG(seed, 5))
	cuts := map[int]bool{0: true, 1: true, mark - 1: true, mark: true, mark + 1: true, len(whole): true}
	// All around the ends of the last units, and a few anywhere.
	for _, end := range ends[2:] {
		for d := -25; d <= 25; d++ {
			if c := end + d; c >= 0 && c <= len(whole) {
				cuts[c] = true
			}
		}
	}
	for range 60 {
		cuts[rng.IntN(len(whole)+1)] = true
	}
	first := rng.IntN(2)
	drawn := func(cut int) bool { return (cut+first)%2 == 0 }
	for cut := range cuts {
		for _, garbage := range []bool{false, true} {
			// One of both, drawn for each cut: hundreds of stores are opened here. go tool task
			// test:store takes both.
			if !isLong() && garbage != drawn(cut) {
				continue
			}
			torn := slices.Clone(whole[:cut])
			if garbage {
				tail := make([]byte, 500+rng.IntN(3000))
				for i := range tail {
					tail[i] = byte(rng.Uint32())
				}
				torn = append(torn, tail...)
			}
			fs := copyMem(fs)
			writeFile(t, fs, log, torn)
			s, err := Open(crashConfig(fs, FsyncEverySec))
			if cut < mark {
				if !errors.Is(err, ErrDamaged) {
					t.Fatalf("cut at byte %d, before the mark at %d: %v", cut, mark, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("cut at byte %d, behind the mark at %d: %v", cut, mark, err)
			}
			want := 0
			for _, end := range ends {
				if end <= cut {
					want++
				}
			}
			got, err := w.verify(s, want)
			if err != nil || got != want {
				t.Fatalf("cut at byte %d: %d units, want %d: %v", cut, got, want, err)
			}
			s.audit(t)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A bit that flips before the mark is reported, again and again, and nothing is
// changed.
func TestDamagedLog(t *testing.T) {
	oneGoroutine(t)
	fs, _, log, ends := tornStore(t, FsyncEverySec)
	whole := readFile(t, fs, log)
	rng := rand.New(rand.NewPCG(testSeed(t), 6))
	for range 40 {
		fs := copyMem(fs)
		damaged := slices.Clone(whole)
		damaged[rng.IntN(ends[2])] ^= 1 << rng.IntN(8)
		writeFile(t, fs, log, damaged)
		before := content(t, fs, "/data")
		for range 2 {
			s, err := Open(crashConfig(fs, FsyncEverySec))
			if err == nil {
				s.Close()
			}
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), log) || !strings.Contains(err.Error(), "restore") {
				t.Fatalf("Open: %v", err)
			}
			if !equalContent(before, content(t, fs, "/data")) {
				t.Fatal("the damaged directory was changed")
			}
		}
	}
}

func equalContent(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

// Damage of a log that has a successor is reported, too, even where the log merely
// ends too early, between two records.
func TestDamagedOlderLog(t *testing.T) {
	h := newHistory(7, 1)
	w := h.writers[0]
	live := memdisk.New()
	fs := newFaultyFS(live)
	s := openTest(t, crashConfig(fs, FsyncEverySec))
	// No tables: so both logs stay needed.
	fs.inject(on(".sst", vfs.ErrUnsupported, errorfs.OpCreate))
	var ends []int
	for w.next <= 4 {
		if err := w.do(s, w.next); err != nil {
			t.Fatal(err)
		}
		w.next++
		ends = append(ends, logBytes(s))
	}
	s.wal.Cut()
	if err := w.do(s, w.next); err != nil {
		t.Fatal(err)
	}
	crashed := copyMem(live)
	fs.end()
	_ = s.Close() // fails if a flush has met the fault; the copy is what counts
	logs := filesIn(t, crashed, "/data/store/log", "")
	if len(logs) != 2 {
		t.Fatalf("logs %v, want two", logs)
	}
	log := logs[0]
	whole := readFile(t, crashed, log)
	for _, cut := range append([]int{0}, ends[:len(ends)-1]...) {
		fs := copyMem(crashed)
		writeFile(t, fs, log, whole[:cut])
		s, err := Open(crashConfig(fs, FsyncEverySec))
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at byte %d of %d: %v", cut, len(whole), err)
		}
	}
}

// A log with a mark is needed until the mark is cleared.
func TestOpenFailsWhenLogIsMissing(t *testing.T) {
	live := memdisk.New()
	s := openTest(t, crashConfig(live, FsyncAlways))
	s.set(t, "a", "1", 0)
	s.wal.Cut()
	s.set(t, "b", "2", 0)
	crashed := copyMem(live)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs := filesIn(t, crashed, "/data/store/log", "")
	if len(logs) != 2 {
		t.Fatalf("logs %v, want two", logs)
	}
	for _, missing := range [][]string{logs[:1], logs[1:], logs} {
		fs := copyMem(crashed)
		for _, log := range missing {
			if err := fs.Remove(log); err != nil {
				t.Fatal(err)
			}
		}
		before := content(t, fs, "/data")
		for range 2 {
			s, err := Open(crashConfig(fs, FsyncAlways))
			if err == nil {
				s.Close()
			}
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), missing[0]) || !strings.Contains(err.Error(), damage.Cure) {
				t.Errorf("Open without %v: %v", missing, err)
			}
		}
		if !equalContent(before, content(t, fs, "/data")) {
			t.Error("the damaged directory was changed")
		}
	}
	s = openTest(t, crashConfig(crashed, FsyncAlways))
	if v, _ := s.get(t, "a"); v != "1" {
		t.Errorf("a = %q", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Logs come and go, and a power loss in between never looks like a missing log.
func TestOpenSucceedsAfterPowerLossBesideDeletedLogs(t *testing.T) {
	oneGoroutine(t)
	seed := testSeed(t)
	rng := rand.New(rand.NewPCG(seed, 11))
	fs := memdisk.New()
	for range 4 {
		s := openTest(t, crashConfig(fs, FsyncAlways))
		var crashed []*memdisk.FS
		for i := range 12 {
			s.set(t, fmt.Sprint("key", i), strings.Repeat("x", 100), 0)
			if rng.IntN(2) == 0 {
				if err := s.flushTables(); err != nil {
					t.Fatal(err)
				}
			}
			crashed = append(crashed, afterCrash(fs, rng, somePercent(rng)))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, fs := range crashed {
			s := openTest(t, crashConfig(fs, FsyncAlways))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		fs = crashed[rng.IntN(len(crashed))]
	}
}

// Marks that are missing, torn, or older than their logs never keep a store from
// opening.
func TestMarksAreOnlyAHelp(t *testing.T) {
	oneGoroutine(t)
	fs, h, _, _ := tornStore(t, FsyncAlways)
	marks := "/data/store/" + wal.MarksName
	whole := readFile(t, fs, marks)
	rng := rand.New(rand.NewPCG(testSeed(t), 8))
	for i := range 60 {
		fs := copyMem(fs)
		b := slices.Clone(whole)
		switch i % 4 {
		case 0:
			b = b[:rng.IntN(len(b))]
		case 1:
			b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
		case 2:
			b = bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(3000))
		case 3:
			if err := fs.Remove(marks); err != nil {
				t.Fatal(err)
			}
			b = nil
		}
		if b != nil {
			writeFile(t, fs, marks, b)
		}
		s := openTest(t, crashConfig(fs, FsyncAlways))
		h.verify(t, s, h.promised(), false)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A damaged table is an error for the keys in its damaged block only.
func TestDamagedTable(t *testing.T) {
	oneGoroutine(t)
	fs := memdisk.New()
	cfg := faultConfig(fs, FsyncEverySec)
	s := openTest(t, cfg)
	key := func(i int) string { return fmt.Sprint("key", i) }
	// Few and long: a read of a damaged block searches all its bits for the flipped one.
	const keys = 100
	rng := rand.New(rand.NewPCG(testSeed(t), 9))
	values := make([][]byte, keys)
	for i := range values {
		values[i] = make([]byte, 4000)
		for j := range values[i] {
			values[i][j] = byte(rng.Uint32()) // nothing to compress
		}
		s.set(t, key(i), string(values[i]), 0)
	}
	if err := errors.Join(s.flushTables(), s.Close()); err != nil {
		t.Fatal(err)
	}
	tables := filesIn(t, fs, "/data/store/data", ".sst")
	if len(tables) == 0 {
		t.Fatal("no tables")
	}
	for _, path := range tables {
		b := readFile(t, fs, path)
		if len(b) > 100_000 {
			b[len(b)/2] ^= 0x10
			writeFile(t, fs, path, b)
		}
	}
	cfg.BlockCache = 1 << 20
	cfg.Cache = 0
	s = openTest(t, cfg)
	read, damaged := 0, 0
	for i := range keys {
		v, err := s.read([]byte(key(i)))
		switch {
		case err == nil && bytes.Equal(v, values[i]):
			read++
		case errors.Is(err, ErrDamaged):
			damaged++
		default:
			t.Fatalf("%s: %d bytes, %v", key(i), len(v), err)
		}
	}
	if damaged == 0 || damaged > keys/4 || read+damaged != keys {
		t.Errorf("%d keys read, %d damaged", read, damaged)
	}
	if _, err := s.Scan(0, keys, func(Entry) bool { return true }); !errors.Is(err, ErrDamaged) {
		t.Errorf("scan over the damage: %v", err)
	}

	// What lies beside the damage: a table alone would only be moved.
	for i := range keys {
		s.set(t, fmt.Sprintf("new-%d", i), "v", 0)
	}

	// Merging the damaged table fails in the background, which is said once and for
	// all, and does not keep a CPU busy.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := s.db.Compact(ctx, []byte{layout.KindData}, []byte{layout.KindData + 1}, false); err == nil {
		t.Error("the damaged table was merged")
	}
	resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
	few(t, "attempts", s.files.FailedTables)
	if err := s.Writable(); !errors.Is(err, ErrDamaged) || !errors.Is(err, ErrReadOnly) {
		t.Errorf("Writable: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// What is missing or damaged of the rest is reported as damage, not as an empty
// store.
func TestDamagedDirectory(t *testing.T) {
	fs := memdisk.New()
	s := openTest(t, crashConfig(fs, FsyncEverySec))
	s.set(t, "a", "1", 0)
	if err := errors.Join(s.flushTables(), s.Close()); err != nil {
		t.Fatal(err)
	}
	data := "/data/store/data"
	for _, name := range []string{".sst", "MANIFEST", "marker.manifest", identity.File} {
		for _, how := range []string{"missing", "empty", "garbage"} {
			fs := copyMem(fs)
			dir := data
			if name == identity.File {
				dir = "/data/store"
			}
			paths := filesIn(t, fs, dir, name)
			if len(paths) == 0 {
				t.Fatalf("no file %s", name)
			}
			for _, path := range paths {
				switch how {
				case "missing":
					if err := fs.Remove(path); err != nil {
						t.Fatal(err)
					}
				case "empty":
					writeFile(t, fs, path, nil)
				case "garbage":
					writeFile(t, fs, path, bytes.Repeat([]byte("garbage"), 50))
				}
			}
			if name == "marker.manifest" && how != "missing" {
				continue // only its name counts
			}
			want := ErrDamaged
			if name == identity.File && how == "missing" {
				want = ErrFormat
			}
			for range 2 {
				s, err := Open(crashConfig(fs, FsyncEverySec))
				if err == nil {
					s.Close()
				}
				if !errors.Is(err, want) {
					t.Errorf("%s %s: %v", name, how, err)
				}
			}
		}
	}
}

func TestWrongDirectory(t *testing.T) {
	create := func(t *testing.T) Config {
		cfg := testConfig(filepath.Join(t.TempDir(), "a", "b"))
		s := openTest(t, cfg)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	identityOf := func(text string) func(*testing.T) Config {
		return func(t *testing.T) Config {
			cfg := create(t)
			if err := os.WriteFile(filepath.Join(cfg.Dir, identity.File), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return cfg
		}
	}
	for _, tt := range []struct {
		name string
		make func(*testing.T) Config
		want error
		says []string
	}{
		{"strategy", func(t *testing.T) Config {
			cfg := create(t)
			cfg.Strategy = "vnode"
			return cfg
		}, ErrMismatch, []string{"--strategy buckets", "--strategy vnode", "another directory"}},
		{"hash", func(t *testing.T) Config {
			cfg := create(t)
			cfg.Hash = "slot"
			return cfg
		}, ErrMismatch, []string{"--hash native", "--hash slot"}},
		{"version", identityOf(`{"format": 8, "strategy": "buckets", "hash": "native", "id": "x"}`),
			ErrFormat, []string{"version 8", "versions 1 to 7", "another directory"}},
		{"identity is no JSON", identityOf("{"), ErrDamaged, []string{identity.File, "restore"}},
		{"identity is empty", identityOf(""), ErrDamaged, []string{identity.File, "restore"}},
		{"foreign file", func(t *testing.T) Config {
			cfg := testConfig(t.TempDir())
			if err := os.WriteFile(filepath.Join(cfg.Dir, "thesis.tex"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return cfg
		}, ErrFormat, []string{"thesis.tex", "another directory"}},
		{"data without identity", func(t *testing.T) Config {
			cfg := create(t)
			if err := os.Remove(filepath.Join(cfg.Dir, identity.File)); err != nil {
				t.Fatal(err)
			}
			return cfg
		}, ErrFormat, []string{`"data"`, identity.File}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := tt.make(t)
			before := content(t, vfs.Default, cfg.Dir)
			for range 2 {
				s, err := Open(cfg)
				if err == nil {
					s.Close()
				}
				if !errors.Is(err, tt.want) {
					t.Fatalf("Open: %v, want %v", err, tt.want)
				}
				for _, part := range append(tt.says, cfg.Dir) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
			}
			if !equalContent(before, content(t, vfs.Default, cfg.Dir)) {
				t.Error("the directory was changed")
			}
		})
	}
}

func TestUnreadableIdentity(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, crashConfig(fs, FsyncNo))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	faulty := newFaultyFS(fs)
	faulty.inject(on(identity.File, os.ErrPermission, errorfs.OpOpen))
	_, err := Open(crashConfig(faulty, FsyncNo))
	if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), identity.File) {
		t.Errorf("Open: %v", err)
	}
}

func TestDirectoryInUse(t *testing.T) {
	cfg := testConfig(t.TempDir())
	inUse := func() {
		t.Helper()
		s, err := Open(cfg)
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), cfg.Dir) || !strings.Contains(err.Error(), "stop it") {
			t.Errorf("Open: %v", err)
		}
	}
	s := openTest(t, cfg)
	s.set(t, "a", "1", 0)
	inUse()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	other := exec.Command(os.Args[0], "-test.run", "^TestHoldDirectory$")
	other.Env = append(os.Environ(), holdDirectory+"="+cfg.Dir)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Errorf("the other process: %q, %v", line, err)
	}
	inUse()
	if err := other.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = other.Wait()
	_ = in.Close()

	s = openTest(t, cfg)
	if v, _ := s.get(t, "a"); v != "1" {
		t.Errorf("a = %q", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

const holdDirectory = "RINGSIDE_TEST_HOLD_DIRECTORY"

// TestHoldDirectory is what TestDirectoryInUse runs in another process.
func TestHoldDirectory(t *testing.T) {
	dir := os.Getenv(holdDirectory)
	if dir == "" {
		t.Skip("only for TestDirectoryInUse")
	}
	openTest(t, testConfig(dir))
	fmt.Println("held")
	_, _ = io.ReadAll(os.Stdin) // until killed
}

// logBytes is how many bytes have been written to the present segment of the log.
func logBytes(s *Store) int {
	_, written := s.wal.Current()
	return int(written)
}
