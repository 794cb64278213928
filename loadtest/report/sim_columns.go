package report

import (
	"math"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// A simColumn is one figure of a contender in a step.
type simColumn struct {
	head string // two lines
	help string
	wide bool // only on wish
	// yields is above 0 for columns that go where they do not fit, the highest first.
	yields int
	start  bool // also of step 0, in which nothing moves
	get    func(at simPlace) simCell
}

// A simPlace is a contender in a step of a report.
type simPlace struct {
	report          *sim.Report
	step, contender int
}

func (at simPlace) stepOf() *sim.Step     { return &at.report.Steps[at.step] }
func (at simPlace) outcome() *sim.Outcome { return &at.stepOf().Outcomes[at.contender] }
func (at simPlace) placed() bool          { return at.outcome().Ranges > 0 }
func (at simPlace) before() (o sim.Outcome) {
	return at.report.Steps[max(0, at.step-1)].Outcomes[at.contender]
}

// A simCell is a figure as text. Of those that rank, the least is the best.
type simCell struct {
	text  string
	rank  float64
	ranks bool
}

func ranked(text string, rank float64) simCell { return simCell{text, rank, true} }

// simColumns are those of a step, in their order.
var simColumns = []simColumn{
	{head: "moved\n%", help: "copies of keys that moved to another node, as a share of all copies; a key whose primary and one backup move counts twice",
		get: func(at simPlace) simCell {
			return simCell{text: Percent(Share(at.outcome().Moved.Keys, copiesAfter(at.report, at.stepOf())))}
		}},
	{head: "moved\nbytes", help: "the bytes of those copies, keys and values", yields: 2,
		get: func(at simPlace) simCell {
			return simCell{text: Size(at.outcome().Moved.Bytes)}
		}},
	{head: "÷\nleast", help: "moved ÷ the least that any strategy must move to keep the load even; below 1 the load was not even before or after, so the best is nearest to 1",
		get: ratioCell},
	{head: "surv.\n%", help: "the part of moved (as a share of all copies) that went between nodes that were present before and after, beyond what leaving nodes had held; 0 with consistent hashing",
		get: func(at simPlace) simCell {
			return ranked(Percent(Share(at.outcome().Survivors.Keys, copiesAfter(at.report, at.stepOf()))), float64(at.outcome().Survivors.Keys))
		}},
	{head: "backup\n%", help: "the part of moved (as a share of all copies) that arrived as a backup", yields: 1,
		get: func(at simPlace) simCell {
			return simCell{text: Percent(Share(at.outcome().Backups.Keys, copiesAfter(at.report, at.stepOf())))}
		}},
	{head: "promoted\nkeys", help: "keys whose new primary already had a copy, so that no data had to move", wide: true,
		get: func(at simPlace) simCell { return simCell{text: Count(at.outcome().Promoted)} }},
	{head: "lost\nkeys", help: "keys of which no copy was left after a crash",
		get: func(at simPlace) simCell {
			return ranked(Count(at.outcome().Lost.Keys), float64(at.outcome().Lost.Keys))
		}},
	{head: "min/mean\nby keys", help: "keys of the emptiest primary, as a multiple of its fair share", wide: true, start: true,
		get: func(at simPlace) simCell {
			now := at.outcome().Balance.Keys.Min
			return ranked(Ratio(now), -now)
		}},
	{head: "max/mean\nby keys", help: "keys of the fullest primary, as a multiple of its fair share (by weight), before the step and after; 1 is even", start: true,
		get: func(at simPlace) simCell {
			return beforeAfter(at, func(b *sim.Balance) float64 { return b.Keys.Max }, Ratio)
		}},
	{head: "CV %\nby keys", help: "coefficient of variation of the nodes' keys, standard deviation ÷ mean, before the step and after; 0 is even", start: true,
		get: func(at simPlace) simCell {
			return beforeAfter(at, func(b *sim.Balance) float64 { return b.Keys.CV }, Percent)
		}},
	{head: "max/mean\nzipf", help: "requests to the busiest node as a multiple of its fair share, where few keys get most requests (zipf)", wide: true, start: true,
		get: func(at simPlace) simCell { return nodesAfter(at, func(b *sim.Balance) float64 { return b.Zipf.Max }) }},
	{head: "max/mean\nhotspot", help: "the same, where a small part of the keys gets most of the requests", wide: true, start: true,
		get: func(at simPlace) simCell {
			return nodesAfter(at, func(b *sim.Balance) float64 { return b.Hotspot.Max })
		}},
	{head: "ranges\n", help: "rows of the placement's table; yardsticks have none", wide: true, start: true,
		get: func(at simPlace) simCell {
			if !at.placed() {
				return simCell{text: None}
			}
			return ranked(Count(int64(at.outcome().Ranges)), float64(at.outcome().Ranges))
		}},
	{head: "compute\n", help: "time to compute the desired placement", wide: true, start: true,
		get: func(at simPlace) simCell {
			if at.outcome().Compute == 0 {
				return simCell{text: None}
			}
			return ranked(Duration(at.outcome().Compute), float64(at.outcome().Compute))
		}},
}

func ratioCell(at simPlace) simCell {
	if at.stepOf().LeastOf(at.contender).Keys == 0 {
		return simCell{text: None}
	}
	return ranked(Ratio(at.outcome().Ratio), offLeast(at.outcome().Ratio))
}

func beforeAfter(at simPlace, of func(*sim.Balance) float64, form func(float64) string) simCell {
	now := of(&at.outcome().Balance)
	if at.step == 0 {
		return ranked(form(now), now)
	}
	before := at.before()
	return ranked(form(of(&before.Balance))+" → "+form(now), now)
}

func nodesAfter(at simPlace, of func(*sim.Balance) float64) simCell {
	now := of(&at.outcome().Balance)
	return ranked(Ratio(now), now)
}

// A simFigure is a line of the summary.
type simFigure struct {
	name, help string
	get        func(s *SimulationSummary) simCell
	timed      bool // differs from run to run
	zoned      bool // only for nodes that have zones
}

// figuresOf are the lines of the summary of a report.
func figuresOf(r *sim.Report) []simFigure {
	if r.Settings.Zones > 0 {
		return simFigures
	}
	return slices.DeleteFunc(slices.Clone(simFigures), func(f simFigure) bool { return f.zoned })
}

func (f simFigure) cells(all []SimulationSummary) []simCell {
	cells := make([]simCell, len(all))
	for j := range all {
		cells[j] = f.get(&all[j])
	}
	return cells
}

// simFigures are the lines of the summary, in their order.
var simFigures = []simFigure{
	{name: "moved, keys", help: "copies of keys that travelled in all steps",
		get: func(s *SimulationSummary) simCell { return simCell{text: Count(s.Moved.Keys)} }},
	{name: "moved, bytes", help: "their bytes",
		get: func(s *SimulationSummary) simCell { return simCell{text: Size(s.Moved.Bytes)} }},
	{name: "moved ÷ least", help: "÷ the least possible of all steps; the best is nearest to 1 step by step",
		get: func(s *SimulationSummary) simCell {
			if s.Least.Keys == 0 {
				return simCell{text: None}
			}
			return ranked(Ratio(s.Ratio), s.Off)
		}},
	{name: "between survivors", help: "copies that went between nodes which were there before and after",
		get: func(s *SimulationSummary) simCell { return ranked(Count(s.Survivors.Keys), float64(s.Survivors.Keys)) }},
	{name: "backups moved", help: "copies that arrived as a backup",
		get: func(s *SimulationSummary) simCell { return simCell{text: Count(s.Backups.Keys)} }},
	{name: "promoted, keys", help: "keys whose new primary had a copy already",
		get: func(s *SimulationSummary) simCell { return simCell{text: Count(s.Promoted)} }},
	{name: "lost, keys", help: "keys of which no copy was left",
		get: func(s *SimulationSummary) simCell { return ranked(Count(s.Lost.Keys), float64(s.Lost.Keys)) }},
	{name: "in one zone, keys", help: "with --zones, keys of which two copies are in one zone; the worst of all steps", zoned: true,
		get: func(s *SimulationSummary) simCell { return ranked(Count(s.WorstOneZone), float64(s.WorstOneZone)) }},
	{name: "max/mean, keys", help: "the worst of all steps, by keys",
		get: func(s *SimulationSummary) simCell { return ranked(Ratio(s.WorstKeys), s.WorstKeys) }},
	{name: "max/mean, zipf", help: "the worst of all steps, by zipf requests",
		get: func(s *SimulationSummary) simCell { return ranked(Ratio(s.WorstZipf), s.WorstZipf) }},
	{name: "max/mean, hotspot", help: "the worst of all steps, by hotspot requests",
		get: func(s *SimulationSummary) simCell { return ranked(Ratio(s.WorstHotspot), s.WorstHotspot) }},
	{name: "CV %, keys", help: "the worst coefficient of variation of all steps",
		get: func(s *SimulationSummary) simCell { return ranked(Percent(s.WorstCV), s.WorstCV) }},
	{name: "placement, ranges", help: "most rows of the placement's table",
		get: func(s *SimulationSummary) simCell { return existing(Count(int64(s.Ranges)), float64(s.Ranges)) }},
	{name: "placement, encoded", help: "its most bytes in binary form",
		get: func(s *SimulationSummary) simCell {
			return existing(Size(int64(s.EncodedBytes)), float64(s.EncodedBytes))
		}},
	{name: "placement, memory", help: "its most bytes in a node or a client",
		get: func(s *SimulationSummary) simCell {
			return existing(Size(int64(s.MemoryBytes)), float64(s.MemoryBytes))
		}},
	{name: "time to compute", help: "time to compute the desired placement, the median of the steps", timed: true,
		get: func(s *SimulationSummary) simCell { return existing(Duration(s.Compute), float64(s.Compute)) }},
	{name: "lookup of a token", help: "time to find a token's owner, the median of the steps", timed: true,
		get: func(s *SimulationSummary) simCell { return existing(Nanos(s.LookupNanos), s.LookupNanos) }},
	{name: "lookup of a key", help: "time to find a key's owner, its hash included, the median of the steps", timed: true,
		get: func(s *SimulationSummary) simCell { return existing(Nanos(s.LocateNanos), s.LocateNanos) }},
}

// offLeast is how far a ratio is from the least possible, whichever way: what moves
// less pays for it with a load that is not even.
func offLeast(ratio float64) float64 {
	if ratio <= 0 {
		return math.Inf(1)
	}
	return math.Abs(math.Log(ratio))
}

// existing is a cell of something that yardsticks may not have.
func existing(text string, rank float64) simCell {
	if rank == 0 {
		return simCell{text: None}
	}
	return ranked(text, rank)
}

// bestOf tells for each contender's cell whether it is the best of those that are no
// yardsticks. Cells that read alike are alike; where all do, none is best.
func bestOf(contenders []sim.Contender, cells []simCell) []bool {
	least, found, differ := 0, false, false
	for i, c := range cells {
		if contenders[i].Yardstick || !c.ranks {
			continue
		}
		if !found {
			least, found = i, true
			continue
		}
		differ = differ || afterOf(c.text) != afterOf(cells[least].text)
		if c.rank < cells[least].rank {
			least = i
		}
	}
	marks := make([]bool, len(cells))
	for i, c := range cells {
		marks[i] = differ && !contenders[i].Yardstick && c.ranks && afterOf(c.text) == afterOf(cells[least].text)
	}
	return marks
}

// afterOf is what a text says of the time after the step.
func afterOf(text string) string {
	if _, after, ok := strings.Cut(text, " → "); ok {
		return after
	}
	return text
}
