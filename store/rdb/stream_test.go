package rdb

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// A told is all that a visitor was told, one to a line, and what it needs to be written again.
type told struct {
	lines   []string
	entries []toldEntry
	head    StreamHead
	groups  []toldGroup
}

type toldEntry struct {
	id     StreamID
	fields [][]byte
}

type toldGroup struct {
	StreamGroup
	consumers []toldConsumer
	orphans   []StreamPending // with no consumer, behind all others
	released  []StreamPending
}

type toldConsumer struct {
	name    []byte
	seen    int64
	active  int64
	pending []StreamPending
}

func (v *told) note(format string, args ...any) error {
	v.lines = append(v.lines, fmt.Sprintf(format, args...))
	return nil
}

func (v *told) Entry(id StreamID, fields [][]byte) error {
	e := toldEntry{id: id}
	for _, f := range fields {
		e.fields = append(e.fields, append([]byte(nil), f...))
	}
	v.entries = append(v.entries, e)
	return v.note("%v %q", id, fields)
}

func (v *told) Head(h StreamHead) error {
	v.head = h
	return v.note("%+v", h)
}

func (v *told) Group(g StreamGroup) error {
	g.Name = append([]byte(nil), g.Name...)
	v.groups = append(v.groups, toldGroup{StreamGroup: g})
	return v.note("group %q %v %d %v", g.Name, g.Last, g.Read, g.Unread)
}

func (v *told) Consumer(name []byte, seen, active int64) error {
	g := &v.groups[len(v.groups)-1]
	g.consumers = append(g.consumers, toldConsumer{name: append([]byte(nil), name...), seen: seen, active: active})
	return v.note("consumer %q %d %d", name, seen, active)
}

func (v *told) Pending(p StreamPending) error {
	g := &v.groups[len(v.groups)-1]
	c := &g.consumers[len(g.consumers)-1]
	c.pending = append(c.pending, p)
	return v.note("%+v", p)
}

func (v *told) Released(p StreamPending) error {
	g := &v.groups[len(v.groups)-1]
	g.released = append(g.released, p)
	return v.note("released %+v", p)
}

func streamOf(payload []byte) (told, error) {
	var all told
	v, err := Decode(payload, 1<<24)
	if err == nil {
		err = v.VisitStream(&all)
	}
	return all, err
}

// write writes a stream in the form of a type byte.
func (v *told) write(form byte) []byte {
	w := NewStreamWriter(nil, Version, false)
	for _, e := range v.entries {
		_ = w.Entry(e.id, len(e.fields), func(yield func([]byte)) error {
			for _, f := range e.fields {
				yield(f)
			}
			return nil
		})
	}
	if w.dst[0] = form; form == typeStream1 {
		var short StreamWriter
		w.flush()
		nodes := append(appendLen([]byte{form}, w.nodes), w.dst[1:]...)
		short.dst = nodes
		short.uint(v.head.Length)
		short.lenID(v.head.Last)
		short.uint(uint64(len(v.groups)))
		w = &short
	} else {
		w.Head(v.head, uint64(len(v.groups)))
	}
	for _, g := range v.groups {
		all := map[StreamID]StreamPending{}
		var ids []StreamID
		for _, c := range g.consumers {
			for _, p := range c.pending {
				all[p.ID] = p
				i := 0
				for i < len(ids) && ids[i].less(p.ID) {
					i++
				}
				ids = append(ids[:i], append([]StreamID{p.ID}, ids[i:]...)...)
			}
		}
		for _, p := range append(slices.Clone(g.orphans), g.released...) {
			all[p.ID] = p
			ids = append(ids, p.ID)
		}
		slices.SortStableFunc(ids, func(a, b StreamID) int { return cmp.Or(cmp.Compare(a.Ms, b.Ms), cmp.Compare(a.Seq, b.Seq)) })
		if form == typeStream1 {
			w.dst = appendString(w.dst, g.Name)
			w.lenID(g.Last)
			w.uint(uint64(len(ids)))
		} else {
			w.Group(g.StreamGroup, int64(len(ids)))
		}
		for _, id := range ids {
			w.Pending(all[id])
		}
		w.Consumers(int64(len(g.consumers)))
		for _, c := range g.consumers {
			w.dst = appendString(w.dst, c.name)
			w.dst = append(w.dst, make([]byte, 8)...)
			putLittle(w.dst[len(w.dst)-8:], c.seen)
			if form >= typeStream3 {
				w.dst = append(w.dst, make([]byte, 8)...)
				putLittle(w.dst[len(w.dst)-8:], c.active)
			}
			w.uint(uint64(len(c.pending)))
			for _, p := range c.pending {
				w.Owned(p.ID)
			}
		}
		if form >= typeStream5 {
			w.Released(int64(len(g.released)))
			for _, p := range g.released {
				w.Owned(p.ID)
			}
		}
	}
	w.form = form
	return Seal(w.Bytes(), 0)
}

func putLittle(b []byte, n int64) {
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
}

// makeStream makes some stream at a key of a Redis.
func makeStream(t *testing.T, c *redis.Client, r *rand.Rand, key string) {
	t.Helper()
	do := func(args ...any) {
		if err := c.Do(context.Background(), args...).Err(); err != nil && err != redis.Nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	do("DEL", key)
	ms, fields := uint64(r.IntN(3)), []string{"a", "b", "field"}
	if r.IntN(4) == 0 {
		ms = math.MaxUint64 - 1<<20
	}
	ids := []string{}
	for range r.IntN(300) {
		ms += uint64(1 + r.IntN(1<<(r.IntN(10))))
		id := fmt.Sprintf("%d-%d", ms, r.Uint64()>>r.IntN(64))
		ids = append(ids, id)
		args := []any{"XADD", key, id}
		for i := range 1 + r.IntN(3) {
			value := fmt.Sprint(numbers[r.IntN(len(numbers))])
			if r.IntN(3) == 0 {
				value = string(randomOver(r, r.IntN([]int{5, 100, 6000}[r.IntN(3)]), 1+r.IntN(200)))
			}
			field := fields[i]
			if r.IntN(20) == 0 {
				field = value
			}
			args = append(args, field, value)
		}
		do(args...)
	}
	for g := range r.IntN(3) {
		do("XGROUP", "CREATE", key, fmt.Sprint("g", g), "0", "MKSTREAM")
		for range r.IntN(5) {
			do("XREADGROUP", "GROUP", fmt.Sprint("g", g), fmt.Sprint("c", r.IntN(3)), "COUNT", r.IntN(50)+1, "STREAMS", key, ">")
		}
		do("XGROUP", "CREATECONSUMER", key, fmt.Sprint("g", g), "idle")
	}
	for _, id := range ids {
		if r.IntN(5) == 0 {
			do("XDEL", key, id)
		}
		if r.IntN(5) == 0 {
			do("XACK", key, "g0", id)
		}
	}
	if len(ids) == 0 {
		do("XGROUP", "CREATE", key, "only", "0", "MKSTREAM")
	}
}

// TestRedisAgreesOnStreams lets Redis and this package read each other's streams.
func TestRedisAgreesOnStreams(t *testing.T) {
	c := startRedis(t)
	ctx := context.Background()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 6))
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		makeStream(t, c, r, "k")
		show := func(key string) string {
			return fmt.Sprint(c.Do(ctx, "XINFO", "STREAM", key, "FULL", "COUNT", "0").Val()) + fmt.Sprint(c.Do(ctx, "XRANGE", key, "-", "+").Val())
		}
		all, err := streamOf([]byte(c.Dump(ctx, "k").Val()))
		if err != nil {
			t.Fatal(err)
		}
		ours := all.write(typeStream2)
		if err := c.RestoreReplace(ctx, "again", 0, string(ours)).Err(); err != nil {
			t.Fatalf("Redis does not take it: %v", err)
		}
		want, got := blankNodes(show("k")), blankNodes(show("again"))
		if want != got {
			t.Fatalf("Redis restores\n%.1000s\nwant\n%.1000s", got, want)
		}
		for _, form := range []byte{typeStream1, typeStream2, typeStream3, typeStream4, typeStream5} {
			again, err := streamOf(all.write(form))
			if err != nil {
				t.Fatalf("form %d: %v", form, err)
			}
			if form == typeStream1 {
				if again.head != (StreamHead{Length: all.head.Length, Last: all.head.Last, Short: true}) {
					t.Fatalf("form %d: %+v becomes %+v", form, all.head, again.head)
				}
				continue
			}
			if form == typeStream3 {
				payload := all.write(form)
				if short, err := StreamWithoutActive(payload[:len(payload)-footerLen]); err != nil || !bytes.Equal(short, ours[:len(ours)-footerLen]) {
					t.Fatalf("in the form of Redis 7.0 it is %x, %v, want %x", short, err, ours)
				}
			}
			if got, want := strings.Join(again.lines, "\n"), strings.Join(all.lines, "\n"); got != want {
				t.Fatalf("form %d:\n%.1000s\nwant\n%.1000s", form, got, want)
			}
		}
	}
}

// blankNodes takes away how many nodes Redis has made.
func blankNodes(info string) string {
	before, rest, _ := strings.Cut(info, "radix-tree-keys")
	_, after, _ := strings.Cut(rest, "last-generated-id")
	return before + after
}

// A payload that contradicts itself is refused.
func TestWrongStreamsAreRefused(t *testing.T) {
	id := func(ms uint64) StreamID { return StreamID{ms, 0} }
	entry := func(ms uint64) toldEntry { return toldEntry{id(ms), [][]byte{[]byte("f"), []byte("v")}} }
	right := func() *told {
		return &told{
			entries: []toldEntry{entry(1), entry(2)},
			head:    StreamHead{Length: 2, Last: id(2), First: id(1), Added: 2},
			groups: []toldGroup{{StreamGroup{Name: []byte("g")}, []toldConsumer{
				{[]byte("c"), 5, 5, []StreamPending{{id(1), 5, 1}}}, {[]byte("d"), 5, -1, nil},
			}, nil, nil}},
		}
	}
	payload := right().write(typeStream2)
	if _, err := streamOf(payload); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*told){
		"length":           func(v *told) { v.head.Length = 3 },
		"last ID":          func(v *told) { v.head.Last = id(1) },
		"order":            func(v *told) { v.entries[0].id = id(2) },
		"zero ID":          func(v *told) { v.entries[0].id = id(0) },
		"two owners":       func(v *told) { v.groups[0].consumers[1].pending = v.groups[0].consumers[0].pending },
		"no owner":         func(v *told) { v.groups[0].orphans = []StreamPending{{id(2), 5, 1}} },
		"pending twice":    func(v *told) { v.groups[0].orphans = []StreamPending{{id(1), 5, 1}} },
		"entry of nothing": func(v *told) { v.entries[1].fields = nil },
	} {
		v := right()
		change(v)
		if _, err := streamOf(v.write(typeStream2)); !isOnly(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	body := payload[:len(payload)-footerLen]
	for i := range body {
		if _, err := streamOf(Seal(append([]byte(nil), body[:i]...), 0)); err == nil {
			t.Errorf("cut to %d bytes it is a stream", i)
		}
	}
	if _, err := streamOf(Seal(append(append([]byte(nil), body...), 0), 0)); !isOnly(err, ErrFormat) {
		t.Errorf("a byte follows: %v", err)
	}
}

// Entries that were released are told of in their order. They are pending, with no consumer.
func TestReleasedEntriesAreToldInOrder(t *testing.T) {
	id := func(ms uint64) StreamID { return StreamID{ms, 0} }
	right := func() *told {
		return &told{head: StreamHead{Last: id(3)}, groups: []toldGroup{{
			StreamGroup: StreamGroup{Name: []byte("g")},
			consumers:   []toldConsumer{{[]byte("c"), 5, 5, []StreamPending{{id(2), 5, 1}}}},
			released:    []StreamPending{{id(3), 0, math.MaxInt64}, {id(1), 0, 0}},
		}}}
	}
	payload := right().write(typeStream5)
	all, err := streamOf(payload)
	if err != nil || fmt.Sprint(all.groups[0].released) != fmt.Sprint(right().groups[0].released) {
		t.Fatalf("%v, %v", all.lines, err)
	}
	body := payload[:len(payload)-footerLen]
	for i := range body {
		if _, err := streamOf(Seal(append([]byte(nil), body[:i]...), 0)); err == nil {
			t.Errorf("cut to %d bytes it is a stream", i)
		}
	}
	body[len(body)-3] = 1 // one producer
	if _, err := streamOf(Seal(body, 0)); !isOnly(err, ErrType) {
		t.Errorf("with an idempotent producer: %v", err)
	}
	for name, change := range map[string]func(g *toldGroup){
		"with a consumer": func(g *toldGroup) { g.released[0].ID = id(2) },
		"twice":           func(g *toldGroup) { g.released[0].ID = id(1) },
		"not said":        func(g *toldGroup) { g.orphans, g.released = g.released[:1], g.released[1:] },
	} {
		v := right()
		change(&v.groups[0])
		if _, err := streamOf(v.write(typeStream5)); !isOnly(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fields that many entries share are not repeated in a payload. It must not become larger in
// memory than a value may be.
func TestSharedFieldsAreCounted(t *testing.T) {
	v := told{head: StreamHead{Length: 90, Last: StreamID{90, 0}}}
	for i := range 90 {
		v.entries = append(v.entries, toldEntry{StreamID{uint64(i + 1), 0}, [][]byte{make([]byte, 2000), nil}})
	}
	payload := v.write(typeStream2)
	d, err := Decode(payload, 100_000)
	if err == nil {
		err = d.VisitStream(&told{})
	}
	if !isOnly(err, ErrTooLarge) {
		t.Errorf("a payload of %d bytes: %v", len(payload), err)
	}
}

// FuzzStreams gives the bytes to each form of a stream: it is read without a panic, and what
// could be read can be written and read again.
func FuzzStreams(f *testing.F) {
	v := told{
		entries: []toldEntry{{StreamID{1, 2}, [][]byte{[]byte("f"), []byte("v")}}, {StreamID{300, 0}, [][]byte{[]byte("f"), []byte("77")}}, {StreamID{301, 0}, [][]byte{nil, nil}}},
		head:    StreamHead{Length: 3, Last: StreamID{301, 0}, First: StreamID{1, 2}, Added: 4},
		groups:  []toldGroup{{StreamGroup{Name: []byte("g"), Read: -1}, []toldConsumer{{[]byte("c"), 5, 5, []StreamPending{{StreamID{1, 2}, 5, 1}}}}, nil, nil}},
	}
	forms := []byte{typeStream1, typeStream2, typeStream3, typeStream4, typeStream5}
	for i, form := range forms {
		if form == typeStream5 {
			v.groups[0].released = []StreamPending{{StreamID{301, 0}, 0, 7}, {StreamID{300, 0}, 0, 0}}
		}
		payload := v.write(form)
		f.Add(byte(i), payload[1:len(payload)-footerLen])
	}
	f.Fuzz(func(t *testing.T, form byte, b []byte) {
		form = forms[int(form)%len(forms)]
		all, err := streamOf(seal(append([]byte{form}, b...), 0))
		if err != nil {
			return
		}
		payload := all.write(form)
		again, err := streamOf(payload)
		if got, want := strings.Join(again.lines, "\n"), strings.Join(all.lines, "\n"); err != nil || got != want {
			t.Errorf("%s\nbecomes, %v,\n%s", want, err, got)
		}
		if form == typeStream3 {
			short, err := StreamWithoutActive(payload[:len(payload)-footerLen])
			if want := all.write(typeStream2); err != nil || !bytes.Equal(short, want[:len(want)-footerLen]) {
				t.Errorf("%s\nin the form of Redis 7.0, %v, is\n%x, want\n%x", strings.Join(all.lines, "\n"), err, short, want)
			}
		}
	})
}
