package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// ranged is the contestant of a [ring.Strategy]. A step costs it in proportion to
// the ranges, since the keys of a range are counted by the field.
type ranged struct {
	*run
	strategy ring.Strategy
	config   strategy.Config // of strategy
	field    *field
	sample   [][]byte
	tokens   []ring.Token // of the sample

	now *ring.Placement
}

func newRanged(r *run, e *entry, f *field, sample [][]byte) *ranged {
	c := &ranged{run: r, strategy: e.strategy, config: e.config, field: f, sample: sample}
	for _, key := range sample {
		c.tokens = append(c.tokens, e.strategy.Token(key))
	}
	return c
}

func (r *ranged) step(i int, t *tally) error {
	scene := &r.script.scenes[i]
	before, left := r.now, r.now
	if scene.died {
		dead := make([]string, len(scene.gone))
		for j, place := range scene.gone {
			dead[j] = r.script.nodes[place]
		}
		left = before.Without(dead...)
	}
	placing, err := r.placing(scene)
	if err != nil {
		return err
	}
	start := time.Now()
	r.now, err = placing.Desired(ring.Input{
		Members: scene.members,
		Backups: r.Backups,
		Present: left,
		Load:    r.field.in,
	})
	t.Compute = time.Since(start)
	if err != nil {
		return err
	}
	if before == nil {
		r.count(t)
	} else {
		r.compare(before, r.now, rolesOf(r.script, i), t)
	}
	r.crew.tell(0.7)
	return r.measure(scene, t)
}

// placing returns the strategy that places a scene. A switch keeps the hash, by which keys have
// their tokens.
func (r *ranged) placing(scene *scene) (ring.Strategy, error) {
	if scene.switched == "" {
		return r.strategy, nil
	}
	words, present := strings.Fields(scene.switched), r.config
	if present.Founding == "" {
		present.Founding = present.Name
	}
	next, err := present.With(words[0], words[1:])
	if err != nil || next == present {
		return r.strategy, err
	}
	if r.strategy, err = next.New(); err != nil {
		return nil, err
	}
	r.config = next
	next.Anew = true
	return next.New()
}

func (r *ranged) count(t *tally) {
	var owners []int32
	for row := range r.now.Rows() {
		owners = r.owners(owners[:0], row)
		t.place(owners, r.field.within(row.Range))
	}
}

// compare counts what differs between two placements. What changed hands only in
// name is found by place, so that rows are translated once, as they come.
func (r *ranged) compare(before, after *ring.Placement, roles roles, t *tally) {
	var rows [2]*ring.Row
	var owners [2][]int32
	at := 0
	for piece, pair := range ring.Overlay(before, after) {
		end := r.field.end(piece)
		for side, row := range pair {
			if row != rows[side] {
				rows[side] = row
				owners[side] = r.owners(owners[side][:0], row)
			}
		}
		if end > at && !slices.Equal(owners[0], owners[1]) {
			t.change(owners[0], owners[1], roles, r.field.between(at, end))
		}
		at = end
	}
}

// owners appends the places of a row's copies.
func (r *ranged) owners(to []int32, row *ring.Row) []int32 {
	for node := range row.Copies() {
		to = append(to, r.script.place[node])
	}
	return to
}

// measure notes how large and fast the placement is.
func (r *ranged) measure(scene *scene, t *tally) error {
	encoded, err := r.now.MarshalBinary()
	if err != nil {
		return fmt.Errorf("encode the placement: %w", err)
	}
	t.Ranges, t.EncodedBytes, t.MemoryBytes = r.now.Len(), len(encoded), r.now.Bytes()
	t.Grid, t.Circle = gridOf(r.strategy, r.now, scene), circleOf(r.now, scene)
	owned := 0 // so that nothing is found to be of no use
	n := len(r.sample)
	t.LookupNanos = nanosEach(n, func(i int) { owned += len(r.now.Lookup(r.tokens[i]).Primary) })
	t.LocateNanos = nanosEach(n, func(i int) { owned += len(r.now.Lookup(r.strategy.Token(r.sample[i])).Primary) })
	if owned == 0 {
		return fmt.Errorf("%w: no key has a primary", ring.ErrOwners)
	}
	return nil
}
