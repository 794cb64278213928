package feed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// officeState is a table in which n0 serves rows in equal parts of the circle, with the
// given backups each.
func officeState(t *testing.T, backups ...[]string) *table.State {
	t.Helper()
	st := new(table.State)
	found := &table.Found{Cluster: table.Cluster{Name: "test", Generation: 1, Strategy: table.Settings{Name: "buckets", Hash: "native"}}, Node: "n0", Incarnation: 1, Weight: 1}
	part := uint64(1<<32) / uint64(len(backups))
	for i := range backups {
		found.Rows = append(found.Rows, ring.Row{Range: ring.Range{
			Start: ring.Token(uint64(i) * part), End: ring.Token(uint64((i+1)%len(backups)) * part),
		}, Epoch: 1, Primary: "n0"})
	}
	st = then(t, st, found)
	for _, id := range []string{"n1", "n2", "n3"} {
		st = then(t, st, &table.Register{Node: id, Incarnation: 1, Weight: 1})
	}
	for i := range backups {
		for _, b := range backups[i] {
			row, _ := st.Row(ring.Token(uint64(i) * part))
			st = then(t, st, &table.AddLearner{Node: b, Incarnation: 1, Rows: []table.Ref{row.Ref()}})
			row, _ = st.Row(ring.Token(uint64(i) * part))
			st = then(t, st, &table.Admit{Node: b, Incarnation: 1, Rows: []table.Ref{row.Ref()}})
		}
	}
	return st
}

func then(t *testing.T, st *table.State, c table.Command) *table.State {
	t.Helper()
	next, err := st.Apply(st.Index()+1, c)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func refAt(t *testing.T, st *table.State, at ring.Token) table.Ref {
	t.Helper()
	row, ok := st.Row(at)
	if !ok {
		t.Fatal("no row")
	}
	return row.Ref()
}

// A desk is an office whose frames are kept.
type desk struct {
	*primaryState
	t    *testing.T
	now  time.Time
	sent map[string][]*feedFrame
}

func newDesk(t *testing.T, out rules.Set) *desk {
	d := &desk{t: t, now: time.Unix(1, 0), sent: make(map[string][]*feedFrame)}
	d.primaryState = newPrimaryState("n0", 1, func(l *session, f *feedFrame) { d.sent[l.node] = append(d.sent[l.node], f) })
	d.rules = out
	return d
}

func never(ring.Range) bool { return false }

// by brings the office in line with a state, with all members joined.
func (d *desk) by(st *table.State) *transition {
	u := d.planTransition(st, never)
	d.applyTransition(u, st)
	return u
}

func (d *desk) joinAll() {
	for _, t := range d.terms {
		for _, m := range slices.Clone(t.notJoined) {
			d.markJoined(m, []*rowTerm{t})
		}
	}
}

func (d *desk) write(at ring.Token, n uint64) *quorum {
	q := d.termAt(at).quorum
	d.addChange(q, n, []byte("x"), d.now)
	return q
}

func (d *desk) ack(node string, k uint64) {
	d.t.Helper()
	if _, ok := d.handleAck(d.sessions[node], k, d.now); !ok {
		d.t.Fatalf("%s cannot have %d", node, k)
	}
}

func TestChangeNeedsAcknowledgementOfAllMembers(t *testing.T) {
	d := newDesk(t, 0)
	d.by(officeState(t, []string{"n1", "n2"}))
	d.joinAll()
	q := d.write(0, 7)
	d.ack("n1", 1)
	if q.acked >= 7 {
		t.Error("one of two members was enough")
	}
	d.ack("n2", 1)
	if q.acked != 7 {
		t.Errorf("acknowledged up to %d", q.acked)
	}
}

// The frame that brings a change does not say that all have it, whoever gets it first: it
// would not be kept for those who get it later, or never.
func TestFrameDoesNotAcknowledgeItsOwnChange(t *testing.T) {
	d := newDesk(t, 0)
	d.by(officeState(t, []string{"n1", "n2"}))
	d.joinAll()
	for n := uint64(1); n < 4; n++ {
		d.write(0, n)
		for _, node := range []string{"n1", "n2"} {
			all := d.sent[node]
			if f := all[len(all)-1]; f.kind != kindBatch || f.change != n || f.highWater >= n {
				t.Errorf("%s: change %d, high-water mark %d", node, f.change, f.highWater)
			}
			d.ack(node, n)
		}
	}
}

// What a member is brought before this node has written anything says nothing of what it
// writes then.
func TestInitialFramesPrecedeAllChanges(t *testing.T) {
	d := newDesk(t, 0)
	d.by(officeState(t, []string{"n1"}))
	d.joinAll()
	for range 2 {
		d.send(d.sessions["n1"], &feedFrame{kind: kindBatch}, d.now)
	}
	q := d.write(0, 1)
	d.ack("n1", 1)
	if q.acked > 0 || d.highWater() > 0 {
		t.Errorf("acknowledged up to %d, high-water mark %d", q.acked, d.highWater())
	}
	d.ack("n1", 3)
	if q.acked != 1 {
		t.Errorf("acknowledged up to %d", q.acked)
	}
}

// Another set's changes are not waited for.
func TestSetsDoNotWaitForEachOther(t *testing.T) {
	d := newDesk(t, 0)
	d.by(officeState(t, []string{"n1"}, []string{"n2"}, []string{"n1", "n2"}))
	d.joinAll()
	third := ring.Token(2 * (uint64(1<<32) / 3))
	one := d.write(0, 1)
	two := d.write(ring.Token(uint64(1<<32)/3), 2)
	both := d.write(third, 3)
	d.ack("n1", 2)
	if one.acked != 1 || two.acked >= 2 || both.acked >= 3 {
		t.Errorf("acknowledged up to %d, %d, %d", one.acked, two.acked, both.acked)
	}
	d.ack("n2", 1)
	if two.acked != 2 || both.acked >= 3 {
		t.Errorf("acknowledged up to %d, %d", two.acked, both.acked)
	}
	d.ack("n2", 2)
	if both.acked != 3 || d.highWater() != 3 {
		t.Errorf("acknowledged up to %d, high-water mark %d", both.acked, d.highWater())
	}
}

func TestLaggingMemberHoldsChangesUntilReleased(t *testing.T) {
	d := newDesk(t, 0)
	st := officeState(t, []string{"n1", "n2"})
	d.by(st)
	d.joinAll()
	q := d.write(0, 7)
	d.ack("n1", 1)
	if late := d.overdueSessions(d.now.Add(time.Second), time.Second); len(late) != 0 {
		t.Error("late too soon")
	}
	late := d.overdueSessions(d.now.Add(1100*time.Millisecond), time.Second)
	if len(late) != 1 || late[0].node != "n2" {
		t.Fatalf("late are %v", late)
	}
	d.endSession(late[0], "late")
	if len(d.collectAcked()) != 0 || q.acked >= 7 {
		t.Fatal("nobody has said that it is released")
	}
	out := d.pendingReleases(st)
	if len(out) != 1 || out[0].node != "n2" || len(out[0].rows) != 1 {
		t.Fatalf("to be released: %v", out)
	}
	st = then(t, st, &table.Release{Node: "n2", Rows: out[0].rows})
	d.by(st)
	d.collectAcked()
	if q.acked != 7 {
		t.Errorf("acknowledged up to %d by who is left", q.acked)
	}
	if q := d.write(0, 8); q.key != "n1" {
		t.Errorf("%q have a word", q.key)
	}
	if d.sessions["n2"] != nil {
		t.Error("who is no member is still fed")
	}
}

// Rows of a set that is left by one member keep waiting for it elsewhere.
func TestWritesWaitForTheRemainingMembers(t *testing.T) {
	d := newDesk(t, 0)
	st := officeState(t, []string{"n1", "n2"}, []string{"n1", "n2"})
	d.by(st)
	d.joinAll()
	q := d.write(0, 7)
	d.ack("n1", 1)
	st = then(t, st, &table.Release{Node: "n2", Rows: []table.Ref{refAt(t, st, 0)}})
	d.by(st)
	d.collectAcked()
	if q.acked >= 7 {
		t.Error("the other row's set still needs n2's word")
	}
	d.ack("n2", 1)
	if q.acked != 7 {
		t.Errorf("acknowledged up to %d", q.acked)
	}
}

func TestRowOpensOnceAllHaveJoined(t *testing.T) {
	d := newDesk(t, 0)
	st := officeState(t, []string{"n1", "n2"})
	u := d.by(st)
	row, _ := st.Row(0)
	if len(u.begun) != 1 || d.serves(row) {
		t.Fatal("it is open")
	}
	d.markJoined("n1", []*rowTerm{d.termAt(0)})
	if d.serves(row) {
		t.Fatal("n2 has not joined")
	}
	st = then(t, st, &table.Release{Node: "n2", Rows: []table.Ref{row.Ref()}})
	d.by(st)
	if row, _ = st.Row(0); !d.serves(row) {
		t.Error("n2 is not a member any more")
	}
}

// A row that not all have joined changes neither hands nor bounds: its members may differ.
func TestNothingChangesHandsBeforeItOpens(t *testing.T) {
	for _, out := range []rules.Set{0, rules.Opened} {
		d := newDesk(t, out)
		st := officeState(t, []string{"n1", "n2"}, nil)
		d.by(st)
		both := []ring.Range{refAt(t, st, 0).Range, refAt(t, st, 1<<31).Range}
		if d.allJoined(both) != (out != 0) || !d.allJoined(both[1:]) {
			t.Errorf("rules %b: two have not joined", out)
		}
		d.markJoined("n1", []*rowTerm{d.termAt(0)})
		if d.allJoined(both[:1]) != (out != 0) {
			t.Errorf("rules %b: one has not joined", out)
		}
		d.markJoined("n2", []*rowTerm{d.termAt(0)})
		if !d.allJoined(both) {
			t.Errorf("rules %b: all have joined", out)
		}
	}
}

func TestLearnerCountsBeforeItIsAdmitted(t *testing.T) {
	d := newDesk(t, 0)
	st := officeState(t, []string{"n1"})
	st = then(t, st, &table.AddLearner{Node: "n2", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
	d.by(st)
	d.joinAll()
	l := learner{"n2", 1}
	d.beginSession("n2", 1)
	u := d.planCounting([]*rowTerm{d.termAt(0)}, l, true)
	d.termAt(0).counted = []learner{l}
	d.applyTransition(u, st)
	q := d.write(0, 7)
	d.ack("n1", 1)
	if q.acked >= 7 {
		t.Fatal("the learner's word is needed")
	}
	// Without the rule nobody asks for it, and then it is admitted.
	early := newDesk(t, rules.Count)
	early.by(st)
	early.joinAll()
	early.beginSession("n2", 1)
	u = early.planCounting([]*rowTerm{early.termAt(0)}, l, true)
	early.applyTransition(u, st)
	lost := early.write(0, 7)
	early.ack("n1", 1)
	if lost.acked != 7 {
		t.Error("the rule was left out")
	}
	// Its admission goes on without a gap.
	admitted := then(t, st, &table.Admit{Node: "n2", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
	d.by(admitted)
	if d.termAt(0).quorum != q || d.sessions["n2"].endReason != "" {
		t.Error("an admitted learner began anew")
	}
	d.ack("n2", 1)
	if q.acked != 7 {
		t.Errorf("acknowledged up to %d", q.acked)
	}
	// Or it is dropped: then nobody asks for its word.
	d = newDesk(t, 0)
	d.by(st)
	d.joinAll()
	d.beginSession("n2", 1)
	u = d.planCounting([]*rowTerm{d.termAt(0)}, l, true)
	d.termAt(0).counted = []learner{l}
	d.applyTransition(u, st)
	q = d.write(0, 7)
	d.ack("n1", 1)
	d.by(then(t, st, &table.DropLearner{Node: "n2", Rows: []table.Ref{refAt(t, st, 0)}}))
	d.collectAcked()
	if q.acked != 7 {
		t.Errorf("acknowledged up to %d", q.acked)
	}
}

// Who is in the set without having counted holds everything back until it is released.
func TestMemberWithoutSessionHoldsChanges(t *testing.T) {
	d := newDesk(t, 0)
	st := officeState(t, []string{"n1"})
	d.by(st)
	d.joinAll()
	st = then(t, st, &table.AddLearner{Node: "n2", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
	st = then(t, st, &table.Admit{Node: "n2", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
	d.by(st)
	q := d.write(0, 7)
	d.ack("n1", 1)
	if q.acked >= 7 {
		t.Error("n2 has not got it")
	}
	if out := d.pendingReleases(st); len(out) != 1 || out[0].node != "n2" {
		t.Errorf("to be released: %v", out)
	}
}

// A row that is taken away leaves what is open without an outcome; one that was drained
// leaves nothing.
func TestLostRowFailsOpenChanges(t *testing.T) {
	for _, still := range []bool{false, true} {
		d := newDesk(t, 0)
		st := officeState(t, []string{"n1"})
		d.by(st)
		d.joinAll()
		q := d.write(0, 7)
		st = then(t, st, &table.CutOver{To: "n1", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
		u := d.planTransition(st, func(ring.Range) bool { return still })
		if failed := slices.Contains(u.lost, q); failed == still {
			t.Errorf("held and drained: %v; fails: %v", still, failed)
		}
		if len(u.moves) != 1 || u.moves[0].quorum != nil {
			t.Errorf("moves %v", u.moves)
		}
	}
}

// Rows that are cut or merged go on, under their new names.
func TestBoundsChangeWithoutATerm(t *testing.T) {
	d := newDesk(t, 0)
	st := officeState(t, []string{"n1"})
	d.by(st)
	d.joinAll()
	q := d.termAt(0).quorum
	st = then(t, st, &table.Split{Cuts: []table.Cut{{Row: refAt(t, st, 0), At: []ring.Token{1 << 30, 1 << 31}}}})
	u := d.by(st)
	if len(u.rebounded) != 3 || len(u.begun) != 0 || len(u.moves) != 0 || len(u.lost) != 0 {
		t.Fatalf("%+v", u)
	}
	for row := range st.Rows() {
		if !d.serves(row) || d.termAt(row.Range.Start).quorum != q {
			t.Errorf("%v does not go on", row.Range)
		}
	}
	st = then(t, st, &table.Merge{Runs: []table.Run{{Rows: []table.Ref{refAt(t, st, 0), refAt(t, st, 1<<30)}}}})
	if u := d.by(st); len(u.rebounded) != 1 || len(u.begun) != 0 || len(u.moves) != 0 {
		t.Errorf("%+v", u)
	}
}

func TestTooFewInSync(t *testing.T) {
	d := newDesk(t, 0)
	d.minInSync = 2
	st := officeState(t, []string{"n1"})
	d.by(st)
	d.joinAll()
	q := d.write(0, 7)
	d.endSession(d.sessions["n1"], "late")
	st = then(t, st, &table.Release{Node: "n1", Rows: []table.Ref{refAt(t, st, 0)}})
	d.by(st)
	d.collectAcked()
	if q.acked >= 7 {
		t.Fatal("it is on one node alone")
	}
	st = then(t, st, &table.AddLearner{Node: "n2", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
	d.by(st)
	l := learner{"n2", 1}
	d.beginSession("n2", 1)
	u := d.planCounting([]*rowTerm{d.termAt(0)}, l, true)
	d.termAt(0).counted = []learner{l}
	d.applyTransition(u, st)
	d.collectAcked()
	if q.acked >= 7 {
		t.Fatal("n2 is not admitted")
	}
	st = then(t, st, &table.Admit{Node: "n2", Incarnation: 1, Rows: []table.Ref{refAt(t, st, 0)}})
	d.by(st)
	d.collectAcked()
	if q.acked != 7 {
		t.Errorf("acknowledged up to %d", q.acked)
	}
}

// Each rule of an office is needed: without it, what it forbids happens.
func TestEachRuleOfPrimaryStateIsNeeded(t *testing.T) {
	run := func(out rules.Set) (lost bool) {
		d := newDesk(t, out)
		st := officeState(t, []string{"n1", "n2"})
		d.by(st)
		d.joinAll()
		q := d.write(0, 7)
		d.ack("n1", 1)
		d.endSession(d.sessions["n2"], "late")
		d.collectAcked()
		return q.acked >= 7 // n2 may become the primary
	}
	if run(0) {
		t.Error("with all rules something is lost")
	}
	for _, out := range []rules.Set{rules.All, rules.Release} {
		if !run(out) {
			t.Errorf("without rule %b nothing is lost", out)
		}
	}
}

// Whatever happens in whatever order: no change is acknowledged that a member of its row
// does not have.
func TestNothingIsAcknowledgedEarly(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		d := newDesk(t, 0)
		sets := [][]string{{"n1"}, {"n2"}, {"n1", "n2"}, {"n1", "n2", "n3"}, nil}
		st := officeState(t, sets...)
		d.by(st)
		d.joinAll()
		type change struct {
			n  uint64
			at ring.Token
			q  *quorum
		}
		var all []change
		has := map[string]map[uint64]bool{"n1": {}, "n2": {}, "n3": {}}
		n := uint64(0)
		for range 60 {
			switch rnd.IntN(6) {
			case 0, 1, 2:
				at := ring.Token(rnd.Uint32())
				if tn := d.termAt(at); tn.quorum != nil {
					n++
					all = append(all, change{n, tn.Range.Start, tn.quorum})
					d.addChange(tn.quorum, n, nil, d.now)
				}
			case 3, 4:
				node := fmt.Sprint("n", 1+rnd.IntN(3))
				l := d.sessions[node]
				if l == nil || l.endReason != "" || l.acked == l.sent {
					continue
				}
				k := l.acked + 1 + uint64(rnd.IntN(int(l.sent-l.acked)))
				for _, f := range d.sent[node] {
					if f.seq <= k && f.kind == kindBatch {
						has[node][f.change] = true
					}
				}
				d.ack(node, k)
			case 5:
				if rnd.IntN(10) > 0 {
					d.sendHeartbeats(d.now)
					continue
				}
				node := fmt.Sprint("n", 1+rnd.IntN(3))
				if l := d.sessions[node]; l != nil {
					d.endSession(l, "chance")
				}
				for _, out := range d.pendingReleases(st) {
					st = then(t, st, &table.Release{Node: out.node, Rows: out.rows})
				}
				d.by(st)
				d.collectAcked()
			}
			for _, c := range all {
				if c.q.acked < c.n {
					continue
				}
				row, _ := st.Row(c.at)
				for _, b := range row.Backups {
					if !has[b][c.n] {
						t.Fatalf("change %d is acknowledged, and %s does not have it", c.n, b)
					}
				}
			}
		}
	}
}
