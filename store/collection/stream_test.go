package collection

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

// A streamModel is what a stream should be.
type streamModel struct {
	ids        []ID
	values     map[ID]string
	last       ID
	maxDeleted ID
	added      uint64
	groups     map[string]*groupModel
}

type groupModel struct {
	last      ID
	consumers map[string]timesModel
	pending   map[ID]Pending
	released  []ID        // of these, in the order of their release
	aside     map[ID]bool // of these, what is not in the order of delivery
	ordered   bool        // there is such an order
}

// A timesModel says when a consumer was seen, and active.
type timesModel struct{ seen, active int64 }

// inOrder returns what is pending in the order of delivery, up to a time. What was released comes first.
func (g *groupModel) inOrder(until int64) (ids []ID) {
	place := func(id ID) int64 {
		if i := slices.Index(g.released, id); i >= 0 {
			return int64(i) - math.MaxInt32
		}
		return g.pending[id].Time
	}
	for _, id := range sortedIDs(g.pending) {
		if !g.aside[id] && place(id) <= until {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b ID) int { return cmp.Compare(place(a), place(b)) })
	return ids
}

// forget is for what is not pending any more, or is about to be delivered again.
func (g *groupModel) forget(id ID) {
	delete(g.pending, id)
	delete(g.aside, id)
	g.released = slices.DeleteFunc(g.released, func(other ID) bool { return other == id })
}

func (m *streamModel) String() string {
	var b strings.Builder
	first := ID{}
	if len(m.ids) > 0 {
		first = m.ids[0]
	}
	fmt.Fprintf(&b, "last %v first %v deleted %v added %d\n", m.last, first, m.maxDeleted, m.added)
	for _, id := range m.ids {
		fmt.Fprintf(&b, "%v %s\n", id, m.values[id])
	}
	for _, name := range sortedKeys(m.groups) {
		g := m.groups[name]
		fmt.Fprintf(&b, "group %s last %v\n", name, g.last)
		for _, id := range sortedIDs(g.pending) {
			p := g.pending[id]
			fmt.Fprintf(&b, " %v %d %d %s\n", p.ID, p.Time, p.Count, p.Consumer)
		}
		if ids := sortedIDs(g.pending); len(ids) > 0 {
			fmt.Fprintf(&b, " to %v\n", ids[len(ids)-1])
		}
		fmt.Fprintf(&b, " released %v\n", g.released)
		for _, c := range sortedKeys(g.consumers) {
			fmt.Fprintf(&b, " consumer %s %+v\n", c, g.consumers[c])
			for _, id := range sortedIDs(g.pending) {
				if string(g.pending[id].Consumer) == c {
					fmt.Fprintf(&b, "  %v\n", id)
				}
			}
		}
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sortedIDs(m map[ID]Pending) (ids []ID) {
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, ID.Compare)
	return ids
}

// shown is what String of a model would be.
func shown(t *testing.T, s *Stream) string {
	t.Helper()
	var b strings.Builder
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&b, "last %v first %v deleted %v added %d\n", s.Last, s.First, s.MaxDeleted, s.Added)
	n := int64(0)
	check(s.Range(ID{}, MaxID, false, func(id ID, f Fields) bool {
		fmt.Fprintf(&b, "%v %s\n", id, joined(t, f))
		n++
		return true
	}))
	if n != s.Len() {
		t.Fatalf("%d entries, %d are said to be", n, s.Len())
	}
	groups, err := s.AllGroups()
	check(err)
	if len(groups) != int(s.Groups) {
		t.Fatalf("%d groups, %d are said to be", len(groups), s.Groups)
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "group %s last %v\n", g.Name(), g.Last)
		n := int64(0)
		check(g.EachPending(ID{}, MaxID, func(p *Pending) bool {
			fmt.Fprintf(&b, " %v %d %d %s\n", p.ID, p.Delivered(), p.Count, p.Owner())
			n++
			return true
		}))
		consumers, err := g.AllConsumers()
		check(err)
		if n > 0 {
			last, err := g.LastPending()
			check(err)
			fmt.Fprintf(&b, " to %v\n", last)
		}
		released, others, err := g.Released()
		check(err)
		if n != g.Pending || len(consumers) != int(others) {
			t.Fatalf("%d pending and %d consumers, %d and %d are said to be", n, len(consumers), g.Pending, others)
		}
		ids := []ID{}
		check(g.EachReleased(func(p *Pending) bool { ids = append(ids, p.ID); return true }))
		if len(ids) != int(released) {
			t.Fatalf("%d were released, %d are said to be", len(ids), released)
		}
		fmt.Fprintf(&b, " released %v\n", ids)
		for _, c := range consumers {
			fmt.Fprintf(&b, " consumer %s %+v\n", c.Name, timesModel{c.Seen, c.Active})
			check(g.EachPendingOf(c.Name, ID{}, MaxID, func(p *Pending) bool {
				fmt.Fprintf(&b, "  %v\n", p.ID)
				c.Pending--
				return true
			}))
			if c.Pending != 0 {
				t.Fatalf("%d more pending with %s than there are", c.Pending, c.Name)
			}
		}
	}
	return b.String()
}

func joined(t *testing.T, f Fields) string {
	t.Helper()
	var words []string
	if err := f.Each(func(b []byte) { words = append(words, string(b)) }); err != nil {
		t.Fatal(err)
	}
	return strings.Join(words, " ")
}

// Whatever is done to a stream, in units of any size, it is what a model says, within the unit
// and behind it, after the store was opened again, and after a dump and a restore.
func TestStreamIsItsModel(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewMem()
	s := open(t, fs)
	m := &streamModel{values: map[ID]string{}, groups: map[string]*groupModel{}}
	compare := func(u *store.Unit, key string) {
		t.Helper()
		var st Stream
		if err := st.OpenWhole(u, []byte(key)); err != nil {
			t.Fatal(err)
		}
		if got, want := shown(t, &st), m.String(); got != want {
			t.Fatalf("%s is\n%swant\n%s", key, got, want)
		}
	}
	for range rounds(600) {
		in(t, s, func(u *store.Unit) {
			for range 1 + rnd.IntN(12) {
				changeStream(t, u, rnd, m)
			}
			compare(u, "s")
		}, "s")
		in(t, s, func(u *store.Unit) { compare(u, "s") })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, fs)
	in(t, s, func(u *store.Unit) { compare(u, "s") })
	var payload []byte
	size := int64(0)
	in(t, s, func(u *store.Unit) {
		v, err := u.GetWhole([]byte("s"))
		if err == nil {
			payload, err = AppendDumpAs(nil, u, []byte("s"), v, rdb.ReleasedVersion) // an older one has not all
		}
		if err != nil {
			t.Fatal(err)
		}
		size = v.Size
	})
	in(t, s, func(u *store.Unit) {
		var st Stream
		v, err := u.Get([]byte("copy"))
		st.Over(u, []byte("copy"), v)
		value, decodeErr := rdb.Decode(payload, 1<<24)
		if err := errors.Join(err, decodeErr, st.Restore(&value, func([]byte) error { return nil })); err != nil {
			t.Fatal(err)
		}
		compare(u, "copy")
		if st.v.Size != size {
			t.Errorf("%d bytes, restored %d", size, st.v.Size)
		}
	}, "copy")
	in(t, s, func(u *store.Unit) { compare(u, "copy") })
	if load, err := s.RangeLoad(ring.Whole); err != nil || load.Bytes != 2*size+int64(len("s"+"copy")) {
		t.Errorf("%+v, %v, want twice %d bytes", load, err, size)
	}
}

// changeStream does one thing to a stream and to its model.
func changeStream(t *testing.T, u *store.Unit, rnd *rand.Rand, m *streamModel) {
	t.Helper()
	var s Stream
	err := s.Open(u, []byte("s"))
	if err == nil {
		err = s.Create()
	}
	if err != nil {
		t.Fatal(err)
	}
	some := func() ID {
		if len(m.ids) == 0 || rnd.IntN(10) == 0 {
			return ID{uint64(rnd.IntN(100)), 0}
		}
		switch rnd.IntN(6) {
		case 0:
			return m.ids[0]
		case 1:
			return m.ids[len(m.ids)-1]
		}
		return m.ids[rnd.IntN(len(m.ids))]
	}
	switch rnd.IntN(15) {
	case 0, 1, 2, 3, 4:
		id, _ := m.last.Next()
		if rnd.IntN(2) == 0 {
			id = ID{m.last.Ms + 1 + uint64(rnd.IntN(3)), uint64(rnd.IntN(2))}
		}
		value := strings.Repeat("x", rnd.IntN(30))
		m.ids, m.last = append(m.ids, id), id
		m.values[id] = "f " + value
		m.added++
		err = s.Add(id, [][]byte{[]byte("f"), []byte(value)})
	case 5:
		ids := []ID{some(), some(), some()}
		n := int64(0)
		for _, id := range ids {
			if i := slices.Index(m.ids, id); i >= 0 {
				m.ids = slices.Delete(m.ids, i, i+1)
				n++
				if id.Compare(m.maxDeleted) > 0 {
					m.maxDeleted = id
				}
			}
		}
		var got int64
		if got, err = s.Delete(ids); got != n {
			t.Fatalf("%d are gone, want %d", got, n)
		}
	case 6:
		trim := Trim{MaxLen: int64(rnd.IntN(60)), Limit: int64(rnd.IntN(2) * rnd.IntN(60)), Approx: rnd.IntN(4) == 0}
		n := max(0, len(m.ids)-int(trim.MaxLen))
		if rnd.IntN(2) == 0 {
			trim.MaxLen, trim.MinID = -1, some()
			n = 0
			for n < len(m.ids) && m.ids[n].Compare(trim.MinID) < 0 {
				n++
			}
		}
		if trim.Limit > 0 {
			n = min(n, int(trim.Limit))
		}
		if trim.Approx && n < len(m.ids) {
			first := TrimNode - (int(m.added)-len(m.ids))%TrimNode
			if n < first {
				n = 0
			} else {
				n -= (n - first) % TrimNode
			}
		}
		m.ids = slices.Clone(m.ids[n:])
		var got int64
		if got, err = s.Trim(trim); got != int64(n) {
			t.Fatalf("%+v removes %d, want %d", trim, got, n)
		}
	case 7:
		m.last.Ms += uint64(rnd.IntN(3))
		if n := len(m.ids); n > 0 && rnd.IntN(2) == 0 {
			m.last = m.ids[n-1]
		}
		s.SetLast(m.last, -1, ID{})
	default:
		err = changeGroup(t, &s, rnd, m, some)
	}
	if err != nil {
		t.Fatal(err)
	}
	last := ID{}
	if n := len(m.ids); n > 0 {
		last = m.ids[n-1]
	}
	if got, err := s.LastEntry(); err != nil || got != last {
		t.Fatalf("last entry %v, %v, want %v", got, err, last)
	}
}

func changeGroup(t *testing.T, s *Stream, rnd *rand.Rand, m *streamModel, some func() ID) error {
	t.Helper()
	name := fmt.Sprint("g", rnd.IntN(2))
	consumer := fmt.Sprint("c", rnd.IntN(3))
	now := aMoment(rnd)
	g, err := s.Group([]byte(name))
	gm := m.groups[name]
	if err != nil || (g == nil) != (gm == nil) {
		t.Fatalf("%v %v, want %v", err, g, gm)
	}
	if g == nil {
		m.groups[name] = &groupModel{consumers: map[string]timesModel{}, pending: map[ID]Pending{}, aside: map[ID]bool{}}
		s.CreateGroup([]byte(name), ID{}, 0).Save()
		return nil
	}
	switch what := rnd.IntN(24); {
	case what >= 20:
		return changeOrder(t, s, rnd, gm, g, some())
	case what == 0:
		delete(m.groups, name)
		g.Destroy()
		return nil
	case what == 1:
		c, err := g.Consumer([]byte(consumer))
		if err != nil || c == nil {
			return err
		}
		delete(gm.consumers, consumer)
		for id, p := range gm.pending {
			if string(p.Consumer) == consumer {
				gm.forget(id)
			}
		}
		err = g.RemoveConsumer(c)
		g.Save()
		return err
	case what < 9:
		id := some()
		p, err := g.Find(id)
		if _, ok := gm.pending[id]; err != nil || ok != (p != nil) {
			t.Fatalf("%v: %v, want %v", id, p, ok)
		}
		if p == nil {
			return err
		}
		gm.forget(id)
		err = g.Remove(p)
		g.Save()
		return err
	}
	times, known := gm.consumers[consumer]
	if !known {
		times.active = NeverActive
	}
	if rnd.IntN(4) == 0 {
		now += int64(rnd.IntN(3 * seenEvery))
		if !known || now >= times.seen+seenEvery || now < times.seen {
			times.seen = now
		}
		gm.consumers[consumer] = times
		err = g.Poll([]byte(consumer), now)
		g.Save()
		return err
	}
	c, err := g.Serve([]byte(consumer), now)
	if err != nil {
		return err
	}
	times.seen = now
	if rnd.IntN(2) == 0 {
		c.Act(now)
		times.active = now
	}
	gm.consumers[consumer] = times
	for range rnd.IntN(4) {
		id := some()
		old, err := g.Find(id)
		if err != nil {
			return err
		}
		p := Pending{ID: id, Time: now, Count: uint64(rnd.IntN(5)), Consumer: c.Name}
		gm.forget(id)
		gm.pending[id] = p
		g.Advance(id)
		gm.last = g.Last
		if err := g.Put(&p, old); err != nil {
			return err
		}
	}
	g.Save()
	return nil
}

// aMoment is later than what stands for the time of what was released.
func aMoment(rnd *rand.Rand) int64 { return 1<<20 + int64(rnd.IntN(1000)) }

// changeOrder does something to the order of delivery of a group, or compares it.
func changeOrder(t *testing.T, s *Stream, rnd *rand.Rand, gm *groupModel, g *Group, id ID) error {
	t.Helper()
	defer g.Save()
	old, err := g.Find(id)
	if err != nil {
		return err
	}
	switch rnd.IntN(8) {
	case 0: // an older version of the program changes the group
		g.due, g.changed = dueOrder{}, true
		gm.ordered, gm.aside = false, map[ID]bool{}
		return nil
	case 1: // or only what is pending
		if old == nil || old.IsReleased() || gm.aside[id] {
			return nil
		}
		p := *old
		p.Time = aMoment(rnd)
		if p.Time >= old.Time { // it never becomes older
			s.unit.SetElement(s.key, &s.v, g.pendingKey(id), p.append(nil))
			gm.pending[id] = p
		}
		return nil
	case 2, 3, 4:
		count := uint64(rnd.IntN(5))
		gm.forget(id)
		gm.released = append(gm.released, id)
		gm.pending[id] = Pending{ID: id, Count: count}
		return g.Release(id, old, count)
	}
	done, err := g.KeepDue()
	if err != nil || !done {
		return errors.Join(errStream, err)
	}
	gm.ordered = true
	if err := g.EachDue(math.MaxInt64, func(*Pending) bool { return true }); err != nil { // corrects what is wrong
		return err
	}
	until := aMoment(rnd)
	if rnd.IntN(4) == 0 {
		until = math.MaxInt64
	}
	want := gm.inOrder(until)
	var got []ID
	most := rnd.IntN(10)
	err = g.EachDue(until, func(p *Pending) bool {
		got = append(got, p.ID)
		if rnd.IntN(4) == 0 {
			g.SetAside(p)
			gm.aside[p.ID] = true
		}
		return len(got) != most
	})
	if most > 0 && len(want) > most {
		want = want[:most]
	}
	if !slices.Equal(got, want) {
		t.Fatalf("up to %d there are %v in the order of delivery, want %v", until, got, want)
	}
	if err == nil {
		want := gm.inOrder(math.MaxInt64)
		var got []ID
		if err = g.PeekDue(func(_ int64, id ID) bool { got = append(got, id); return true }); !slices.Equal(got, want) {
			t.Fatalf("the order of delivery is %v, want %v", got, want)
		}
	}
	return err
}
