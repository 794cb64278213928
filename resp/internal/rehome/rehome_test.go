package rehome

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// policiesWith returns policies by which data 3 has a kept policy.
func policiesWith(t testing.TB, kept database.Kept, position database.Position) *database.Policies {
	values, err := (*agreed.Values)(nil).With([]agreed.Change{{Name: database.PolicyName(3), Body: kept.Body()}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return (*database.Policies)(nil).Agreed(values, nil, position)
}

// TestOrdersAreAdmittedUnderTheirStepAlone has orders of all kinds for keys before, within and behind a step.
func TestOrdersAreAdmittedUnderTheirStepAlone(t *testing.T) {
	position := func(stored []byte) uint64 { return uint64(database.Name(stored)[0]) }
	kept := database.Kept{}.Begin(database.Policy{}, database.Policy{Together: true, Spot: 2})
	kept = kept.Next(func(m *database.Move) { m.Cursor, m.Until, m.High = 'b', 'c', 'c' })
	policies := policiesWith(t, kept, position)
	p := policies.Of(3)
	for _, test := range []struct {
		key  string
		old  bool
		want [3]bool // Fetch, Place, Drop
	}{
		{"a", true, [3]bool{false, false, true}},
		{"a", false, [3]bool{}},
		{"b", true, [3]bool{true, false, false}},
		{"b", false, [3]bool{false, true, false}},
		{"c", true, [3]bool{}},
		{"c", false, [3]bool{false, false, true}},
	} {
		head := p.Head()
		if test.old {
			head = p.Old().Head()
		}
		stored := database.AppendKey(nil, head, []byte(test.key))
		for v, want := range test.want {
			if got := Admit(policies, 3, p.Step, Verb(v), stored); got != want {
				t.Errorf("order %d for %s at its old place %t: %t", v, test.key, test.old, got)
			}
			if Admit(policies, 3, p.Step-1, Verb(v), stored) || Admit(policies, 3, p.Step+1, Verb(v), stored) || Admit(policies, 4, p.Step, Verb(v), stored) {
				t.Errorf("order %d for %s is admitted under another step or data", v, test.key)
			}
		}
	}
}

// TestIndexHasAllKeysBelowItsBound compares an index with all keys that were there or written.
func TestIndexHasAllKeysBelowItsBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const from = 1000
	x := newIndex(9, from)
	all := map[string]uint64{}
	for i := range 3*indexKeys + 100 {
		key, at := fmt.Sprint("k", i), uint64(rnd.IntN(1<<20))
		if all[key] = at; i%4 == 0 {
			x.note([]byte(key), at)
		} else {
			x.add(keyAt{at, 10, key})
		}
	}
	x.done()
	if len(x.filled) > 2*indexKeys || len(x.written) > indexKeys || x.has(from, x.bound+1) || x.has(from-1, from) {
		t.Errorf("%d and %d keys, bound %d", len(x.filled), len(x.written), x.bound)
	}
	var got []string
	for at := uint64(from); at < x.bound; {
		keys, up := x.next(at, x.bound, 500)
		if up <= at || !slices.IsSortedFunc(keys, func(a, b keyAt) int { return int(int64(a.at) - int64(b.at)) }) {
			t.Fatalf("from %d up to %d", at, up)
		}
		for _, k := range keys {
			if k.at < at || k.at >= up || all[k.key] != k.at {
				t.Fatalf("%+v between %d and %d", k, at, up)
			}
			got = append(got, k.key)
		}
		at = up
	}
	want := 0
	for _, at := range all {
		if at >= from && at < x.bound {
			want++
		}
	}
	if len(got) != want || want < indexKeys/2 {
		t.Errorf("%d keys, want %d", len(got), want)
	}
}

// TestStepsEndBehindWholeTokens cuts keys, of which many have one token.
func TestStepsEndBehindWholeTokens(t *testing.T) {
	var c cut
	for i := range uint64(2 * stepKeys) {
		if c.endsBefore(5<<20|i, true, 1) {
			t.Fatalf("a token is cut at key %d", i)
		}
	}
	if !c.endsBefore(6<<20, true, 1) {
		t.Error("the step goes on behind the token")
	}
	c = cut{}
	n := 0
	for ; !c.endsBefore(5<<20|uint64(n), true, 1); n++ {
	}
	if n < groupKeys || n > groupKeys+1 {
		t.Errorf("a token is cut at key %d", n)
	}
	if c.endsBefore(c.last, true, 1) {
		t.Error("a position is cut")
	}
}

// TestScanStopsBetweenLayouts has a scan end a call where the new layout begins: the next call begins it, too.
func TestScanStopsBetweenLayouts(t *testing.T) {
	for flips := range uint64(4) {
		for _, together := range []bool{false, true} {
			p := database.Policy{Number: 3, Together: together, Flips: flips + 1, Moving: true}
			c := Course{Token: func(stored []byte) ring.Token {
				if database.HeadOf(stored).Together() {
					return 1 << 31
				}
				return 0
			}}
			c.Start(p, 0)
			c.Visited(0, true)
			c.Follow(p)
			now := c
			if now.Layout.Head != p.Head() {
				t.Fatalf("flips %d: the scan is in the layout of %v", flips, now.Layout.Head)
			}
			c.Start(p, now.Cursor())
			if c.Layout == now.Layout && c.At > now.At {
				t.Errorf("flips %d, together %t: the scan goes on at %x instead of %x", flips, together, c.At, now.At)
			}
		}
	}
}

// TestScanSeesEachKeyThatIsThereThroughout moves keys in random steps while a scan goes on: from before the move to behind
// its end, and back again.
func TestScanSeesEachKeyThatIsThereThroughout(t *testing.T) {
	const token = ring.Token(1 << 31)
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		spread := func(key []byte) store.Cursor {
			return store.Cursor(rand.New(rand.NewPCG(uint64(key[0]), uint64(key[1]))).Uint64N(database.End))
		}
		position := func(stored []byte) uint64 { return uint64(spread(database.Name(stored))) }
		// at is where a stored key lies.
		at := func(stored []byte) store.Cursor {
			if database.HeadOf(stored).Together() {
				return store.CursorAt(token) + spread(database.Name(stored))>>32
			}
			return spread(database.Name(stored))
		}
		to := database.Policy{Number: 3, Together: rnd.IntN(2) == 0}
		from := database.Policy{Number: 3, Together: !to.Together}
		kept := database.Kept{Together: from.Together, Flips: uint64(rnd.IntN(3)), Step: 1}
		before := kept.Flips > 0
		began := false
		changes := rnd.IntN(numberModulo)
		now := func() *database.Policies {
			if !before && !began {
				return (*database.Policies)(nil).With(from)
			}
			return policiesWith(t, kept, position)
		}
		course := Course{Token: func(stored []byte) ring.Token {
			if database.HeadOf(stored).Together() {
				return token
			}
			return 0
		}}
		course.Start(now().Of(3), 0)
		seen := map[string]bool{}
		for hops := 0; ; hops++ {
			if hops > 1000 {
				t.Fatal("the scan does not end")
			}
			switch what := rnd.IntN(6); {
			case what == 0 && !began:
				began = true
				kept = kept.Begin(from, to)
			case what == 0 && kept.Move == nil && changes > 0:
				changes--
				from, to = to, from
				kept = kept.Begin(from, to)
			case what <= 2 && kept.Move != nil:
				kept = kept.Next(func(m *database.Move) {
					m.Cursor = min(m.Cursor+rnd.Uint64N(database.End/4), database.End)
					m.Low, m.Until, m.High = m.Cursor, m.Cursor, m.Cursor
				})
				if kept.Move.Cursor == database.End && rnd.IntN(2) == 0 {
					kept.Move = nil
				}
			}
			policies := now()
			course.Follow(policies.Of(3))
			if course.Ended() {
				break
			}
			var places []store.Cursor
			names := map[store.Cursor]string{}
			for i := range 40 {
				name := []byte{byte(i), byte(seed)}
				stored := database.AppendKey(nil, policies.HeadFor(3, name), name)
				if c := at(stored); c >= course.At && course.Span(ring.Whole).Contains(c.Token()) && course.Layout.Lists(policies, stored) {
					places = append(places, c)
					names[c] = string(name)
				}
			}
			slices.Sort(places)
			n := min(1+rnd.IntN(6), len(places))
			for _, c := range places[:n] {
				seen[names[c]] = true
			}
			if n == len(places) {
				course.Visited(0, true)
			} else {
				course.Visited(places[n], false)
			}
			course.Follow(now().Of(3))
			if cursor := course.Cursor(); cursor == 0 {
				break
			} else if cursor >= 1<<53 {
				t.Fatalf("cursor %d", cursor)
			} else if course.MayPause() && rnd.IntN(2) == 0 { // another call, perhaps of another node
				course.Start(now().Of(3), cursor)
			}
		}
		if len(seen) != 40 {
			t.Fatalf("seed %d: the scan has seen %d keys of 40, to together %t", seed, len(seen), to.Together)
		}
	}
}

// A modelCluster has the keys of one database, which a test moves.
type modelCluster struct {
	t       *testing.T
	kept    database.Kept
	version uint64
	drained uint64
	// old and new are values at both places, by position.
	old, new map[uint64]int
	fails    func(what string) bool
}

var errModel = errors.New("model")

func (m *modelCluster) failed(what string) error {
	if m.fails(what) {
		return fmt.Errorf("%w: %s", errModel, what)
	}
	return nil
}

func (m *modelCluster) View() (database.Kept, uint64, bool) { return m.kept, m.version, true }

func (m *modelCluster) Agree(_ context.Context, next database.Kept, version uint64) error {
	if version != m.version {
		return agreed.ErrChanged
	}
	if err := m.failed("agree"); err != nil {
		return err
	}
	if m.kept.Move != nil && next.Move != nil && next.Move.Cursor > m.kept.Move.Cursor && m.kept.Step != next.Step {
		m.t.Error("the cursor passes with another step")
	}
	m.kept, m.version = next, m.version+1
	return m.failed("agree's reply")
}

func (m *modelCluster) Drained(step uint64) error {
	if m.kept.Step != step {
		return errModel
	}
	if err := m.failed("drained"); err != nil {
		return err
	}
	m.drained = step
	return nil
}

func (m *modelCluster) Plan(uint64) (uint64, error) {
	return min(m.kept.Move.Cursor+database.End/8, database.End), m.failed("plan")
}

func at(p uint64) []byte { return []byte(fmt.Sprint(p)) }

func (m *modelCluster) Keys(step uint64) (keys [][]byte, err error) {
	if m.drained != step {
		m.t.Error("keys are listed before all owners have confirmed the step")
	}
	for p := range m.old {
		if p >= m.kept.Move.Cursor && p < m.kept.Move.Until {
			keys = append(keys, at(p))
		}
	}
	return keys, m.failed("keys")
}

func (m *modelCluster) Garbage(uint64) (keys [][]byte, err error) {
	for p := range m.old {
		if p < m.kept.Move.Cursor {
			keys = append(keys, at(p))
		}
	}
	for p := range m.new {
		if p >= m.kept.Move.Cursor {
			keys = append(keys, at(p))
		}
	}
	for _, key := range keys {
		var p uint64
		_, _ = fmt.Sscan(string(key), &p)
		if p < m.kept.Move.Low || p >= m.kept.Move.High {
			m.t.Errorf("%d lies at two places outside of %d to %d", p, m.kept.Move.Low, m.kept.Move.High)
		}
	}
	return keys, m.failed("garbage")
}

func (m *modelCluster) each(step uint64, what string, keys [][]byte, do func(p uint64)) error {
	for _, key := range keys {
		if err := m.failed(what); err != nil {
			return err
		}
		if m.kept.Step != step {
			return errModel
		}
		var p uint64
		_, _ = fmt.Sscan(string(key), &p)
		do(p)
	}
	return nil
}

func (m *modelCluster) Copy(step uint64, keys [][]byte) (int64, error) {
	if m.drained != step {
		m.t.Error("keys are copied before all owners have confirmed the step")
	}
	return 0, m.each(step, "copy", keys, func(p uint64) { m.new[p] = m.old[p] })
}

func (m *modelCluster) Drop(step uint64, keys [][]byte) error {
	return m.each(step, "drop", keys, func(p uint64) {
		if p < m.kept.Move.Cursor {
			delete(m.old, p)
		} else {
			delete(m.new, p)
		}
	})
}

func (m *modelCluster) Rate() int64 { return 0 }

// TestMoveIsWholeWhateverFails has calls of a driver fail at random, and clients write between attempts.
func TestMoveIsWholeWhateverFails(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		m := &modelCluster{t: t, kept: database.Kept{}.Begin(database.Policy{}, database.Policy{Together: true}), version: 1, old: map[uint64]int{}, new: map[uint64]int{}}
		m.fails = func(string) bool { return rnd.IntN(40) == 0 }
		want := map[uint64]int{}
		var positions []uint64
		for i := range 60 {
			p := rnd.Uint64N(database.End)
			positions = append(positions, p)
			want[p], m.old[p] = i, i
		}
		for tries := 0; m.kept.Move != nil; tries++ {
			if tries > 1000 {
				t.Fatal("the move does not end")
			}
			_ = Drive(t.Context(), m)
			for range 3 { // clients write and delete where keys are served
				p := positions[rnd.IntN(len(positions))]
				place := m.new
				if m.kept.Move != nil && p >= m.kept.Move.Cursor {
					if place = m.old; p < m.kept.Move.Until {
						continue // they wait
					}
				}
				if rnd.IntN(2) == 0 {
					delete(place, p)
					delete(want, p)
				} else {
					want[p] = rnd.Int()
					place[p] = want[p]
				}
			}
		}
		if len(m.old) > 0 || len(m.new) != len(want) {
			t.Fatalf("seed %d: %d keys at old places, %d at new ones, want %d", seed, len(m.old), len(m.new), len(want))
		}
		for p, v := range want {
			if m.new[p] != v {
				t.Fatalf("seed %d: the key at %d has another value", seed, p)
			}
		}
	}
}
