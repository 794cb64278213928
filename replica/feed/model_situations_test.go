package feed

import (
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/lease"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// situations are where searches begin. The last node leads, and all have just got leases.
var situations = map[string]*situation{
	"a write under way": {
		nodes: 3, sets: []string{"abc"}, depth: 12,
		begin: func(d *director) { d.do("^write: a " + first) },
		may:   map[string]int{"read": 1, "break: a to b": 1},
	},
	"a connection breaks": {
		nodes: 3, sets: []string{"ab"}, depth: 14,
		begin: func(d *director) { d.do("^write: a "+first, "^push: a to b", "^write: a "+first) },
		may:   map[string]int{"break": 2, "read": 1},
	},
	"a member lags": {
		nodes: 3, sets: []string{"abc"}, depth: 11, times: []time.Duration{1100 * time.Millisecond},
		begin: func(d *director) { d.do("^write: a " + first) },
		may:   map[string]int{"time": 1, "overdue: a c": 1, "read": 1},
	},
	"a learner is copied": {
		nodes: 3, sets: []string{"ab"}, depth: 11,
		begin: func(d *director) {
			d.do("^write: a "+first, "^learner: c, 0", "^apply: a", "^task: a copies")
		},
		may: map[string]int{"write: a " + first: 1, "break": 1},
	},
	"a learner counts": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) {
			d.do("^learner: c, 0")
			d.block("^connect: a to c")
			d.run()
			d.do("^write: a " + first)
		},
		may: map[string]int{"break": 1, "lose": 1, "crash: c": 1},
	},
	// b has been sent more than c.
	"a failover is proposed": {
		nodes: 3, sets: []string{"abc"}, depth: 12,
		begin: func(d *director) {
			d.block("^push: a to c", "^decide: ")
			d.do("^write: a " + first)
			d.run()
			d.do("^crash: a")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
		},
		may: map[string]int{"break": 1, "unsure": 1},
	},
	"a new primary opens": {
		nodes: 3, sets: []string{"abc"}, depth: 13,
		begin: func(d *director) {
			d.block("^push: a to c", "^connect: b to c")
			d.do("^write: a "+first, "^write: a "+first)
			d.run()
			d.do("^crash: a")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.leases("b")
		},
		may: map[string]int{"break": 1, "write": 1},
	},
	// What the primary before it had sent is still on its way.
	"a new primary opens late": {
		nodes: 3, sets: []string{"abc"}, depth: 13,
		begin: func(d *director) {
			d.block("^take: a .*to [bc]", "^connect: b to c", "^apply: c")
			d.do("^write: a " + first)
			d.run()
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
		},
		may: map[string]int{"break: b to c": 1},
	},
	// A new primary waits to hear what a member has, while the one before it copies
	// another row to it.
	"a new primary forgets": {
		nodes: 3, sets: []string{"abc", "a"}, depth: 12,
		begin: func(d *director) {
			d.block("^push: a to c", "^task: b hears what c has", "^task: grows by copy a")
			d.do("^write: a " + first)
			d.run()
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.do("^learner: b, 8")
			d.run()
		},
		may: map[string]int{"break": 1},
	},
	// One that did not answer when its primary was replaced learns anew.
	"a learner of the next primary": {
		nodes: 3, sets: []string{"abc"}, depth: 12,
		begin: func(d *director) {
			d.block("^take: a .*to c", "^deliver: fence of a to c", "^task: grows by copy b")
			d.do("^write: a " + first)
			d.run()
			d.do("^elect: b")
			d.leases("b")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: b replaces a")
			d.run()
			d.pass(1100 * time.Millisecond)
			d.run()
			d.leases("b")
			d.do("^write: b " + first)
			d.run()
			d.do("^learner: c, 0")
			d.run()
		},
		may: map[string]int{"break": 1},
	},
	"a cutover": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) { d.do("^write: a " + first) },
		may:   map[string]int{"handover": 1, "unsure": 1, "write": 1},
	},
	"a row is handed to a learner": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) {
			d.do("^write: a "+first, "^handoff: c, 0", "^apply: a", "^apply: a", "^task: a copies")
		},
		may: map[string]int{"write: a " + first: 1, "break": 1, "unsure": 1},
	},
	// b has by a copy what c was never sent, and is to hand the row to a before c is released.
	"a row that has not opened is handed on": {
		nodes: 3, sets: []string{"ac"}, depth: 12,
		begin: func(d *director) {
			d.block("^push: a to c", "^connect: b to c")
			d.do("^write: a " + first)
			d.do("^learner: b, 0")
			d.run()
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.do("^handoff: a, 0")
			d.run()
		},
		may: map[string]int{"break": 1},
	},
	// c was to receive a row, then not, and then is again. It knows the first of that.
	"a learner is one again": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) {
			d.writes("a")
			d.block("^apply: [abc]", "^task: a copies")
			d.do("^handoff: c, 0", "^apply: c", "^apply: c")
			d.do("^handoff: c, 8", "^handoff: c, 0")
			for range 6 {
				d.do("^apply: a", "^apply: b")
			}
		},
		may: map[string]int{"sweep": 1, "break": 1},
	},
	"bounds change": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) { d.do("^write: a " + first) },
		may:   map[string]int{"bounds: a cuts 00000000-80000000": 1, "unsure": 1, "write: a " + first: 1},
	},
	"a member is started again": {
		nodes: 3, sets: []string{"abc"}, depth: 11,
		begin: func(d *director) {
			d.block("^push: a to c")
			d.do("^write: a " + first)
			d.run()
		},
		may: map[string]int{"crash: b": 1, "start": 1, "read: a " + first: 1, "dismiss": 1},
	},
	// a gives b a row, hears nothing of it, and has it back after b's death; b is to have it
	// again, and begins with nothing.
	"a cutover of an earlier term": {
		nodes: 3, sets: []string{"a"}, depth: 8,
		begin: func(d *director) {
			d.do("^write: a " + first)
			d.run()
			d.do("^handoff: b, 0")
			d.block("looks what became of 0")
			d.run()
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces b")
			d.run()
			d.do("^handoff: b, 0", "^sweep: b")
		},
	},
	// Disks that lose what was not written yet.
	"a primary loses data": {
		nodes: 3, sets: []string{"ab"}, depth: 16, power: true, times: []time.Duration{2500 * time.Millisecond},
		begin: func(d *director) {
			d.do("^write: a " + first)
			d.run()
		},
		may: map[string]int{"crash: a": 1, "start": 1, "read: a " + first: 1, "ask lease": 1, "supersede": 1, "time": 1},
	},
	"a member loses data": {
		nodes: 3, sets: []string{"abc"}, depth: 10, power: true,
		begin: func(d *director) {
			d.do("^write: a " + first)
			d.run()
		},
		may: map[string]int{"crash: b": 1, "start": 1, "write: a " + first: 1, "read": 1, "supersede: c replaces a": 1},
	},
	"who has lost data is to take over": {
		nodes: 3, sets: []string{"abc"}, depth: 12, power: true, times: []time.Duration{2500 * time.Millisecond},
		begin: func(d *director) {
			d.do("^write: a " + first)
			d.run()
			d.do("^crash: a")
			d.pass(2500 * time.Millisecond)
		},
		may: map[string]int{"crash: b": 1, "start: b": 1, "read": 1, "supersede": 1},
	},
	// Leases.
	"a lease goes on": {
		nodes: 3, sets: []string{"ab"}, depth: 11, times: []time.Duration{800 * time.Millisecond},
		may: map[string]int{"time": 3, "supersede": 1, "write: a " + first: 1, "ask lease: a": 1},
	},
	"a lease is over": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) {
			d.pass(2500 * time.Millisecond)
			d.leases("b")
			d.do("^supersede: c replaces a")
		},
		may: map[string]int{"ask lease: a": 1, "drop": 1, "unsure": 1},
	},
	"a new leader": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) { d.block("^learn of"); d.do("^elect: b"); d.leases("b") },
		may:   map[string]int{"ask lease": 2, "supersede": 1, "write: a " + first: 1},
	},
	"a lease is late": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) {
			d.block("^deliver: lease to a")
			d.do("^ask lease: a")
			d.run()
			d.pass(2400 * time.Millisecond)
			d.leases("b")
		},
		may: map[string]int{"supersede": 1, "drop": 1, "ask lease: a": 1, "write: b " + first: 1},
	},
	"clocks differ": {
		nodes: 3, sets: []string{"ab"}, depth: 10, rates: []float64{0.96, 1, 1.04}, times: []time.Duration{500 * time.Millisecond},
		begin: func(d *director) {
			d.pass(1950 * time.Millisecond)
			d.leases("b")
		},
		may: map[string]int{"supersede": 1, "ask lease": 2, "time": 1, "write: a " + first: 1},
	},
	"who was replaced does not know": {
		nodes: 3, sets: []string{"ab"}, depth: 10,
		begin: func(d *director) {
			d.block("^apply: a")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.leases("b")
		},
		may: map[string]int{"ask lease: a": 1, "write": 1, "read": 1},
	},
	"a leader does not know": {
		nodes: 3, sets: []string{"ab"}, depth: 10,
		begin: func(d *director) {
			d.block("^apply: [ac]", "^learn of")
			d.do("^elect: b")
			d.leases("b")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: b replaces a")
			d.run()
			d.leases("b")
		},
		may: map[string]int{"ask lease": 1, "elect: c": 1, "write": 1},
	},
	"a failover of an earlier term": {
		nodes: 3, sets: []string{"ab"}, depth: 10,
		begin: func(d *director) {
			d.block("^decide", "^deliver: lease request of a to c")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.do("^elect: b")
			d.leases("b")
		},
		may: map[string]int{"ask lease: a": 1, "write": 1},
	},
	// A write was given to two members of which one was released. The other one takes over
	// without it.
	"a write outlives its row": {
		nodes: 3, sets: []string{"abc"}, depth: 9,
		begin: func(d *director) {
			d.block("^push: a", "^apply: a")
			d.do("^write: a " + first)
			d.pass(1100 * time.Millisecond)
			d.do("^overdue: a c", "^dismiss: a c", "^decide: a .*Release", "^apply: a")
			d.run()
			d.pass(1500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.leases("b")
		},
		may: map[string]int{"ask lease: a": 1, "write: b": 1, "read: b": 1},
	},
	// Who takes over has by a copy what the other member was never sent.
	"a copy takes over": {
		nodes: 3, sets: []string{"ab"}, depth: 12,
		begin: func(d *director) {
			d.block("^push: a to b", "^connect: c to b")
			d.do("^write: a " + first)
			d.staff("c")
			d.do("^crash: a")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
		},
		may: map[string]int{"break": 1, "ask lease: c": 1},
	},
	// What a learner was to join is late, and it is being copied anew.
	"a join is late": {
		nodes: 3, sets: []string{"ab"}, depth: 9,
		begin: func(d *director) {
			d.late("a", "c")
			d.staff("c")
			d.writes("a")
			d.pass(1100 * time.Millisecond)
			d.do("^overdue: a c")
			d.block("^task: grows by copy a")
			d.leases("a")
			d.writes("a")
		},
		may: map[string]int{"break": 1},
	},
	// All have learned a row, and followed it. The next primary brought its tail to d, and
	// not to c, which takes its place.
	"who learned takes over": {
		nodes: 4, sets: []string{"abcd"}, depth: 10,
		begin: func(d *director) {
			d.block("^push: a to [cd]", "^task: b hears what c has", "^connect: c to d")
			d.do("^write: a " + first)
			d.run()
			d.do("^crash: a")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: d replaces a")
			d.run()
			d.do("^crash: b")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: d replaces b")
			d.run()
		},
		may: map[string]int{"break": 1, "ask lease: c": 1},
	},
	// A member is fenced, released and copied anew between two entries of a failover.
	"a failover is proposed again": {
		nodes: 3, sets: []string{"abc"}, depth: 14,
		begin: func(d *director) {
			d.writes("a")
			d.block("^push: a to [bc]")
			d.do("^write: a " + first)
			d.block("^decide: c .*Failover", "^task: c tries the failover again")
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.allow("^push: a to [bc]")
			d.block("^push: a to c")
			d.run()
			d.do("^dismiss: a b", "^decide: a .*Release")
			d.allow("^decide: c .*Failover")
			d.run()
			d.do("^learner: b, 0")
			d.run()
		},
		never: []string{"push: a to c"},
	},
	// A copy of a primary that was replaced is still on its way.
	"a copy is late": {
		nodes: 3, sets: []string{"ab"}, depth: 11,
		begin: func(d *director) {
			d.writes("a")
			d.block("^push: copy a 0.* to c", "^apply: a", "^task: grows by copy b")
			d.do("^learner: c, 0", "^apply: a", "^task: a copies")
			d.run()
			d.pass(2500 * time.Millisecond)
			d.do("^supersede: c replaces a")
			d.run()
			d.leases("b")
			d.writes("b")
		},
		may: map[string]int{"write: b " + first: 1},
	},
}

// Nothing goes wrong in any order of what may happen next in a situation, up to a depth or
// a number of worlds.
func TestModelSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	most := 150 // test:sim goes further
	if os.Getenv("RINGSIDE_LONG") != "" {
		most = 800
	}
	searchAll(t, most, func(s *situation) {})
}

// At length the search goes further, and more may go wrong.
func TestModelSearchFurther(t *testing.T) {
	most, _ := strconv.Atoi(os.Getenv("RINGSIDE_MODEL_WORLDS"))
	switch {
	case most > 0:
	case os.Getenv("RINGSIDE_LONG") != "":
		most = 30_000
	default:
		t.Skip("RINGSIDE_LONG=1")
	}
	searchAll(t, most, func(s *situation) {
		may := map[string]int{}
		maps.Copy(may, s.may)
		s.may, s.depth = may, s.depth+8
		if s.times == nil {
			s.times = []time.Duration{2500 * time.Millisecond}
		}
		for _, class := range []string{"crash", "start", "break", "drop", "lose", "time", "supersede", "write"} {
			may[class]++
		}
	})
}

func searchAll(t *testing.T, most int, change func(*situation)) {
	worlds := 0
	for _, name := range slices.Sorted(maps.Keys(situations)) {
		t.Run(name, func(t *testing.T) {
			s := *situations[name]
			change(&s)
			began := time.Now()
			found := s.search(leftOut{}, s.depth, most)
			if found.wrong != "" {
				t.Errorf("%s\n%s", found.wrong, found.trace)
			}
			worlds += found.worlds
			t.Logf("%d worlds by %d steps, depth %d, all: %v, %v", found.worlds, found.steps, found.depth, found.over, time.Since(began).Round(time.Millisecond))
		})
	}
	t.Logf("%d worlds", worlds)
}

// From each situation on things go on by chance, with all that may go wrong.
func TestModelHoldsFromSituations(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	walks, seed := 2, rand.Uint64() // test:sim takes many
	if os.Getenv("RINGSIDE_LONG") != "" {
		walks = 1200
	}
	if text := os.Getenv("RINGSIDE_TEST_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
		walks = 1
	}
	if text := os.Getenv("RINGSIDE_MODEL_RUNS"); text != "" {
		walks, _ = strconv.Atoi(text)
	}
	counts := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(situations)) {
		s := *situations[name]
		for i := range uint64(walks) {
			w := s.walk(seed+i, leftOut{}, 400)
			for what, n := range w.count {
				counts[what] += n
			}
			if w.wrong != "" {
				w.traced()
				t.Fatalf("%s, seed %d: %s\n%s", name, seed+i, w.wrong, w.last(150))
			}
		}
	}
	t.Logf("%d walks each: %v", walks, counts)
}

// walk goes on by chance.
func (s *situation) walk(seed uint64, out leftOut, steps int) *world {
	rnd := rand.New(rand.NewPCG(seed, 19))
	w, _ := s.world(out, new(guide), true)
	w.chooser, w.only, w.plain, w.quiet, w.unnamed = rnd, nil, false, false, false
	w.times, w.weight = modelTimes, map[string]int{}
	w.swarm(rnd)
	for w.steps < steps && w.wrong == "" {
		w.step()
	}
	return w
}

// shown are the situations from which a rule's absence is found.
var shown = map[string]struct {
	out  leftOut
	from string
}{
	"ruleAll":                {leftOut{feed: rules.All}, "a write under way"},
	"readsAtOnce":            {leftOut{model: modelRules{readsAtOnce: true}}, "a write under way"},
	"ruleOrder":              {leftOut{feed: rules.Order}, "a connection breaks"},
	"ruleRelease":            {leftOut{feed: rules.Release}, "a member lags"},
	"ruleCount":              {leftOut{feed: rules.Count}, "a learner is copied"},
	"ruleTail":               {leftOut{feed: rules.Tail}, "a new primary opens"},
	"ruleKeep":               {leftOut{feed: rules.Keep}, "a new primary opens"},
	"ruleFence and ruleTail": {leftOut{feed: rules.Fence | rules.Tail}, "a new primary opens late"},
	"ruleKnown":              {leftOut{feed: rules.Known}, "a new primary forgets"},
	"ruleJoined":             {leftOut{feed: rules.Joined}, "a learner of the next primary"},
	"noHold":                 {leftOut{model: modelRules{noHold: true}}, "a cutover"},
	"noDrain":                {leftOut{model: modelRules{noDrain: true}}, "a cutover"},
	"guess":                  {leftOut{model: modelRules{guess: true}}, "a cutover"},
	"atOnce":                 {leftOut{lease: lease.Rules{AtOnce: true}}, "a lease goes on"},
	"whileReplaced":          {leftOut{lease: lease.Rules{WhileReplaced: true}}, "a lease is over"},
	"newLeader":              {leftOut{lease: lease.Rules{NewLeader: true}}, "a new leader"},
	"fromReceipt":            {leftOut{lease: lease.Rules{FromReceipt: true}}, "a lease is late"},
	"noMargin":               {leftOut{lease: lease.Rules{NoMargin: true}}, "clocks differ"},
	"anyIndex":               {leftOut{lease: lease.Rules{AnyIndex: true}}, "who was replaced does not know"},
	"unconfirmed":            {leftOut{lease: lease.Rules{Unconfirmed: true}}, "a leader does not know"},
	"unsettled":              {leftOut{lease: lease.Rules{Unsettled: true}}, "a leader does not know"},
	"anyTerm":                {leftOut{lease: lease.Rules{AnyTerm: true}}, "a failover of an earlier term"},
	"noLeaseCheck":           {leftOut{model: modelRules{noLeaseCheck: true}}, "a write outlives its row"},
	"sameOffice":             {leftOut{lease: lease.Rules{SameInterval: true}}, "a write outlives its row"},
	"ruleCopied":             {leftOut{feed: rules.Copied}, "a copy takes over"},
	"ruleFresh":              {leftOut{feed: rules.CopyMark}, "a join is late"},
	"earlyStreams":           {leftOut{model: modelRules{earlyStreams: true}}, "a learner is one again"},
	"ruleOpened":             {leftOut{feed: rules.Opened}, "a row that has not opened is handed on"},
	"ruleFollowed":           {leftOut{feed: rules.Followed}, "who learned takes over"},
	"askOnce":                {leftOut{model: modelRules{askOnce: true}}, "a failover is proposed again"},
	"anyOffice":              {leftOut{model: modelRules{anyOffice: true}}, "a cutover of an earlier term"},
	"lossIsIntact":           {leftOut{model: modelRules{lossIsIntact: true}}, "who has lost data is to take over"},
	"staleStreams":           {leftOut{model: modelRules{staleStreams: true}}, "a copy is late"},
}

// Two rules keep away what a primary that was replaced had sent: each is enough, also
// without a third.
func TestModelSearchWithOneOfTwo(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, out := range map[string]rules.Set{"ruleFence": rules.Tail | rules.Epoch, "ruleTail": rules.Fence | rules.Epoch} {
		s := *situations["a new primary opens late"]
		found := s.search(leftOut{feed: out}, s.depth, 1500)
		if found.wrong != "" {
			t.Errorf("with %s: %s\n%s", name, found.wrong, found.trace)
		}
		t.Logf("with %s: %d worlds, depth %d, all: %v", name, found.worlds, found.depth, found.over)
	}
}

// TestModelSearchShows shows what the search finds without a rule.
func TestModelSearchShows(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("RINGSIDE_LONG") == "" && rand.IntN(2) == 0 {
				t.Skip("half of the rules are left out in each run; go tool task test:sim takes all")
			}
			m := shown[name]
			s := *situations[m.from]
			began := time.Now()
			found := s.search(m.out, 30, 30_000)
			if found.wrong == "" {
				t.Errorf("%q: nothing goes wrong in %d worlds, depth %d", m.from, found.worlds, found.depth)
			}
			t.Logf("%q: %d worlds, depth %d, %v: %.150s", m.from, found.worlds, found.depth, time.Since(began).Round(time.Millisecond), found.wrong)
		})
	}
}

// Worlds of the same print go on alike, however they came about: what may come next has the
// same prints.
func TestModelPrints(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	pairs, most := 8, 250 // test:sim compares many
	if os.Getenv("RINGSIDE_LONG") != "" {
		pairs, most = 600, 6000
	}
	for _, name := range slices.Sorted(maps.Keys(situations)) {
		t.Run(name, func(t *testing.T) {
			s := *situations[name]
			first := map[uint64][]uint8{}
			level := [][]uint8{nil}
			compared := 0
			for len(level) > 0 && compared < pairs && len(first) < most {
				var next [][]uint8
				for _, at := range level {
					for print, path := range s.after(at) {
						before, again := first[print]
						if !again {
							first[print] = path
							next = append(next, path)
						} else if compared < pairs && len(first)%3 == 0 {
							compared++
							a, b := s.after(before), s.after(path)
							if !slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))) {
								t.Fatalf("%v and %v have one print, and go on to %d and %d others", before, path, len(a), len(b))
							}
						}
					}
				}
				level = next
			}
			t.Logf("%d of %d were compared", compared, len(first))
		})
	}
}

// after are the prints of what may come after noted choices, with those that lead there.
func (s *situation) after(path []uint8) map[uint64][]uint8 {
	all := map[uint64][]uint8{}
	for g := (&guide{path: slices.Clone(path)}); g != nil; g = g.next(len(path)) {
		w, left := s.replay(leftOut{}, g, len(path))
		if w == nil {
			break
		}
		all[mixed(w.print(), printOf(left))] = slices.Clone(g.path)
	}
	return all
}
