package table

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/ringside-kv/ringside/replica/table/internal/checked"
	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

// testSeed returns a seed, which RINGSIDE_SEED can repeat, and prints it if the test fails.
func testSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("RINGSIDE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("RINGSIDE_SEED=%d", seed)
		}
	})
	return seed
}

// diskConfig is all that openDisk needs.
func diskConfig(dir string) *Config {
	c := &Config{Dir: dir}
	c.EnsureDefaults()
	return c
}

// closedDir makes the directory of a node that has been stopped. Its log has entries
// before and behind the snapshot.
func closedDir(t *testing.T) (dir string, want contents) {
	t.Helper()
	base := t.TempDir()
	virtually(t, base, func(t *testing.T, g *group) {
		g.change = func(c *Config) { c.SnapshotEntries = 8 }
		table := g.open("n0")
		g.must(table.Found(g.context(), found("n0", 4)))
		for weight := range 30 {
			g.must(table.Apply(g.context(), &SetWeight{"n0", 1, float64(weight + 1)}))
			if weight == 20 {
				if err := table.raft.Snapshot().Error(); err != nil {
					t.Fatal(err)
				}
			}
		}
		want.state = mustBytes(t, table.State())
		g.kill("n0")
	})
	dir = filepath.Join(base, "n0")
	d, err := openDisk(diskConfig(dir))
	if err != nil {
		t.Fatal(err)
	}
	// The last change is the one that is lost most easily.
	if err := d.stable.SetUint64([]byte("LastVoteTerm"), 77); err != nil {
		t.Fatal(err)
	}
	want = contentsOf(t, d, want.state)
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	return dir, want
}

// contents are what a directory says.
type contents struct {
	server, state, stable string
	snapshot              uint64
}

func contentsOf(t *testing.T, d *disk, state string) contents {
	t.Helper()
	c := contents{server: d.server, state: state}
	for _, key := range checked.StableKeys {
		value, err := d.stable.Get([]byte(key))
		c.stable += fmt.Sprintf("%s=%x %v\n", key, value, err)
	}
	snapshots, err := d.snapshots.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshots) > 0 {
		c.snapshot = snapshots[0].Index
	}
	return c
}

// openedContents opens a directory, as a start does, and reads it.
func openedContents(t *testing.T, dir string) (contents, error) {
	t.Helper()
	d, err := openDisk(diskConfig(dir))
	if err != nil {
		return contents{}, err
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	r, err := d.remains()
	if errors.Is(err, ErrNotFounded) {
		r, err = &Remains{State: new(State)}, nil
	}
	if err != nil {
		return contents{}, err
	}
	return contentsOf(t, d, mustBytes(t, r.State)), nil
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// filesIn are the paths of all files, relative to a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			path, err = filepath.Rel(dir, path)
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// A damage changes the contents of a file; nil deletes the file.
type damage struct {
	name   string
	change func(b []byte) []byte
}

func flip(at int, bit uint) damage {
	return damage{fmt.Sprintf("bit %d of byte %d", bit, at), func(b []byte) []byte {
		b[at] ^= 1 << bit
		return b
	}}
}

func truncate(to int) damage {
	return damage{fmt.Sprintf("cut to %d bytes", to), func(b []byte) []byte { return b[:to] }}
}

// damages are some of each kind for a file of a size: its absence, every kind of cut, and
// bits of all parts. Of a file of pages, the heads of pages are parts of their own.
func damages(rng *rand.Rand, size, pageSize, n int) []damage {
	all := []damage{{"missing", func([]byte) []byte { return nil }}, truncate(0), truncate(size - 1), truncate(size / 2)}
	for range n / 4 {
		all = append(all, truncate(rng.IntN(size)))
	}
	for range n {
		all = append(all, flip(rng.IntN(size), uint(rng.IntN(8))))
		page := rng.IntN(max(1, size/pageSize)) * pageSize
		all = append(all, flip(min(page+rng.IntN(80), size-1), uint(rng.IntN(8))))
	}
	return all
}

// Whatever byte of a file of the table is damaged, whatever is cut off and whatever file
// is missing: the directory is refused with a sentence, or says what it has always said.
func TestOpenRefusesDamageOfTableFiles(t *testing.T) {
	dir, want := closedDir(t)
	if got, err := openedContents(t, copyDir(t, dir)); err != nil || got != want {
		t.Fatalf("the directory says %+v, %v", got, err)
	}
	n := 6
	if os.Getenv("RINGSIDE_LONG") != "" {
		n = 400
	}
	rng := rand.New(rand.NewPCG(testSeed(t), 1))
	refused := make(map[string]int)
	for _, path := range filesIn(t, dir) {
		whole, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range damages(rng, len(whole), os.Getpagesize(), n) {
			damagedDir := copyDir(t, dir)
			at := filepath.Join(damagedDir, path)
			if b := how.change(slices.Clone(whole)); b == nil {
				err = os.Remove(at)
			} else {
				err = os.WriteFile(at, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := openedContents(t, damagedDir)
			switch {
			case err == nil && got != want:
				t.Errorf("%s, %s: it is believed", path, how.name)
			case err != nil && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), damagedDir) || !strings.Contains(err.Error(), checked.Cure)):
				t.Errorf("%s, %s: %v", path, how.name, err)
			case err != nil:
				refused[filepath.Base(path)]++
			}
			if err := os.RemoveAll(damagedDir); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("refused: %v", refused)
	for _, name := range []string{logFile, serverFile, "meta.json", "state.bin"} {
		if refused[name] == 0 {
			t.Errorf("no damage of %s was noticed", name)
		}
	}
}

// An entry of the log is damaged where the pages of the file stay right.
func TestOpenRefusesEntryThatFailsItsChecksum(t *testing.T) {
	dir, _ := closedDir(t)
	path := filepath.Join(dir, logFile)
	bolt, err := boltdb.NewBoltStore(path)
	if err != nil {
		t.Fatal(err)
	}
	var l raft.Log
	last, err := bolt.LastIndex()
	if err == nil {
		err = bolt.GetLog(last-2, &l)
	}
	if err == nil {
		l.Data[len(l.Data)-1] ^= 1
		err = bolt.StoreLog(&l)
	}
	if err := errors.Join(err, bolt.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = openedContents(t, dir)
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), fmt.Sprintf("entry %d ", last-2)) {
		t.Errorf("Open: %v", err)
	}
	if _, err := ReadRemains(dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("ReadRemains: %v", err)
	}
}

// A loss of power may leave an older high-water mark than the log, never a newer one.
func TestOpenSucceedsWithOlderHighWaterMark(t *testing.T) {
	dir, want := closedDir(t)
	path := filepath.Join(dir, highwater.FileName)
	now, err := highwater.Read(path)
	if err != nil || now.Index == 0 || now.Changes == 0 || now.Snapshot == 0 {
		t.Fatalf("the mark is %+v, %v", now, err)
	}
	for _, older := range []highwater.Progress{{}, {Index: now.Index - 1, Changes: now.Changes, Snapshot: now.Snapshot}, {Changes: now.Changes - 1}} {
		if err := os.WriteFile(path, older.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := openedContents(t, dir); err != nil || got != want {
			t.Errorf("%+v: %+v, %v", older, got, err)
		}
	}
	// What a new leader has deleted is not missed.
	d, err := openDisk(diskConfig(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.logs.DeleteRange(now.Index-2, now.Index); err != nil {
		t.Fatal(err)
	}
	if mark, err := highwater.Read(path); err != nil || mark.Index != now.Index-3 {
		t.Errorf("after the last entries are deleted the mark is %+v, %v", mark, err)
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openedContents(t, dir); err != nil {
		t.Error(err)
	}
}

// asEarlierBuild makes of a directory what an earlier build would have written.
func asEarlierBuild(t *testing.T, dir string) string {
	t.Helper()
	old := filepath.Join(t.TempDir(), "old")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := openDisk(diskConfig(dir))
	if err != nil {
		t.Fatal(err)
	}
	bolt, err := boltdb.NewBoltStore(filepath.Join(old, logFile))
	if err != nil {
		t.Fatal(err)
	}
	first, err := d.logs.FirstIndex()
	if err != nil {
		t.Fatal(err)
	}
	last, err := d.logs.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	for i := first; i <= last; i++ {
		var l raft.Log
		if err := errors.Join(d.logs.GetLog(i, &l), bolt.StoreLog(&l)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range checked.StableKeys {
		if value, err := d.stable.Get([]byte(key)); err == nil {
			if err := bolt.Set([]byte(key), value); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := d.snapshots.List()
	if err != nil || len(list) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	meta, from, err := d.snapshots.Open(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(old, keptSnapshots, newLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	_, transport := raft.NewInmemTransport("")
	sink, err := snapshots.Create(raft.SnapshotVersionMax, meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex, transport)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(sink, from)
	err = errors.Join(err, from.Close(), sink.Close(), transport.Close(), bolt.Close(), d.close(),
		os.WriteFile(filepath.Join(old, serverFile), []byte(d.server+"\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return old
}

func TestOpenTakesOverDirectoryOfEarlierBuild(t *testing.T) {
	dir, want := closedDir(t)
	old := asEarlierBuild(t, dir)

	// What only reads a directory leaves it as it is.
	if r, err := ReadRemains(old); err != nil || mustBytes(t, r.State) != want.state || r.Server != want.server {
		t.Errorf("ReadRemains: %+v, %v", r, err)
	}
	if text, err := readSmall(filepath.Join(old, serverFile)); err != nil || text != want.server+"\n" {
		t.Errorf("the id is %q, %v", text, err)
	}

	interrupted := copyDir(t, old)
	id, err := beginServer(interrupted)
	if err != nil || id.stage != stageUpgrading {
		t.Fatalf("%+v, %v", id, err)
	}
	f, err := openFiles(diskConfig(interrupted), id.stage)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.logs.SealAll(), f.close()); err != nil {
		t.Fatal(err)
	}

	for _, dir := range []string{old, interrupted} {
		for range 2 {
			if got, err := openedContents(t, dir); err != nil || got != want {
				t.Errorf("%+v, %v", got, err)
			}
		}
		text, err := readSmall(filepath.Join(dir, serverFile))
		if err != nil || !strings.Contains(text, string(stageChecked)) {
			t.Errorf("the id is %q, %v", text, err)
		}
		if _, err := uuid.Parse(strings.TrimSpace(text)); err == nil {
			t.Error("an earlier build would open the directory")
		}
		f, err := openFiles(diskConfig(dir), stageChecked)
		if err != nil {
			t.Fatal(err)
		}
		if _, last, err := f.logs.Entries(func(*raft.Log) error { return nil }); err != nil || last == 0 {
			t.Errorf("%d, %v", last, err)
		}
		if err := f.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A first start may end at any moment before the log is complete: nobody has heard of the
// id by then.
func TestOpenBeginsAnewAfterFirstStartWasCutShort(t *testing.T) {
	dir := t.TempDir()
	id, err := beginServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{"", "half of a first page"} {
		if err := os.WriteFile(filepath.Join(dir, logFile), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := openDisk(diskConfig(dir))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
		if d.server == id.server {
			t.Error("the id is used again")
		}
		if err := writeServer(dir, serverFileText{d.server, stageCreating}); err != nil {
			t.Fatal(err)
		}
	}
}

// Snapshots travel without what the directory adds to them.
func TestNodeFollowsByCheckedSnapshot(t *testing.T) {
	virtually(t, t.TempDir(), func(t *testing.T, g *group) {
		g.change = func(c *Config) { c.SnapshotEntries = 4 }
		table := g.open("n0")
		g.must(table.Found(g.context(), found("n0", 4)))
		for weight := range 30 {
			g.must(table.Apply(g.context(), &SetWeight{"n0", 1, float64(weight + 1)}))
		}
		if err := table.raft.Snapshot().Error(); err != nil {
			t.Fatal(err)
		}
		second := g.open("n1")
		g.must(second.Apply(g.context(), &Register{Node: "n1", Incarnation: 1, Intact: true}))
		g.until(g.alike, "both tables are alike")
		for _, table := range maps.All(g.tables) {
			if list, err := table.disk.snapshots.List(); err != nil || len(list) == 0 {
				t.Errorf("%v, %v", list, err)
			}
		}
	})
}
