package report

import (
	"fmt"
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
		had, origin := roles(&r.Steps[i-1], last), origins(g.Buckets, last.Buckets)
		before = func(node string, b int) byte { return had[nodeBucket{node, origin[g.Buckets[b]]}] }
	}
	f := bucketFrame{Row: 16}
	if len(g.Buckets) > 1024 {
		f.Row = 64
	}
	f.Row = max(1, min(f.Row, len(g.Buckets)))
	for at := 0; at < len(g.Buckets); at += f.Row {
		f.Rows = append(f.Rows, rowLabel(g.Buckets[at], len(g.Buckets)))
	}
	has := roles(step, g)
	for _, n := range step.Nodes {
		f.addNode(n.ID, len(g.Buckets), func(node string, b int) byte { return has[nodeBucket{node, g.Buckets[b]}] }, before)
	}
	return f
}

type nodeBucket struct{ node, bucket string }

// roles are what each node has in a grid.
func roles(step *sim.Step, g *sim.Grid) map[nodeBucket]byte {
	all := map[nodeBucket]byte{}
	for b, owners := range g.Owners {
		for k, o := range owners {
			if o < 0 || o >= len(step.Nodes) || b >= len(g.Buckets) {
				continue
			}
			role := byte('S')
			if k == 0 {
				role = 'P'
			}
			all[nodeBucket{step.Nodes[o].ID, g.Buckets[b]}] = role
		}
	}
	return all
}

// origins maps each bucket to the bucket of the step before that held its keys: itself,
// or the one that it was split from.
func origins(buckets, before []string) map[string]string {
	type idAndMask [2]uint64
	known := make(map[idAndMask]string, len(before))
	for _, name := range before {
		if id, mask, ok := parseBucket(name); ok {
			known[idAndMask{id & mask, mask}] = name
		}
	}
	from := make(map[string]string, len(buckets))
	for _, name := range buckets {
		id, mask, ok := parseBucket(name)
		for ok {
			if b, found := known[idAndMask{id & mask, mask}]; found {
				from[name] = b
				break
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
