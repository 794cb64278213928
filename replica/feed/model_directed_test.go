package feed

import (
	"fmt"
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/lease"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A director has a world go on as it is told, so that a rule whose absence shows only after
// a long chain of unlikely events has its test, too. What it is not told to hold back goes
// on as it should.
type director struct {
	w        *world
	blocked  []*regexp.Regexp
	next     []int // what the choices within actions are; the last possible if there is none
	missing  string
	patterns map[string]*regexp.Regexp // that were compiled
	script   []scripted                // what it has had happen
}

// A scripted is one thing that a director had happen: the action of a number among those
// of its class, with what was chosen in it; or time that passed.
type scripted struct {
	passed time.Duration
	class  string
	action int
	chosen []int
}

// IntN implements chooser.
func (d *director) IntN(n int) int {
	v := n - 1
	if len(d.next) > 0 {
		v = min(d.next[0], n-1)
		d.next = d.next[1:]
	}
	if len(d.script) > 0 {
		at := &d.script[len(d.script)-1]
		at.chosen = append(at.chosen, v)
	}
	return v
}

// smooth are the classes of what goes on by itself, what comes first before the others.
var smooth = []string{"apply", "learn of", "deliver", "decide", "task", "connect", "push", "take", "hear", "dismiss", "reply"}

// find returns the first action that fits.
func (d *director) find(pattern string) *action {
	re := d.compiled(pattern)
	all := d.w.actions()
	for i := range all {
		if a := &all[i]; re.MatchString(a.class + ": " + a.name) {
			a.at = ordinal(all, i)
			return a
		}
	}
	return nil
}

func (d *director) compiled(pattern string) *regexp.Regexp {
	re, ok := d.patterns[pattern]
	if !ok {
		re = regexp.MustCompile(pattern)
		if d.patterns == nil {
			d.patterns = map[string]*regexp.Regexp{}
		}
		d.patterns[pattern] = re
	}
	return re
}

func (d *director) perform(a *action) {
	d.w.steps++
	d.w.say("%s: %s", a.class, a.name)
	d.script = append(d.script, scripted{class: a.class, action: a.at})
	a.do()
}

// do has the first action happen that fits each pattern, one after the other.
func (d *director) do(patterns ...string) {
	for _, p := range patterns {
		if d.w.wrong != "" || d.missing != "" {
			return
		}
		a := d.find(p)
		if a == nil {
			d.missing = fmt.Sprintf("nothing fits %q among\n%s", p, d.possible())
			return
		}
		d.perform(a)
	}
}

// all has what fits a pattern happen as long as there is such.
func (d *director) all(pattern string) {
	for range 200 {
		a := d.find(pattern)
		if a == nil || d.w.wrong != "" {
			return
		}
		d.perform(a)
	}
}

func (d *director) possible() string {
	var all []string
	for _, a := range d.w.actions() {
		all = append(all, a.class+": "+a.name)
	}
	return strings.Join(all, "\n")
}

// block holds back what fits; allow lets it go on again.
func (d *director) block(patterns ...string) {
	for _, p := range patterns {
		d.blocked = append(d.blocked, d.compiled(p))
	}
}

func (d *director) allow(patterns ...string) {
	d.blocked = slices.DeleteFunc(d.blocked, func(re *regexp.Regexp) bool { return slices.Contains(patterns, re.String()) })
}

// run has everything go on until nothing is left to do.
func (d *director) run() {
	for range 3000 {
		if d.w.wrong != "" || d.missing != "" {
			return
		}
		a := d.smoothest()
		if a == nil {
			return
		}
		d.perform(a)
	}
	d.missing = "it does not come to rest:\n" + d.w.last(40)
}

// smoothest is what goes on first.
func (d *director) smoothest() *action {
	all := d.w.actions()
	for _, class := range smooth {
		for i := range all {
			a := &all[i]
			if a.class != class || class == "dismiss" && len(d.w.proposed) > 0 {
				continue
			}
			name := a.class + ": " + a.name
			if !slices.ContainsFunc(d.blocked, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
				a.at = ordinal(all, i)
				return a
			}
		}
	}
	return nil
}

// ordinal is the number of an action among those of its class.
func ordinal(all []action, i int) (n int) {
	for _, a := range all[:i] {
		if a.class == all[i].class {
			n++
		}
	}
	return n
}

// pass lets time go by.
func (d *director) pass(t time.Duration) {
	d.w.now += t
	d.w.say("%v go by", t)
	d.script = append(d.script, scripted{passed: t})
}

// leases has nodes renew their leases.
func (d *director) leases(ids ...string) {
	for _, id := range ids {
		d.do("ask lease: " + id)
		d.run()
	}
}

// staff makes nodes members of the first row's set.
func (d *director) staff(ids ...string) {
	for _, id := range ids {
		d.do("^learner: " + id + ", 0")
		d.run()
	}
}

// A schedule is what shows that a rule is needed: with it nothing goes wrong. Of several
// rules that are left out each one alone is enough.
type schedule struct {
	out   []leftOut
	rates []int // of the clocks: 0 is slow, 100 fast
	play  func(d *director)
	nodes int // 3 if it is 0
}

const (
	first  = "10000000" // a key of the first row
	second = "90000000" // and one of the second
)

var schedules = map[string]schedule{
	"ruleTail": {out: []leftOut{{feed: rules.Tail}}, play: tailIsLost},
	"ruleKeep": {out: []leftOut{{feed: rules.Keep}}, play: tailIsLost},
	// A new primary asks a member what it has. Before it hears that, the one before it feeds
	// it anew, so that it forgets what it had.
	"ruleKnown": {out: []leftOut{{feed: rules.Known}}, play: func(d *director) {
		d.staff("c")
		d.block("^push: a to c")
		d.do("^write: a " + first)
		d.run()
		d.block("^task: b hears what c has")
		d.over("a", "b")
		d.do("^learner: b, 8")
		d.run()
		d.allow("^task: b hears what c has")
		d.run()
		d.leases("b")
		d.reads("b")
		d.replaced("b", "c")
		d.reads("c")
	}},
	// All have learned a row, and followed it. The next primary brings one of two members its
	// tail, and dies. The other one takes its place.
	"ruleFollowed": {out: []leftOut{{feed: rules.Followed}}, nodes: 4, play: func(d *director) {
		d.staff("c", "d")
		d.block("^push: a to [cd]")
		d.do("^write: a " + first)
		d.run()
		d.block("^task: b hears what c has")
		d.replaced("a", "b")
		d.replaced("b", "c")
		d.leases("c", "d")
		d.reads("c")
		d.may("^handover: c of 0.* to d")
		d.run()
		d.leases("d")
		d.reads("d")
		d.replaced("d", "c")
		d.reads("c")
	}},
	// A new primary has by a copy what the other member was never sent. Before that one is
	// released it hands the row on, to a node for which all members are alike.
	"ruleOpened": {out: []leftOut{{feed: rules.Opened}}, nodes: 4, play: func(d *director) {
		d.block("^push: a to b")
		d.do("^write: a " + first)
		d.staff("c")
		d.block("^connect: c to b")
		d.replaced("a", "d")
		d.do("^handoff: d, 0")
		d.run()
		d.pass(200 * time.Millisecond) // it is tried no longer
		d.run()
		d.allow("^connect: c to b")
		d.run()
		d.leases("d")
		d.reads("d")
		d.do("^crash: c")
		d.replaced("d", "b")
		d.pass(1100 * time.Millisecond)
		d.run()
		d.leases("b")
		d.reads("b")
	}},
	// A member is fenced, released and copied anew between two entries of a failover.
	"askOnce": {out: []leftOut{{model: modelRules{askOnce: true}}}, play: func(d *director) {
		d.staff("c")
		d.writes("a")
		d.block("^push: a to [bc]")
		d.do("^write: a " + first)
		d.block("^decide: c .*Failover", "^task: c tries the failover again")
		d.over("a", "c")
		d.allow("^push: a to [bc]")
		d.block("^push: a to c")
		d.run()
		d.do("^dismiss: a b", "^decide: a .*Release")
		d.allow("^decide: c .*Failover")
		d.run()
		d.do("^learner: b, 0")
		d.run()
		d.allow("^task: c tries the failover again")
		d.run()
		d.leases("b", "c")
		d.may("^handover: c of 0.* to b")
		d.run()
		d.leases("b")
		d.reads("b")
		d.replaced("b", "c")
		d.reads("c")
	}},
	// The one that takes over has by a copy what the other member was never sent.
	"ruleCopied": {out: []leftOut{{feed: rules.Copied}}, play: func(d *director) {
		d.writes("a")
		d.block("^push: a to b")
		d.do("^write: a " + first)
		d.staff("c")
		d.replaced("a", "c")
		d.reads("c")
		d.replaced("c", "b")
		d.reads("b")
	}},
	// What a learner was to join is late, and comes when it is being copied anew.
	"ruleFresh": {out: []leftOut{{feed: rules.CopyMark}}, play: func(d *director) {
		d.late("a", "c")
		d.do("^learner: c, 0")
		d.run()
		d.writes("a")
		d.pass(1100 * time.Millisecond)
		d.do("^overdue: a c")
		d.block("^task: grows by copy a")
		d.leases("a")
		d.writes("a")
		d.all("^take: a .*to c")
		d.allow("^task: grows by copy a", "^take: a (.old. )?to c")
		d.run()
		d.block("^deliver: fence of a to b")
		d.over("a", "c")
		d.pass(1100 * time.Millisecond)
		d.run()
		d.leases("c")
		d.reads("c")
	}},
	// A connection that was given up still has a frame in it, which comes again.
	"ruleOrder": {out: []leftOut{{feed: rules.Order}}, play: func(d *director) {
		d.block(`^take: a \(old\)`)
		d.do("^write: a "+first, "^push: a to b", "^break: a to b", "^connect: a to b")
		d.run()
		d.writes("a")
		d.do(`^take: a \(old\)`)
		d.replaced("a", "b")
		d.reads("b")
	}},
	// Who did not answer when its primary was replaced learns anew from the next one. What
	// the old one had sent to it arrives after that.
	"ruleJoined": {out: []leftOut{{feed: rules.Joined}}, play: func(d *director) {
		d.staff("c")
		d.writes("a")
		d.late("a", "c")
		d.do("^write: a " + first)
		d.run()
		d.block("^deliver: fence of a to c")
		d.over("a", "b")
		d.pass(1100 * time.Millisecond)
		d.run()
		d.leases("b")
		d.writes("b")
		d.staff("c")
		d.do("^take: a .*to c")
		d.replaced("b", "c")
		d.reads("c")
	}},
	// What a primary that was replaced had sent arrives at one who follows the next one by
	// now: that is refused since it told how far it had come, since it was asked by the new
	// primary, and since the epoch is over.
	"ruleEpoch, ruleFence and ruleTail": {out: []leftOut{{feed: rules.Epoch}, {feed: rules.Fence}, {feed: rules.Tail}}, play: func(d *director) {
		d.staff("c")
		d.writes("a")
		d.late("a", "[bc]")
		d.do("^write: a " + first)
		d.run()
		d.over("a", "b")
		d.writes("b")
		d.do("^take: a .*to c")
		d.replaced("b", "c")
		d.reads("c")
	}},
	// A failover that an earlier leader had proposed is decided after a later one has
	// granted a lease.
	"anyTerm": {out: []leftOut{{lease: lease.Rules{AnyTerm: true}}}, play: func(d *director) {
		d.writes("a")
		d.block("^decide: c .*Failover", "^apply: a")
		d.over("a", "c")
		d.do("^elect: b")
		d.leases("b", "a")
		d.allow("^decide: c .*Failover")
		d.run()
		d.leases("b")
		d.writes("b")
		d.reads("a")
	}},
	// A leader that is none any more goes on to grant leases.
	"unconfirmed": {out: []leftOut{{lease: lease.Rules{Unconfirmed: true}}}, play: func(d *director) {
		d.writes("a")
		d.do("^elect: c")
		d.leases("c")
		d.block("^learn of: c", "^apply: [ac]", "^deliver: lease request of a to b")
		d.over("a", "b")
		d.writes("b")
		d.leases("a")
		d.reads("a")
	}},
	// A leader grants a lease before it knows what was decided before its term.
	"unsettled": {out: []leftOut{{lease: lease.Rules{Unsettled: true}}}, play: func(d *director) {
		d.writes("a")
		d.block("^apply: [ac]")
		d.over("a", "c")
		d.do("^elect: c")
		d.leases("b")
		d.writes("b")
		d.leases("a")
		d.reads("a")
	}},
	// Who was replaced gets a lease before it knows that it was.
	"anyIndex": {out: []leftOut{{lease: lease.Rules{AnyIndex: true}}}, play: func(d *director) {
		d.writes("a")
		d.block("^apply: a")
		d.over("a", "c")
		d.leases("b")
		d.writes("b")
		d.leases("a")
		d.reads("a")
	}},
	// A cutover of which the primary does not know the outcome is decided later.
	"guess": {out: []leftOut{{model: modelRules{guess: true}}}, play: func(d *director) {
		d.writes("a")
		d.block("^decide: a .*CutOver", "^apply: a")
		d.next = []int{0} // it leaves
		d.do("^handover: a of 0.* to b")
		d.run()
		d.do("^unsure: a .*CutOver")
		d.allow("^decide: a .*CutOver")
		d.run()
		d.leases("b")
		d.writes("b")
		d.reads("a")
	}},
	// The clock of the one who holds a lease is slow, and that of the leader fast.
	"noMargin": {out: []leftOut{{lease: lease.Rules{NoMargin: true}}}, rates: []int{0, 50, 100}, play: func(d *director) {
		d.writes("a")
		d.do("^elect: c")
		d.leases("c", "a")
		d.block("^apply: a")
		d.pass(1950 * time.Millisecond)
		d.may("^supersede: c replaces a")
		d.run()
		d.leases("b")
		d.writes("b")
		d.reads("a")
	}},
	// A copy of a primary that was replaced comes after that of the one in its place.
	"staleStreams": {out: []leftOut{{model: modelRules{staleStreams: true}}}, play: func(d *director) {
		d.writes("a")
		d.block("^push: copy a 0.* to c")
		d.staff("c")
		d.block("^apply: a")
		d.over("a", "b")
		d.writes("b")
		d.do("^push: copy a 0.* to c")
		d.replaced("b", "c")
		d.reads("c")
	}},
}

// writes has a client write the first key, if it may, and hear of it.
func (d *director) writes(node string) {
	d.may("^write: " + node + " " + first)
	d.run()
}

// reads has a client read it.
func (d *director) reads(node string) {
	d.may("^read: " + node + " " + first)
	d.run()
}

// may is do for what is possible only without a rule.
func (d *director) may(pattern string) {
	if d.find(pattern) != nil {
		d.do(pattern)
	}
}

// late has what a primary sends to a member from now on be under way for long.
func (d *director) late(from, to string) {
	d.block("^take: " + from + " (.old. )?to " + to)
}

// replaced has a node die and another be the leader that replaces it.
func (d *director) replaced(node, leader string) {
	d.do("^crash: " + node)
	d.over(node, leader)
}

// over has a leader replace a node whose lease is over.
func (d *director) over(node, leader string) {
	d.do("^elect: " + leader)
	d.leases(leader)
	d.pass(2500 * time.Millisecond)
	d.may("^supersede: " + leader + " replaces " + node)
	d.run()
	d.leases(leader)
}

// tailIsLost has a primary die that has told one of two members more than the other. The
// one that takes over shows it, and dies.
func tailIsLost(d *director) {
	d.staff("c")
	d.block("^push: a to c")
	d.do("^write: a " + first)
	d.run()
	d.replaced("a", "b")
	d.reads("b")
	d.replaced("b", "c")
	d.reads("c")
}

// What is brought before a primary has written anything acknowledges nothing of what it
// writes then.
func TestInitialFramesAcknowledgeNothing(t *testing.T) {
	d := begun(leftOut{}, nil, 3)
	d.staff("b")
	d.do("^learner: b, 8")
	d.run()
	d.next = []int{0} // a leaves
	d.do("^handover: a of 8.* to b")
	d.run()
	d.do("^learner: c, 8")
	d.run()
	d.staff("c")
	d.block("^push: a to c")
	d.do("^write: a "+first, "^write: a "+first)
	d.run()
	d.block("^task: b hears what c has")
	d.replaced("a", "b")
	d.do("^task: b hears what c has", "^push: b to c", "^take: b to c", "^hear: b to c")
	d.do("^write: b "+second, "^push: b to c", "^take: b to c", "^hear: b to c")
	d.may("^reply: b " + second)
	d.replaced("b", "c")
	d.allow("^push: a to c")
	d.reads("c")
	d.may("^read: c " + second)
	d.run()
	if d.w.wrong != "" || d.missing != "" {
		t.Errorf("%s\n%s\n%s", d.w.wrong, d.missing, d.w.last(60))
	}
}

// begun is a world of so many nodes in which a leads and serves, and all have leases.
func begun(out leftOut, rates []int, nodes int) *director {
	d := &director{}
	for _, r := range rates {
		d.next = append(d.next, r, 0)
	}
	d.w = newWorld(d, out, nodes, 1)
	d.next = nil
	d.do("^elect: a")
	for _, n := range d.w.nodes {
		d.leases(n.id)
	}
	return d
}

// TestEachRuleHasItsSchedule shows by schedules which rules the model cannot do without.
func TestEachRuleHasItsSchedule(t *testing.T) {
	for name, s := range schedules {
		t.Run(name, func(t *testing.T) {
			for i := range 1 << len(s.out) {
				var out leftOut
				for j, o := range s.out {
					if i>>j&1 == 1 {
						out = out.and(o)
					}
				}
				d := begun(out, s.rates, max(s.nodes, 3))
				d.staff("b")
				s.play(d)
				all := i == 1<<len(s.out)-1
				switch {
				case (d.w.wrong != "") != all, d.missing != "" && d.w.wrong == "":
					t.Errorf("%d of %d: wrong is %q\n%s\n%s", i, len(s.out), d.w.wrong, d.missing, d.w.last(100))
				case all:
					t.Log(d.w.wrong)
				}
			}
		})
	}
}

// and leaves out what either leaves out.
func (o leftOut) and(p leftOut) leftOut {
	o.feed |= p.feed
	if p.lease != (lease.Rules{}) {
		o.lease = p.lease
	}
	if p.model != (modelRules{}) {
		o.model = p.model
	}
	return o
}
