package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

func allocatedBytes(do func()) (before, after uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before = m.TotalAlloc
	do()
	runtime.ReadMemStats(&m)
	return before, m.TotalAlloc
}

// changesText is what a node pushes: the rows that are not as they were.
func changesText(old, now *ring.Placement) string {
	var b strings.Builder
	table, notBuckets := buckets.TableOf(now)
	for row := range now.Rows() {
		before := old.Lookup(row.Range.Start)
		if before.Range == row.Range && before.Epoch == row.Epoch && before.Primary == row.Primary && slices.Equal(before.Backups, row.Backups) {
			continue
		}
		name := row.Range.String()
		if notBuckets == nil {
			name = table.Lookup(row.Range.Start).Hashmask.String()
		}
		fmt.Fprintf(&b, "%s epoch=%d primary=%s", name, row.Epoch, row.Primary)
		if len(row.Backups) > 0 {
			b.WriteString(" backups=" + strings.Join(row.Backups, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// desired is the placement of n nodes that follows another.
func desired(t *testing.T, name string, n int, present *ring.Placement, load func(ring.Range) ring.Load) *ring.Placement {
	t.Helper()
	s, err := strategy.Config{Name: name, Hash: strategy.Native, Points: 40, VNodes: 8, Mask: 0xF}.New()
	if err != nil {
		t.Fatal(err)
	}
	in := ring.Input{Backups: 1, Present: present, Load: load}
	for i := range n {
		in.Members = append(in.Members, ring.Member{ID: fmt.Sprint("n", i), Weight: 1})
	}
	p, err := s.Desired(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func addrsOf(n int) map[string]string {
	addrs := make(map[string]string)
	for i := range n {
		addrs[fmt.Sprint("n", i)] = fmt.Sprint("host", i, ":1")
	}
	return addrs
}

// resolved are owners whose remotes are only addresses.
func resolved(d *directory) *owners {
	known := make(map[string]*remote)
	return d.owners(func(addr string) *remote {
		if known[addr] == nil {
			known[addr] = closedRemote(addr)
		}
		return known[addr]
	})
}

// checkOwners compares owners with a placement.
func checkOwners(t *testing.T, what string, rnd *rand.Rand, w *owners, p *ring.Placement, addrs map[string]string) {
	t.Helper()
	tokens := []ring.Token{0, 1<<32 - 1}
	for row := range p.Rows() {
		tokens = append(tokens, row.Range.Start, row.Range.Start-1)
	}
	for range 1000 {
		tokens = append(tokens, ring.Token(rnd.Uint32()))
	}
	for _, token := range tokens {
		row, o := p.Lookup(token), w.of(token)
		got := ""
		if o.primary != nil {
			got = o.primary.addr
		}
		if got != addrs[row.Primary] {
			t.Fatalf("%s: token %08x is at %q, want %q", what, token, got, addrs[row.Primary])
		}
		if len(row.Backups) > 0 && (len(o.backups) == 0 || o.backups[0].addr != addrs[row.Backups[0]]) {
			t.Fatalf("%s: token %08x: backups %v, want %v", what, token, o.backups, row.Backups)
		}
	}
}

// What is pushed leads to the same owners as the placement itself, whatever the strategy:
// nodes come and go, buckets split.
func TestPushedChangesLeadToThePlacement(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, name := range strategy.Names() {
		const most = 12
		steps := 30
		if !slices.Contains([]string{strategy.Buckets, strategy.Ketama, strategy.VNode}, name) {
			steps = randomtest.Length(30, 6) // they all choose nodes for the same cells
		}
		p := desired(t, name, 1, nil, nil)
		d, err := newDirectory(infoWith(name), p, addrsOf(most))
		if err != nil {
			t.Fatal(err)
		}
		for step := range steps {
			hot := ring.Token(rnd.Uint32())
			now := desired(t, name, 1+rnd.IntN(most), p, func(r ring.Range) ring.Load {
				if r.Contains(hot) && step%7 == 3 {
					return ring.Load{Bytes: 1 << 40}
				}
				return ring.Load{Bytes: 1 << 27}
			})
			if err := d.apply(changesText(p, now)); err != nil {
				t.Fatal(err)
			}
			p = now
			checkOwners(t, fmt.Sprint(name, ", step ", step), rnd, resolved(d), p, d.addrs)
		}
		if d.table != nil {
			t.Logf("%s: %d ranges, mask %04X", name, p.Len(), d.table.Mask())
		}
	}
}

// The table of the seed: it expands when a wider mask is heard of, and what was not
// mentioned stays with who had it.
func TestTableExpandsOnASplit(t *testing.T) {
	p := desired(t, strategy.Buckets, 1, nil, nil)
	d, err := newDirectory(infoWith(strategy.Buckets), p, addrsOf(3))
	if err != nil {
		t.Fatal(err)
	}
	if d.table.Mask() != 0xF {
		t.Fatalf("mask %04X", d.table.Mask())
	}
	if err := d.apply("0012/00FF epoch=9 primary=n2\n0032/00FF epoch=9 primary=n1 backups=n0\n"); err != nil {
		t.Fatal(err)
	}
	w := resolved(d)
	if d.table.Mask() != 0xFF || len(w.by) != 256 {
		t.Errorf("mask %04X, %d owners", d.table.Mask(), len(w.by))
	}
	for hash, want := range map[int]string{0x12: "host2:1", 0x32: "host1:1", 0x22: "host0:1", 0x02: "host0:1", 0x13: "host0:1"} {
		if got := w.by[hash].primary.addr; got != want {
			t.Errorf("%04X is at %s, want %s", hash, got, want)
		}
	}
	// A late word about the bucket before it was split.
	if err := d.apply("0002/000F epoch=1 primary=n1\n"); err != nil {
		t.Fatal(err)
	}
	if got := resolved(d).by[0x12].primary.addr; got != "host2:1" {
		t.Errorf("0012 is back at %s", got)
	}
}

func TestLateChangesOfARingArePassedOver(t *testing.T) {
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{Start: 100, End: 1 << 31}, Epoch: 5, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 31, End: 100}, Epoch: 3, Primary: "n1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDirectory(infoWith(strategy.VNode), p, addrsOf(3))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.apply("00000064-00000064 epoch=4 primary=n2\n"); err != nil { // all of it
		t.Fatal(err)
	}
	w := resolved(d)
	for token, want := range map[ring.Token]string{99: "host2:1", 100: "host0:1", 1<<31 - 1: "host0:1", 1 << 31: "host2:1", 1<<32 - 1: "host2:1"} {
		if got := w.of(token).primary.addr; got != want {
			t.Errorf("%08x is at %s, want %s", token, got, want)
		}
	}
}

func TestRedirectChangesOnePiece(t *testing.T) {
	for _, name := range strategy.Names() {
		p := desired(t, name, 3, nil, nil)
		d, err := newDirectory(infoWith(name), p, addrsOf(3))
		if err != nil {
			t.Fatal(err)
		}
		w := resolved(d)
		const token = 12345678
		to := closedRemote("elsewhere:1")
		now := w.redirected(token, to)
		row := p.Lookup(token)
		for range 5000 {
			other := ring.Token(rand.Uint32())
			want := w.of(other).primary
			if row.Range.Contains(other) {
				want = to
			}
			// The circle's beginning cuts a piece that wraps.
			if now.of(other).primary != want && !row.Range.Wraps() {
				t.Fatalf("%s: %08x is at %s", name, other, now.of(other).primary.addr)
			}
		}
		if now.of(token).primary != to || w.of(token).primary == to || now.redirected(token, to) != now {
			t.Errorf("%s: what was learnt is lost, or not new", name)
		}
	}
}

// FuzzChanges: whatever is pushed is an error or leaves a directory that is whole.
func FuzzChanges(f *testing.F) {
	f.Add("0002/000F epoch=3 primary=n0 backups=n1\n", true)
	f.Add("00000064-80000000 epoch=4 primary=n2\n00000000-00000000 epoch=5\n", false)
	f.Add("fffffff0-00000010 epoch=99 primary=n1 backups=,", false)
	f.Add("0002/FFFF epoch=3 primary=n0", false)
	f.Fuzz(func(t *testing.T, text string, isBuckets bool) {
		name := strategy.VNode
		if isBuckets {
			name = strategy.Buckets
		}
		d, err := newDirectory(infoWith(name), desired(t, name, 2, nil, nil), addrsOf(3))
		if err != nil {
			t.Fatal(err)
		}
		_ = d.apply(text)
		if d.table == nil && (len(d.pieces) == 0 || d.pieces[0].start != 0 || !slices.IsSortedFunc(d.pieces, byStart)) {
			t.Fatalf("pieces %+v", d.pieces)
		}
		w := resolved(d)
		for _, token := range []ring.Token{0, 1, 1 << 31, 1<<32 - 1} {
			if w.of(token) == nil {
				t.Errorf("%08x has no owner", token)
			}
		}
		_ = d.strangers()
	})
}

func TestConfigsOfARingReportEveryFault(t *testing.T) {
	_, err := Open(context.Background(), Config{
		Username: "u", Route: "sideways", Conns: -1, DialTimeout: -1, Timeout: -1, RetryFor: -1, Poll: -1,
		MinBackoff: 2, MaxBackoff: 1, MaxInFlight: -1, MaxReply: 1,
	})
	for _, want := range []string{"address", "password", "sideways", "connections", "dial time-out", "time-out", "retries", "polls", "pauses", "in flight", "replies"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
	if _, err := Open(context.Background(), Config{Addrs: []string{"nowhere"}}); !strings.Contains(fmt.Sprint(err), "nowhere") {
		t.Errorf("got %v", err)
	}
}

// infoWith is what RING INFO says of a strategy.
func infoWith(name string) map[string]string {
	return map[string]string{"strategy": name, "hash": strategy.Native, "founding_strategy": name}
}

// TestDirectoryOfBucketsFollowsSwitch pushes the ranges of another strategy to a client that knows
// buckets.
func TestDirectoryOfBucketsFollowsSwitch(t *testing.T) {
	d, err := newDirectory(infoWith(strategy.Buckets), desired(t, strategy.Buckets, 3, nil, nil), addrsOf(3))
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("key")
	before := d.token(key)
	p := desired(t, strategy.Ketama, 3, nil, nil)
	var first, rest strings.Builder
	for i := range p.Len() {
		text := &first
		if i%2 == 1 {
			text = &rest
		}
		row := p.Row(i)
		fmt.Fprintf(text, "%v epoch=99 primary=%s\n", row.Range, row.Primary)
	}
	for _, text := range []string{first.String(), rest.String()} {
		if err := d.apply(text); err != nil {
			t.Fatal(err)
		}
	}
	w := resolved(d)
	for range 5000 {
		token := ring.Token(rand.Uint32())
		if got, want := w.of(token).primary.addr, d.addrs[p.Lookup(token).Primary]; got != want {
			t.Fatalf("%08x is at %s, want %s", token, got, want)
		}
	}
	if d.token(key) != before {
		t.Error("the token of a key has changed")
	}
}
