package feed

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A sitting is a standing of n1 with n0, and what it is sent.
type sitting struct {
	*backupState
	t    *testing.T
	next uint64
}

func newSitting(t *testing.T, out rules.Set) *sitting {
	s := &sitting{backupState: &backupState{node: "n0", incarnation: 1, rules: out}, t: t}
	if _, err := s.beginSession(1); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sitting) send(kind frame.Kind, n, high uint64) error {
	s.next++
	return s.acceptFrame(&feedFrame{kind: kind, seq: s.next, change: n, highWater: high, body: []byte{byte(n)}})
}

func TestMemberRefusesGaps(t *testing.T) {
	for _, f := range []feedFrame{
		{kind: kindBatch, seq: 3, change: 6},               // one is missing
		{kind: kindBatch, seq: 1, change: 6},               // once more
		{kind: kindBatch, seq: 2, change: 4},               // an older change
		{kind: kindBatch, seq: 2, change: 6, highWater: 7}, // from nowhere
	} {
		s := newSitting(t, 0)
		if err := s.send(kindBatch, 5, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.acceptFrame(&f); !errors.Is(err, ErrOutOfOrder) {
			t.Errorf("%+v: %v", f, err)
		}
		if s.lastChange != 5 || s.lastFrame != 1 {
			t.Errorf("%+v was taken in", f)
		}
		if err := s.send(kindBatch, 6, 0); err == nil {
			t.Error("the session goes on")
		}
		if _, err := s.beginSession(1); err == nil {
			t.Error("the session goes on after a greeting")
		}
	}
	s := newSitting(t, rules.Order)
	if err := s.acceptFrame(&feedFrame{kind: kindBatch, seq: 3, change: 6}); err != nil {
		t.Error("the rule was left out")
	}
}

func TestSessionSpansConnections(t *testing.T) {
	s := newSitting(t, 0)
	for n := range uint64(4) {
		if err := s.send(kindBatch, n+1, n/2); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := s.beginSession(1); err != nil || have != 4 {
		t.Errorf("it has %d, %v", have, err)
	}
	if have, err := s.beginSession(2); err != nil || have != 0 || len(s.retained) != 0 {
		t.Errorf("a new one has %d, %v", have, err)
	}
	if _, err := s.beginSession(1); !errors.Is(err, ErrSession) {
		t.Error("an old one goes on")
	}
}

func TestFramesAboveTheHighWaterMarkAreKept(t *testing.T) {
	kept := func(out rules.Set) (all []uint64) {
		s := newSitting(t, out)
		for n := range uint64(9) {
			if err := s.send(kindBatch, n+1, n/2); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.send(kindHeartbeat, 9, 6); err != nil {
			t.Fatal(err)
		}
		for _, c := range s.retainedAfter(7) {
			all = append(all, c.number)
		}
		if n := len(s.retainedAfter(0)); out == 0 && n != 3 {
			t.Errorf("%d are kept", n)
		}
		return all
	}
	if got := kept(0); !slices.Equal(got, []uint64{8, 9}) {
		t.Errorf("kept are %v", got)
	}
	if got := kept(rules.Keep); len(got) != 0 {
		t.Error("the rule was left out")
	}
}

func TestMemberJudgesByItsTable(t *testing.T) {
	st := officeState(t, []string{"n1"}, []string{"n2"})
	half := ring.Token(1 << 31)
	learning := then(t, st, &table.AddLearner{Node: "n1", Incarnation: 1, Rows: []table.Ref{refAt(t, st, half)}})
	moved := then(t, st, &table.CutOver{To: "n1", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
	newer := refAt(t, st, half)
	newer.Version++
	for _, c := range []struct {
		name string
		st   *table.State
		self string
		row  joinRow
		want verdict
	}{
		{"a backup", st, "n1", joinRow{Ref: refAt(t, st, 0)}, accepted},
		{"nobody there", st, "n1", joinRow{Ref: refAt(t, st, half)}, refused},
		{"the primary knows more", st, "n1", joinRow{Ref: newer}, accepted},
		{"a learner", learning, "n1", joinRow{refAt(t, learning, half), true}, accepted},
		{"an older row", learning, "n3", joinRow{Ref: refAt(t, st, half)}, refused},
		{"another primary", moved, "n2", joinRow{Ref: refAt(t, st, 0)}, refused},
		{"it is the primary, as far as it knows", st, "n0", joinRow{Ref: refAt(t, moved, 0)}, retryLater},
	} {
		s := &backupState{node: "n0", incarnation: 1}
		if got := s.checkJoin(c.st, c.self, &c.row); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestRowEndsWithItsTerm(t *testing.T) {
	st := officeState(t, []string{"n1"}, []string{"n1"})
	half := ring.Token(1 << 31)
	for _, c := range []struct {
		name string
		next table.Command
		over bool
	}{
		{"another primary", &table.CutOver{To: "n1", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}}, true},
		{"other bounds", &table.Split{Cuts: []table.Cut{{Row: refAt(t, st, 0), At: []ring.Token{77}}}}, true},
		{"released, which the primary may not know", &table.Release{Node: "n1", Rows: []table.Ref{refAt(t, st, 0)}}, false},
		{"another row", &table.CutOver{To: "n1", Incarnation: 1, Rows: []table.Ref{refAt(t, st, half)}}, false},
	} {
		next := then(t, st, c.next)
		for _, out := range []rules.Set{0, rules.Epoch} {
			s := newSitting(t, out)
			s.join([]joinRow{{Ref: refAt(t, st, 0)}}, true)
			s.applyTable(st)
			if len(s.ranges()) != 1 {
				t.Fatalf("%s: it is over before", c.name)
			}
			s.applyTable(next)
			if over := len(s.ranges()) == 0; over != (c.over && out == 0) {
				t.Errorf("%s, rules %b: over: %v", c.name, out, over)
			}
			// What it had of it is known all the same.
			if !s.hasFollowed(ring.Range{Start: 0, End: half}, refAt(t, st, 0).Epoch+1) {
				t.Errorf("%s: it is forgotten", c.name)
			}
		}
	}
}

func TestFencedBackupRejectsFrames(t *testing.T) {
	s := newSitting(t, 0)
	if err := s.send(kindBatch, 5, 1); err != nil {
		t.Fatal(err)
	}
	if p := s.fence(); !p.Known || p.Last != 5 || p.High != 1 || !p.Fenced {
		t.Errorf("%+v", p)
	}
	if err := s.send(kindBatch, 6, 1); err == nil || s.lastChange != 5 {
		t.Error("it goes on")
	}
	s = newSitting(t, rules.Fence)
	s.fence()
	if err := s.send(kindBatch, 6, 1); err != nil {
		t.Error("the rule was left out")
	}
	if p := (&backupState{node: "n0", incarnation: 1}).fence(); p.Known || !p.Fenced {
		t.Errorf("of whom it never heard: %+v", p)
	}
}

// What was only brought, and not joined, is not known: it may be less than others have.
func TestFramesBeforeJoiningDoNotCount(t *testing.T) {
	st := officeState(t, []string{"n1"}, []string{"n1"})
	first := refAt(t, st, 0)
	s := newSitting(t, 0)
	s.join([]joinRow{{Ref: first}}, false)
	if s.hasFollowed(first.Range, first.Epoch+1) || len(s.ranges()) != 1 {
		t.Error("it is known, or not taken in")
	}
	s.join([]joinRow{{Ref: first}}, true)
	if !s.hasFollowed(first.Range, first.Epoch+1) || s.hasFollowed(first.Range, first.Epoch+2) || s.hasFollowed(ring.Whole, first.Epoch+1) {
		t.Error("not so after it was joined")
	}
	s.join([]joinRow{{Ref: refAt(t, st, 1<<31)}}, true)
	if !s.hasFollowed(ring.Whole, first.Epoch+1) {
		t.Error("both rows make the whole")
	}
	part := ring.Range{Start: 5, End: 6}
	if s.endTerms(part, first.Epoch) || len(s.ranges()) != 2 {
		t.Error("a question of an earlier term ends it")
	}
	if !s.endTerms(part, first.Epoch+1) || len(s.ranges()) != 1 {
		t.Error("it goes on")
	}
	if all := (&backupState{rules: rules.Joined}).ranges(); !slices.Equal(all, []ring.Range{ring.Whole}) {
		t.Error("the rule was left out")
	}
	if !s.leave([]ring.Range{first.Range}) || s.hasFollowed(first.Range, first.Epoch+1) {
		t.Error("it is known though it is learned anew")
	}
}

func TestRowsOfARange(t *testing.T) {
	st := officeState(t, nil, nil, nil, nil)
	for _, c := range []struct {
		r    ring.Range
		rows int
	}{
		{ring.Range{Start: 0, End: 1 << 30}, 1},
		{ring.Range{Start: 5, End: 6}, 1},
		{ring.Range{Start: 5, End: 1<<30 + 1}, 2},
		{ring.Whole, 4},
		{ring.Range{Start: 5, End: 5}, 5}, // the row that it begins in lies at both ends
		{ring.Range{Start: 3 << 30, End: 1}, 2},
		{ring.Range{Start: 0xffffffff, End: 0}, 1},
	} {
		n := 0
		for row := range spans.Rows(st, c.r) {
			if !spans.Overlap(row.Range, c.r) {
				t.Errorf("%v has no part in %v", row.Range, c.r)
			}
			n++
		}
		if n != c.rows {
			t.Errorf("%d rows have a part in %v, want %d", n, c.r, c.rows)
		}
	}
}

func TestSpansTouchAsEachDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var cuts []ring.Token
		for range 2 + rnd.IntN(6) {
			cuts = append(cuts, ring.Token(rnd.IntN(64))<<26)
		}
		slices.Sort(cuts)
		if cuts = slices.Compact(cuts); len(cuts) < 2 {
			continue
		}
		var rs []ring.Range
		for i, c := range cuts {
			if rnd.IntN(2) == 0 {
				rs = append(rs, ring.Range{Start: c, End: cuts[(i+1)%len(cuts)]})
			}
		}
		rnd.Shuffle(len(rs), func(i, j int) { rs[i], rs[j] = rs[j], rs[i] })
		r := ring.Range{Start: ring.Token(rnd.IntN(64)) << 26, End: ring.Token(rnd.IntN(64)) << 26}
		want := slices.ContainsFunc(rs, func(o ring.Range) bool { return spans.Overlap(o, r) })
		if got := spans.New(rs).Overlap(r); got != want {
			t.Fatalf("%v touch %v: %v", rs, r, got)
		}
	}
}
