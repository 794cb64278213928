package collection

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// manyPages is a shape of logs of many pages with few changes each.
var manyPages = &shape{maxBlock: 6, fillBlock: 3, countFrom: 12, maxLog: 24, perByte: 1, maxPages: 400, maxLeft: 5, planFrom: 20}

// What somebody remembers of the pages of a log is never taken for what others have made of
// them, under the same numbers: in a unit that came to nothing, in another collection under
// the key, or in another store, whose copy came after, or whose own changes it has replaced.
func TestPagesAreRememberedAsTheyAre(t *testing.T) {
	randomtest.Draw(t, 3)
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var stores [2]*store.Store
	var models [2]map[string]map[string]float64
	for i := range stores {
		stores[i] = open(t, vfs.NewMem())
		models[i] = map[string]map[string]float64{"a": {}}
	}
	pages := 0
	for range rounds(600) {
		i := rnd.IntN(2)
		s, m := stores[i], models[i]
		switch what := rnd.IntN(10); {
		case what == 0:
			copyStore(t, s, stores[1-i])
			models[1-i]["a"] = maps.Clone(m["a"])
			i = 1 - i
		case what < 8:
			before := maps.Clone(m["a"])
			u := s.NewUnit()
			u.Begin(1000, []store.Place{u.Place([]byte("a"))})
			for range 1 + rnd.IntN(8) {
				z := zsetOf(t, u, "a", 1, manyPages)
				changePages(t, z, rnd, m["a"])
				if rnd.IntN(4) == 0 {
					compareZSet(t, zsetOf(t, u, "a", 1, manyPages), rnd, m["a"])
				}
			}
			checkCounts(t, zsetOf(t, u, "a", 1, manyPages))
			if rnd.IntN(3) == 0 {
				u.Abort()
				m["a"] = before
				break
			}
			var done store.Signal
			wait, err := u.Commit(&done)
			if err == nil && wait {
				err = done.Wait()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		in(t, stores[i], func(u *store.Unit) {
			z := &ZSet{oddShape: manyPages}
			if err := z.OpenWhole(u, []byte("a")); err != nil {
				t.Fatal(err)
			}
			pages = max(pages, int(z.pages.n))
			compareZSet(t, z, rnd, models[i]["a"])
		})
	}
	if pages < 3 {
		t.Errorf("never more than %d pages: nothing to see", pages)
	}
}

// changePages changes a sorted set by a few members: mostly, so that pages gather.
func changePages(t *testing.T, z *ZSet, rnd *rand.Rand, m map[string]float64) {
	t.Helper()
	var err error
	switch {
	case rnd.IntN(100) == 0:
		z.table.Clear()
		clear(m)
		return
	case len(m) > 0 && rnd.IntN(5) == 0:
		err = z.Pop(1, rnd.IntN(2) == 0, func(member []byte, _ float64) { delete(m, string(member)) })
	default:
		n := 1
		if len(m) < 100 {
			n = 100
		}
		for range n {
			member, score := fmt.Sprint(rnd.IntN(300)), float64(rnd.IntN(100)-50)
			m[member] = score
			if err = z.Set([]byte(member), score); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = z.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyStore makes one store what another is; what they have in common does not travel.
func copyStore(t *testing.T, src, dst *store.Store) {
	t.Helper()
	c, err := src.NewCopy(ring.Whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	rc := dst.NewReceiver(ring.Whole)
	defer rc.Close()
	for !c.Done() {
		their, err := dst.Digest(ring.Whole, c.Position(), 50)
		if err == nil {
			their, err = store.ParseDigests(their.Append(nil))
		}
		var batches [][]byte
		if err == nil {
			err = c.Chunk(store.ChunkSize, their, func(batch []byte, _ store.Position) {
				if len(batch) > 0 {
					batches = append(batches, bytes.Clone(batch))
				}
			})
		}
		for _, b := range batches {
			var done store.Signal
			wait, applyErr := rc.Apply(b, &done)
			if applyErr == nil && wait {
				applyErr = done.Wait()
			}
			if err == nil {
				err = applyErr
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Pages that are remembered are of use to who reads again: nothing is read then, nor parsed.
func TestPagesAreReadOnce(t *testing.T) {
	s := open(t, vfs.NewMem())
	rnd := rand.New(rand.NewPCG(1, 1))
	m := map[string]float64{}
	in(t, s, func(u *store.Unit) {
		for range 20 {
			changePages(t, zsetOf(t, u, "a", 1, manyPages), rnd, m)
		}
	}, "a")
	in(t, s, func(u *store.Unit) {
		var logs []*pageLog
		for range 2 {
			z := &ZSet{oddShape: manyPages}
			if err := z.OpenWhole(u, []byte("a")); err != nil {
				t.Fatal(err)
			}
			if z.pages.n == 0 {
				t.Fatal("no pages: nothing to see")
			}
			if _, err := z.runs(); err != nil {
				t.Fatal(err)
			}
			log, _ := u.Recall(z.Value()).(*pageLog)
			if log == nil || log.stamp != z.pages.stamp {
				t.Fatalf("%+v is remembered of %+v", log, z.pages)
			}
			logs = append(logs, log)
		}
		if logs[0] != logs[1] {
			t.Error("read twice")
		}
	})
}

// A run finds and sums as all changes one by one do.
func TestRunsOfALogAreSums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for range rounds(500) {
		var parts [3]logRun
		var all []logged
		for i := range parts {
			for range rnd.IntN(40) {
				l := logged{[]byte{byte(rnd.IntN(60))}, int64(1 - 2*rnd.IntN(2))}
				parts[i], all = append(parts[i], l), append(all, l)
			}
			parts[i] = parts[i].order()
		}
		sums := parts[0].and(parts[1]).and(parts[2])
		for at := range byte(62) {
			want := int64(0)
			for _, l := range all {
				if l.at[0] <= at {
					want += l.sum
				}
			}
			if got := sums.members(sums.upTo([]byte{at}), 0); got != want {
				t.Fatalf("up to %d it is %d, want %d of %v", at, got, want, all)
			}
		}
		for i, l := range sums {
			if i > 0 && (bytes.Compare(sums[i-1].at, l.at) >= 0 || sums[i-1].sum == l.sum) {
				t.Fatalf("%v is no run", sums)
			}
		}
		if left := changesOf(parts[:]); slices.ContainsFunc(left, func(c countChange) bool { return c.members == 0 }) {
			t.Fatalf("%v has changes that are none", left)
		}
	}
}

// FuzzLog: what a header says of pages, and the log, are read as they were written, and no
// bytes break the reader.
func FuzzLog(f *testing.F) {
	f.Add(append(binary.AppendUvarint([]byte{1, 200, 4}, 7), "12345678"...))
	f.Add([]byte("\x06key\x07key\x00"))
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p pages
		if rest, ok := p.cut(b); ok {
			if p.n < 1 || p.n > maxPageNumber || len(rest) >= len(b) {
				t.Errorf("% x: %+v, % x", b, p, rest)
			}
			head := (&ZSet{levels: 1, tops: 1, pages: p, log: rest}).appendHead(nil)
			again := pages{}
			if back, ok := again.cut(head[2:]); !ok || again != p || !bytes.HasSuffix(back, rest) {
				t.Errorf("%+v is % x, read as %+v", p, head, again)
			}
		}
		r, err := parseLog(nil, b)
		if err != nil {
			return
		}
		var z ZSet
		z.levels = 1
		for _, l := range r {
			z.note(l.at, l.sum < 0)
		}
		if again, err := parseLog(nil, z.log); err != nil || len(again) != len(r) {
			t.Errorf("% x has %d changes, written % x has %d, %v", b, len(r), z.log, len(again), err)
		}
		total, n := int64(0), int64(0)
		for _, l := range r {
			total += l.sum
		}
		if r = r.order(); len(r) > 0 {
			n = r[len(r)-1].sum
		}
		if n != total {
			t.Errorf("% x grows by %d, in order by %d", b, total, n)
		}
	})
}
