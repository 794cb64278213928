package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/replica/table/internal/checked"
	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

// A loss of power during a change of the log or of the votes leaves what was there before it or after it,
// and the directory opens. What a change has returned for is there.
//
// bbolt writes the pages of a change in any order, syncs them, and then writes one of its two roots and
// syncs it. So the test keeps any of the pages that were written before that sync, or all of them and the
// root whole, torn or not at all. The high-water mark is never synced before the file shrinks, so the test
// keeps any of those that were written since.
func TestPowerLossDuringChangeOfTableFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(testSeed(t), 3))
	dir := t.TempDir()
	d, err := openDisk(diskConfig(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	logPath, markPath := filepath.Join(dir, logFile), filepath.Join(dir, highwater.FileName)
	changes := 40
	if os.Getenv("RINGSIDE_LONG") != "" {
		changes = 400
	}
	seen := make(map[string]int)
	before, said := mustRead(t, logPath), recordsOf(t, d)
	marks := [][]byte{mustRead(t, markPath)}
	for range changes {
		what := changeLog(t, rng, d)
		after, says := mustRead(t, logPath), recordsOf(t, d)
		if mark := mustRead(t, markPath); what == "deleted entries" { // the mark was synced before them
			marks = [][]byte{mark}
		} else {
			marks = append(marks, mark)
		}
		for _, c := range crashes(rng, before, after, os.Getpagesize()) {
			// A mark of the change itself is written after the change has become durable.
			kept := marks[:max(1, len(marks)-1)]
			if c.whole {
				kept = marks
			}
			damagedDir := copyDir(t, dir)
			mustWrite(t, filepath.Join(damagedDir, logFile), c.file)
			mustWrite(t, filepath.Join(damagedDir, highwater.FileName), kept[rng.IntN(len(kept))])
			got, err := reopened(t, damagedDir)
			switch {
			case err != nil:
				t.Fatalf("%s, %s: %v", what, c.name, err)
			case c.whole && got != says, !c.whole && got != said:
				t.Fatalf("%s, %s: got\n%s\nbefore\n%s\nafter\n%s", what, c.name, got, said, says)
			}
			seen[what+", "+c.name]++
			if err := os.RemoveAll(damagedDir); err != nil {
				t.Fatal(err)
			}
		}
		before, said = after, says
	}
	t.Log(seen)
}

// changeLog makes one change that Raft makes, and returns its name.
func changeLog(t *testing.T, rng *rand.Rand, d *disk) string {
	t.Helper()
	last, err := d.logs.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	what := ""
	switch n := rng.IntN(6); {
	case n == 0 && last > 3:
		what, err = "deleted entries", d.logs.DeleteRange(last-uint64(rng.IntN(3)), last)
	case n <= 2:
		what, err = "a vote", d.stable.SetUint64([]byte("LastVoteTerm"), rng.Uint64())
	default:
		var entries []*raft.Log
		for i := range 1 + rng.IntN(4) {
			data := make([]byte, rng.IntN(3000))
			for j := range data {
				data[j] = byte(rng.Uint32())
			}
			entries = append(entries, &raft.Log{Index: last + 1 + uint64(i), Term: 1, Type: raft.LogBarrier, Data: data})
		}
		what, err = "entries", d.logs.StoreLogs(entries)
	}
	if err != nil {
		t.Fatal(err)
	}
	return what
}

// A crash is what a loss of power leaves of a file of bbolt.
type crash struct {
	name  string
	file  []byte
	whole bool // the change is there
}

// crashes returns some of what a loss of power can leave of a change. The first two pages are the roots.
func crashes(rng *rand.Rand, before, after []byte, page int) []crash {
	some, all := grown(before, len(after)), grown(before, len(after))
	if rng.IntN(2) == 0 { // the file has not become longer yet
		some = some[:len(before)]
	}
	for at := 2 * page; at < len(after); at += page {
		copy(all[at:at+page], after[at:])
		if at < len(some) && rng.IntN(2) == 0 {
			copy(some[at:at+page], after[at:])
		}
	}
	torn := bytes.Clone(all)
	for at := 0; at < 2*page; at += page {
		if !bytes.Equal(before[at:at+page], after[at:at+page]) {
			// Of a root's 80 bytes, the newer part and the checksum are never from different writes on
			// a disk that writes sectors whole; on others the checksum tells.
			cut := 24 + rng.IntN(48)
			copy(torn[at:], after[at:at+cut])
		}
	}
	return []crash{
		{"some pages", some, false}, {"all pages", all, false}, {"all pages and a torn root", torn, false}, {"all pages and the root", after, true},
	}
}

func grown(b []byte, size int) []byte {
	return append(bytes.Clone(b), make([]byte, max(0, size-len(b)))...)
}

// recordsOf returns all that the log and the votes say.
func recordsOf(t *testing.T, d *disk) string {
	t.Helper()
	first, err := d.logs.FirstIndex()
	if err != nil {
		t.Fatal(err)
	}
	last, err := d.logs.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	vote, err := d.stable.Get([]byte("LastVoteTerm"))
	text := fmt.Sprintf("vote %x %v, entries %d to %d:", vote, err, first, last)
	for i := max(first, 1); i <= last; i++ {
		var l raft.Log
		if err := d.logs.GetLog(i, &l); err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf(" %d", checked.EntrySum(&l, l.Extensions))
	}
	return text
}

// reopened returns what a directory says after a start.
func reopened(t *testing.T, dir string) (string, error) {
	t.Helper()
	d, err := openDisk(diskConfig(dir))
	if err != nil {
		return "", err
	}
	text := recordsOf(t, d)
	return text, d.close()
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustWrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
