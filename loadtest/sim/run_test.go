package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

func small() Config {
	c := DefaultConfig()
	c.Keys = 30_000
	c.ValueSize = Sizes{10, 2000}
	return c
}

func simulate(t *testing.T, c Config) *Report {
	t.Helper()
	report, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// timeless is the report as JSON without what was timed.
func timeless(t *testing.T, r *Report) string {
	t.Helper()
	r.Took = 0
	for i := range r.Steps {
		for j := range r.Steps[i].Outcomes {
			o := &r.Steps[i].Outcomes[j]
			o.Compute, o.LookupNanos, o.LocateNanos = 0, 0, 0
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReportFollowsFromTheSeedAlone(t *testing.T) {
	randomtest.Draw(t, 3)
	c := small()
	first := timeless(t, simulate(t, c))
	runs := []int{1, 3, 8}
	if testing.Short() {
		runs = runs[2:]
	}
	for _, procs := range runs {
		before := runtime.GOMAXPROCS(procs)
		again := timeless(t, simulate(t, c))
		runtime.GOMAXPROCS(before)
		if again != first {
			t.Fatalf("with %d processors the report is another", procs)
		}
	}
	c.Seed++
	if !testing.Short() && timeless(t, simulate(t, c)) == first {
		t.Error("another seed gives the same report")
	}
}

func TestContendersComeInTheOrderAskedFor(t *testing.T) {
	c := small()
	c.Strategies = []string{strategy.Rendezvous + PerKey, "vnode:128", "ketama", Mod, "vnode", "buckets:000F"}
	report := simulate(t, c)
	var names, titles []string
	for _, contender := range report.Contenders {
		names, titles = append(names, contender.Name), append(titles, contender.Title)
		if contender.Yardstick != (contender.Name == Mod || contender.Name == strategy.Rendezvous+PerKey) {
			t.Errorf("%+v", contender)
		}
	}
	if !slices.Equal(names, c.Strategies) {
		t.Errorf("%q", names)
	}
	if want := []string{"rendezvous, asked for each key", "vnode, 128 a node", "ketama, 160 points a server", "hash mod n", "vnode, 4 a node", "buckets, mask 000F"}; !slices.Equal(titles, want) {
		t.Errorf("%q", titles)
	}
	for _, step := range report.Steps {
		for i, o := range step.Outcomes {
			if (o.Grid != nil) != strings.HasPrefix(names[i], "buckets") || (o.Ranges == 0) != report.Contenders[i].Yardstick || o.MemoryBytes == 0 {
				t.Errorf("%s, %s: %d ranges, %d bytes, grid %v", step.Event, names[i], o.Ranges, o.MemoryBytes, o.Grid != nil)
			}
		}
	}
}

func TestGridShowsBucketsAndTheirOwners(t *testing.T) {
	c := small()
	c.Strategies, c.Base.Mask = []string{"buckets"}, 0x000F
	c.Members, c.Scenario = Nodes(2), "add"
	report := simulate(t, c)
	grid := report.Steps[1].Outcomes[0].Grid
	if grid == nil || len(grid.Buckets) != len(grid.Owners) {
		t.Fatalf("%+v", grid)
	}
	if len(grid.Buckets) != 16 || grid.Buckets[0] != "0000/000F" || grid.Buckets[15] != "000F/000F" {
		t.Fatalf("%q", grid.Buckets)
	}
	load := make([]int, 3)
	for _, owners := range grid.Owners {
		if len(owners) != 2 {
			t.Fatalf("owners %v", owners)
		}
		load[owners[0]]++
		load[owners[1]]++
	}
	slices.Sort(load)
	if !slices.Equal(load, []int{10, 11, 11}) {
		t.Errorf("copies %v", load)
	}
}

func TestLeastMoveIsGrowthOfFairShares(t *testing.T) {
	c := small()
	c.Strategies, c.Members, c.ValueSize = []string{strategy.Rendezvous + PerKey}, Nodes(1), Sizes{84, 84} // 100 bytes with the key
	c.Scenario = "add; add; remove; weight 3"
	report := simulate(t, c)
	n := int64(c.Keys)
	for i, want := range []int64{0, n, n * 2 / 3, n * 2 / 3, 0} {
		if least := report.Steps[i].Least; least.Keys != want || least.Bytes != want*100 {
			t.Errorf("%s: %+v, want %d keys", report.Steps[i].Event, least, want)
		}
	}
	if ratio := report.Steps[1].Outcomes[0].Ratio; ratio != 1 {
		t.Errorf("the first backups: moved ÷ least is %v", ratio)
	}
}

// What hashing by rank promises: data moves to who joins or gains weight, or from who
// leaves or loses it.
func TestNothingMovesBetweenSurvivors(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("TestReportFollowsFromTheSeedAlone runs the same goroutines")
	}
	for _, hash := range strategy.Hashes() {
		c := small()
		c.Base.Hash = hash
		c.Strategies = []string{"vnode", "vnode:100", strategy.Rendezvous + PerKey}
		for i := range c.Members {
			c.Members[i].Weight = 0.5 + float64(i%4)
		}
		c.NewWeight = 1.5
		c.Scenario = "add; remove; add 3 at once; weight 4; weight 0.25; remove 60% at once; restore; crash 2; shuffle 5"
		report := simulate(t, c)
		for _, step := range report.Steps {
			for i, o := range step.Outcomes {
				if o.Survivors != (Amount{}) {
					t.Errorf("hash %s, %s, %s: %+v between survivors", hash, step.Event, report.Contenders[i].Name, o.Survivors)
				}
			}
		}
	}
}

func TestModMovesNearlyAll(t *testing.T) {
	c := small()
	c.Strategies, c.Backups, c.Scenario = []string{Mod}, 0, "add"
	report := simulate(t, c)
	part := float64(report.Steps[1].Outcomes[0].Moved.Keys) / float64(c.Keys)
	if want := 10.0 / 11; math.Abs(part-want) > 0.01 {
		t.Errorf("of ten nodes to eleven %.3f of the keys move, want %.3f", part, want)
	}
}

// The hashes of pairs are as good as random if the loads of nodes differ as those of
// drawing lots do.
func TestRendezvousIsEvenByWeight(t *testing.T) {
	if testing.Short() {
		t.Skip("TestReportFollowsFromTheSeedAlone runs the same goroutines")
	}
	c := small()
	c.Strategies, c.Scenario, c.Members = []string{strategy.Rendezvous + PerKey, Mod}, "", Nodes(300)
	c.Keys, c.ValueSize = 60_000, Sizes{}
	report := simulate(t, c)
	for i, o := range report.Steps[0].Outcomes {
		// Each node has about 200 keys: the deviation of one is 1/√200, and of its
		// estimate from 300 nodes a twenty-fourth of that.
		if want := 1 / math.Sqrt(200); math.Abs(o.Balance.Keys.CV/want-1) > 0.2 {
			t.Errorf("%s: coefficient of variation %.4f, want about %.4f", report.Contenders[i].Name, o.Balance.Keys.CV, want)
		}
	}
	for i := range c.Members {
		c.Members[i].Weight = 0.5 + float64(i%3)
	}
	c.Strategies = []string{strategy.Rendezvous + PerKey}
	report = simulate(t, c)
	if o := report.Steps[0].Outcomes[0]; o.Balance.Keys.CV > 0.1 || o.Balance.Copies.CV > 0.1 {
		t.Errorf("with weights: coefficient of variation %.4f, of copies %.4f", o.Balance.Keys.CV, o.Balance.Copies.CV)
	}
}

func TestHotKeysAreAsManyAsAskedFor(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 999, 10_000} {
		for _, part := range []float64{0, 0.001, 0.2, 1} {
			c := Config{HotKeys: part, Seed: uint64(n), ZipfTheta: 0.99}
			keys := keyspace{count: n}
			if err := keys.weigh(newCrew(context.Background(), nil), &c); err != nil {
				t.Fatal(err)
			}
			var all load
			for i := range n {
				all.add(keys.load(i))
			}
			if want := int64(math.Round(part * float64(n))); all.hot != want || all.zipf != keys.zipfTotal {
				t.Errorf("%v of %d keys: %d are hot, want %d", part, n, all.hot, want)
			}
			if share := keys.hotspot(all.Keys, all.hot); math.Abs(share-1) > 1e-9 {
				t.Errorf("%v of %d keys: requests add up to %v", part, n, share)
			}
		}
	}
}

func TestStoppedSimulationReportsFinishedSteps(t *testing.T) {
	whole := simulate(t, small())
	moments := []float64{0, 0.02, 0.1, 0.3, 0.6, 0.95}
	if testing.Short() {
		moments = []float64{0.1, 0.6}
	}
	for _, stopAt := range moments {
		ctx, stop := context.WithCancel(context.Background())
		c := small()
		c.Progress = func(done, total int, _ string) {
			if float64(done) >= stopAt*float64(total) {
				stop()
			}
		}
		report, err := Run(ctx, c)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if !report.Stopped {
			t.Errorf("at %v: not stopped", stopAt)
		}
		if stopAt >= 0.6 && len(report.Steps) != len(whole.Steps) {
			t.Errorf("at %v: %d steps of contenders that were through", stopAt, len(report.Steps))
		}
		for i, step := range report.Steps {
			if step.Event != whole.Steps[i].Event || len(step.Outcomes) != len(report.Contenders) || len(report.Contenders) == 0 {
				t.Errorf("at %v: step %d, %s, has %d outcomes of %d", stopAt, i, step.Event, len(step.Outcomes), len(report.Contenders))
			}
		}
		if _, err := json.Marshal(report); err != nil {
			t.Error(err)
		}
	}
	ended, end := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer end()
	if report, err := Run(ended, small()); err != nil || !report.Stopped || report.Steps == nil || report.Contenders == nil {
		t.Errorf("%+v, error %v", report, err)
	}
}

func TestProgressRisesToItsTotal(t *testing.T) {
	c := small()
	last, all := -1, 0
	c.Progress = func(done, total int, what string) {
		if done <= last || done > total || what == "" {
			t.Errorf("%d of %d after %d: %q", done, total, last, what)
		}
		last, all = done, total
	}
	simulate(t, c)
	if last != all {
		t.Errorf("ends at %d of %d", last, all)
	}
}

func TestValidateFindsEveryFault(t *testing.T) {
	c := Config{
		Strategies: []string{"buckets", "nonsense", "vnode:x", "ketama:3", "buckets:F0", "mod", "mod"},
		Base:       strategy.DefaultConfig(),
		Members:    []ring.Member{{ID: "a", Weight: -1}, {ID: "a", Weight: 1}},
		Backups:    -1,
		Scenario:   "jump; add x",
		Order:      "backwards",
		ValueSize:  Sizes{5, 1},
		ZipfTheta:  math.NaN(),
		HotKeys:    2,
		HotShare:   -1,
		NewNode:    "a b",
		NewWeight:  1,
	}
	c.Base.Hash = "md6"
	err := c.Validate()
	if err == nil {
		t.Fatal("valid")
	}
	for _, want := range []string{
		"nonsense", "vnode", "ketama", "mod\" comes twice", "\"a\"", "backups", "column 1:", "column 11:", "backwards",
		"sizes of values", "zipf", "hot keys", "hot share", "nodes that are added", "keys", "md6", "-1 is not above 0",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in:\n%v", want, err)
		}
	}
	if _, err := Run(context.Background(), c); err == nil {
		t.Error("it runs")
	}
	for _, c := range []Config{{}, {Strategies: make([]string, MaxContenders+1)}} {
		if c.Validate() == nil {
			t.Errorf("%+v is valid", c)
		}
	}
}

func TestKeyFileFaultNamesFileAndLine(t *testing.T) {
	c := small()
	c.KeySource, c.KeyFile = strings.NewReader("a\nb\tmany\n"), "keys.tsv"
	_, err := Run(context.Background(), c)
	if err == nil || !strings.Contains(err.Error(), "keys.tsv: line 2: ") {
		t.Errorf("error %v", err)
	}
}

func TestKeysOfOneSlotOrTagLieTogether(t *testing.T) {
	randomtest.Draw(t, 3)
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "{tag}%d\n", i)
	}
	hashes := strategy.Hashes()
	if testing.Short() {
		hashes = hashes[:1]
	}
	for _, hash := range hashes {
		c := small()
		c.Base.Hash, c.KeySource = hash, strings.NewReader(text.String())
		report := simulate(t, c)
		if report.Settings.Keys != 500 || report.Settings.KeyFile == "" {
			t.Fatalf("%+v", report.Settings)
		}
		for _, step := range report.Steps {
			for i, o := range step.Outcomes {
				for _, n := range o.Nodes {
					if n.Primary.Keys != 0 && n.Primary.Keys != 500 {
						t.Errorf("%s, %s, %s: %d keys of the tag", hash, step.Event, report.Contenders[i].Name, n.Primary.Keys)
					}
				}
			}
		}
	}
}

func TestSizesAreReadAsWritten(t *testing.T) {
	for _, s := range []string{"0", "100", "1-2", "0-536870912"} {
		sizes, err := ParseSizes(s)
		if err != nil || sizes.String() != s {
			t.Errorf("%q: %v, error %v", s, sizes, err)
		}
	}
	for _, s := range []string{"", "-1", "5-1", "x", "1-2-3", "536870913", "1e3"} {
		if sizes, err := ParseSizes(s); err == nil {
			t.Errorf("%q is read as %v", s, sizes)
		}
	}
	sizes, seen := Sizes{3, 5}, map[int]bool{}
	for i := range 1000 {
		seen[sizes.of(9, i)] = true
	}
	if len(seen) != 3 || !seen[3] || !seen[4] || !seen[5] {
		t.Errorf("sizes %v", seen)
	}
}
