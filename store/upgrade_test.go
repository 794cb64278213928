package store

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/files"
	"github.com/ringside-kv/ringside/store/internal/identity"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// unpackFormat2 returns a disk with a directory of version 2 of the format, whose process was killed:
// 100 keys are in a table, 200 keys, a long value and new values of 50 keys in logs that Pebble wrote.
func unpackFormat2(t *testing.T) *memdisk.FS { return unpack(t, "testdata/format2.tar.gz") }

// unpack returns a disk with a directory that an archive has.
func unpack(t *testing.T, archive string) *memdisk.FS {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	fs := memdisk.New()
	for archive := tar.NewReader(zipped); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := fs.PathJoin("/data/store", strings.TrimPrefix(h.Name, "./"))
		if h.FileInfo().IsDir() {
			if err := files.MakeDir(fs, strings.TrimSuffix(path, "/")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		b, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, fs, path, b)
		if err := files.SyncDir(fs, fs.PathDir(path)); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

// wantFormat2 fails unless a store has what unpackFormat2 says.
func wantFormat2(t *testing.T, s *Store) {
	t.Helper()
	for i := range 300 {
		want := fmt.Sprint("old", i)
		if i < 50 {
			want = fmt.Sprint("new", i)
		}
		if v, _ := s.get(t, fmt.Sprint("key", i)); v != want {
			t.Fatalf("key%d = %q, want %q", i, v, want)
		}
	}
	if v, _ := s.get(t, "long"); v != strings.Repeat("x", 70_000) {
		t.Fatalf("the long value has %d bytes", len(v))
	}
	if n := s.Keys(); n != 301 {
		t.Errorf("%d keys", n)
	}
	s.audit(t)
}

// A directory whose log Pebble wrote is upgraded at its first start, and goes on with a log of our own.
func TestDirectoryOfFormat2IsUpgraded(t *testing.T) {
	fs := unpackFormat2(t)
	for range 3 {
		s := openTest(t, crashConfig(fs, FsyncEverySec))
		if s.LogFailed() {
			t.Error("the log counts as failed")
		}
		s.set(t, "key299", "old299", 0)
		wantFormat2(t, s)
		s.Crash()
		_ = s.Close()
	}
	if id, _, err := identity.Read(fs, "/data/store"); err != nil || id.Format != identity.Version {
		t.Errorf("%+v, %v", id, err)
	}
	if found := filesIn(t, fs, "/data/store", "marks"); len(found) != 1 || !strings.HasSuffix(found[0], wal.MarksName) {
		t.Errorf("marks %v", found)
	}
	if found := filesIn(t, fs, "/data/store/log", ".log"); len(found) > 0 {
		t.Errorf("Pebble's logs %v are there", found)
	}
}

// What the marks of Pebble's logs show is checked before they are read for the last time.
func TestDamagedDirectoryOfFormat2IsRefused(t *testing.T) {
	const log = "/data/store/log/000004.log"
	for name, harm := range map[string]func(fs *memdisk.FS){
		"missing": func(fs *memdisk.FS) {
			if err := fs.Remove(log); err != nil {
				t.Fatal(err)
			}
		},
		"short": func(fs *memdisk.FS) { writeFile(t, fs, log, readFile(t, fs, log)[:1000]) },
		"flipped": func(fs *memdisk.FS) {
			b := readFile(t, fs, log)
			b[500] ^= 4
			writeFile(t, fs, log, b)
		},
	} {
		fs := unpackFormat2(t)
		harm(fs)
		before := readFile(t, fs, "/data/store/"+wal.OldMarksName)
		for range 2 {
			s, err := Open(crashConfig(fs, FsyncEverySec))
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), log) || !strings.Contains(err.Error(), damage.Cure) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if string(readFile(t, fs, "/data/store/"+wal.OldMarksName)) != string(before) {
			t.Errorf("%s: the marks were changed", name)
		}
	}
}

// A log of Pebble's that had failed is known to have failed, wherever the upgrade was interrupted.
func TestFailedLogOfFormat2IsKnown(t *testing.T) {
	fs := unpackFormat2(t)
	marks := "/data/store/" + wal.OldMarksName
	b := readFile(t, fs, marks)
	writeFile(t, fs, marks, append(b[:len(b)-wal.MarkSize], wal.Mark{Num: 1<<64 - 1}.Encode()...))
	var mu sync.Mutex
	taken := []*memdisk.FS{fs}
	step := stepFS(fs, func(errorfs.Op) {
		mu.Lock()
		defer mu.Unlock()
		taken = append(taken, copyMem(fs))
	})
	openTest(t, crashConfig(step, FsyncEverySec)).mustClose(t)
	for i, fs := range taken {
		s := openTest(t, crashConfig(fs, FsyncEverySec))
		if !s.LogFailed() {
			t.Fatalf("the failure is forgotten after %d steps of %d", i, len(taken))
		}
		s.mustClose(t)
	}
}

// A power loss before any step of the upgrade leaves a directory that opens with everything.
func TestUpgradeSurvivesPowerLossAtEveryStep(t *testing.T) {
	oneGoroutine(t)
	rng := rand.New(rand.NewPCG(testSeed(t), 12))
	fs := unpackFormat2(t)
	var mu sync.Mutex
	var taken []*memdisk.FS
	step := stepFS(fs, func(errorfs.Op) {
		mu.Lock()
		defer mu.Unlock()
		taken = append(taken, afterCrash(fs, rng, somePercent(rng)))
	})
	openTest(t, crashConfig(step, FsyncEverySec)).mustClose(t)
	if len(taken) < 20 {
		t.Errorf("%d steps", len(taken))
	}
	for _, fs := range taken {
		s := openTest(t, crashConfig(fs, FsyncEverySec))
		wantFormat2(t, s)
		s.mustClose(t)
	}
}
