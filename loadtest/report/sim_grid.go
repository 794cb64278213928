package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// bucketsSection has the grids of all steps, within bounds.
func bucketsSection(r *sim.Report) section {
	g := &bucketGrids{}
	bytes, left := 0, 0
	for j, c := range r.Contenders {
		for i := range r.Steps {
			step := &r.Steps[i]
			now := step.Outcomes[j].Grid
			if now == nil {
				continue
			}
			if len(step.Nodes) > mostGridNodes || bytes > mostGridBytes || i > mostPageSteps {
				left++
				continue
			}
			frame := bucketFrameOf(r, i, j)
			frame.Name = c.Name + ", " + stepName(r, i)
			bytes += len(step.Nodes) * (len(now.Buckets) + 100)
			g.Frames = append(g.Frames, frame)
		}
	}
	s := simSection("buckets")
	if left > 0 {
		s.Text += fmt.Sprintf(" %s left out: only steps with up to %d nodes are drawn, as far as the page stays small.", pluralAre(left, "grid"), mostGridNodes)
	}
	if len(g.Frames) > 0 {
		s.Parts = []pagePart{{Grids: g}}
	}
	return s
}

// bucketFrameOf lays the grid of a step out by node, with its changes if the step before has a grid.
func bucketFrameOf(r *sim.Report, i, j int) bucketFrame {
	step, g := &r.Steps[i], r.Steps[i].Outcomes[j].Grid
	var before roleOf
	if i > 0 && r.Steps[i-1].Outcomes[j].Grid != nil {
		last := r.Steps[i-1].Outcomes[j].Grid
		had, origin := rolesIn(&r.Steps[i-1], last), origins(g.Buckets, last.Buckets)
		before = func(node string, b int) byte { return had(node, origin[b]) }
	}
	f := bucketFrame{Row: 16}
	if len(g.Buckets) > 1024 {
		f.Row = 64
	}
	f.Row = max(1, min(f.Row, len(g.Buckets)))
	for at := 0; at < len(g.Buckets); at += f.Row {
		f.Rows = append(f.Rows, rowLabel(g.Buckets[at], len(g.Buckets)))
	}
	for _, n := range step.Nodes {
		f.addNode(n.ID, len(g.Buckets), rolesIn(step, g), before)
	}
	return f
}

// rolesIn is what each node has of the buckets of a grid.
func rolesIn(step *sim.Step, g *sim.Grid) roleOf {
	return func(node string, b int) byte {
		if b < 0 || b >= len(g.Owners) {
			return 0
		}
		switch k := slices.IndexFunc(g.Owners[b], func(o int) bool { return o >= 0 && o < len(step.Nodes) && step.Nodes[o].ID == node }); {
		case k == 0:
			return 'P'
		case k > 0:
			return 'S'
		}
		return 0
	}
}

// origins are for each bucket the index of the bucket of the step before that held its keys: itself,
// or the one that it was split from; -1 if none did.
func origins(buckets, before []string) []int {
	type idAndMask [2]uint64
	known := make(map[idAndMask]int, len(before))
	for i, name := range before {
		if id, mask, ok := parseBucket(name); ok {
			known[idAndMask{id & mask, mask}] = i
		}
	}
	from := make([]int, len(buckets))
	for i, name := range buckets {
		from[i] = -1
		id, mask, ok := parseBucket(name)
		for ok && from[i] < 0 {
			if b, found := known[idAndMask{id & mask, mask}]; found {
				from[i] = b
			}
			ok = mask > 0
			mask >>= 1
		}
	}
	return from
}

func parseBucket(name string) (id, mask uint64, ok bool) {
	i, m, found := strings.Cut(name, "/")
	id, err := strconv.ParseUint(strings.TrimPrefix(i, "0x"), 16, 64)
	mask, err2 := strconv.ParseUint(strings.TrimPrefix(m, "0x"), 16, 64)
	return id, mask, found && err == nil && err2 == nil
}

// rowLabel is a bucket's id without its last digit.
func rowLabel(name string, buckets int) string {
	n, mask, ok := parseBucket(name)
	if !ok {
		return Clip(name, 4)
	}
	id := fmt.Sprintf("%0*X", len(strconv.FormatUint(mask, 16)), n)
	if len(id) > 1 && buckets > 16 {
		return id[:len(id)-1] + "·"
	}
	return id
}

func pluralAre(n int, word string) string {
	if n == 1 {
		return "1 " + word + " is"
	}
	return Plural(n, word) + " are"
}
