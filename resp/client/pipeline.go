package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A Pipeline is commands that are sent together. Those on the same key are executed in
// the order in which they were added; those on others may overtake each other, and none
// of it is atomic. The key of a command is its first one; of MGET, MSET, DEL, UNLINK, EXISTS
// and TOUCH it is each of them. A Pipeline is for one goroutine; after Exec it is empty and can
// be used again.
type Pipeline struct {
	ring  *Ring
	body  []byte
	marks []int   // of all commands, each counted from its own beginning
	ends  []place // of each command
}

// A place is where a command ends in a Pipeline.
type place struct{ body, marks int }

// Pipeline returns an empty Pipeline.
func (r *Ring) Pipeline() *Pipeline {
	const few = 16
	return &Pipeline{ring: r, body: make([]byte, 0, 32*few), marks: make([]int, 0, 6*few), ends: make([]place, 0, few)}
}

// Do adds a command.
func (p *Pipeline) Do(args ...string) { add(p, args) }

// DoBytes adds a command whose arguments are byte slices. It copies them.
func (p *Pipeline) DoBytes(args ...[]byte) { add(p, args) }

func add[T ~string | ~[]byte](p *Pipeline, args []T) {
	p.body, p.marks = encode(p.body, p.marks, len(p.body), args)
	p.ends = append(p.ends, place{len(p.body), len(p.marks)})
}

// Len is the number of commands that wait for Exec.
func (p *Pipeline) Len() int { return len(p.ends) }

// command is the i-th command.
func (p *Pipeline) command(i int) line {
	from := place{}
	if i > 0 {
		from = p.ends[i-1]
	}
	to := p.ends[i]
	return line{p.body[from.body:to.body:to.body], p.marks[from.marks:to.marks]}
}

// Exec sends the commands and waits for all replies, which it returns in the order of the
// commands. Its error is that of the first command that has one, see [Reply.Err]; the
// others may have succeeded.
func (p *Pipeline) Exec(ctx context.Context) ([]Reply, error) {
	p.ring.metrics.commands.Inc(int64(p.Len()))
	replies := make([]Reply, p.Len())
	switch {
	case ctx.Err() != nil:
		for i := range replies {
			replies[i] = failed(notSent(context.Cause(ctx)))
		}
	case !p.once(ctx, replies):
		p.inParts(ctx, replies)
	}
	p.body, p.marks, p.ends = p.body[:0], p.marks[:0], p.ends[:0]
	for i := range replies {
		if err := p.ring.counted(replies[i]).Err(); err != nil {
			return replies, fmt.Errorf("command %d of %d: %w", i+1, len(replies), err)
		}
	}
	return replies, nil
}

// once sends each command to one node, which most often settles them all. It returns
// false, and has sent nothing, if a command is to be split.
func (p *Pipeline) once(ctx context.Context, replies []Reply) bool {
	r := p.ring
	w, known := r.owners.Load(), *r.commands.Load()
	groups := make([]group, 0, min(len(w.all), 8))
	in := make([]int, len(replies)) // the group of each command, -1 for none
	for i := range replies {
		l := p.command(i)
		cmd, err := known.admit(&l)
		if err != nil {
			replies[i], in[i] = failed(err), -1
			continue
		}
		if w.splits(&l, cmd) {
			for _, g := range groups {
				r.ops.giveBack(g.op)
			}
			return false
		}
		to, _, _ := w.route(&l, cmd)
		at := slices.IndexFunc(groups, func(g group) bool { return g.to == to })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{to: to, op: r.ops.take(), reads: true})
		}
		g := &groups[at]
		g.op.body = append(g.op.body, l.body...)
		g.op.n++
		g.reads = g.reads && cmd.reads
		in[i] = at
	}
	open := false
	for i := range groups {
		groups[i].send()
	}
	for i := range groups {
		g := &groups[i]
		g.err = g.op.wait(ctx, g.lane)
		open = open || g.err != nil
	}
	if !open {
		for i, at := range in {
			if at >= 0 {
				g := &groups[at]
				replies[i] = g.op.replies[g.taken]
				g.taken++
				open = open || !replies[i].final()
			}
		}
	}
	if !open {
		for i := range groups {
			r.ops.giveBack(groups[i].op)
		}
		return true
	}
	p.settle(ctx, w, groups, in, replies)
	return true
}

// settle goes on with commands of which some have not been executed.
func (p *Pipeline) settle(ctx context.Context, w *owners, groups []group, in []int, replies []Reply) {
	known := *p.ring.commands.Load()
	parts, of := make([]part, 0, len(in)), make([]int, 0, len(in))
	for i, at := range in {
		if at < 0 {
			continue
		}
		l := p.command(i)
		one := part{body: slices.Clone(l.body), cmd: known.of(&l)}
		if _, token, keyed := w.route(&l, one.cmd); keyed {
			one.tokens = []ring.Token{token}
		}
		parts, of = append(parts, one), append(of, i)
	}
	for i := range parts {
		g := &groups[in[of[i]]]
		g.parts = append(g.parts, &parts[i])
	}
	p.ring.rounds(ctx, w, parts, groups)
	for i := range parts {
		replies[of[i]] = parts[i].reply
	}
}

// inParts sends commands of which some are to be split.
func (p *Pipeline) inParts(ctx context.Context, replies []Reply) {
	r := p.ring
	w, known := r.owners.Load(), *r.commands.Load()
	parts, of := make([]part, 0, p.Len()), make([]int, 0, p.Len())
	lines := make([]line, p.Len())
	for i := range lines {
		l := &lines[i]
		*l = p.command(i)
		cmd, err := known.admit(l)
		if err != nil {
			replies[i] = failed(err)
			continue
		}
		some := []part{{body: l.body, cmd: cmd}}
		if w.splits(l, cmd) {
			some = w.parts(l, cmd)
		} else if _, token, keyed := w.route(l, cmd); keyed {
			some[0].tokens = []ring.Token{token}
		}
		for _, one := range some {
			parts, of = append(parts, one), append(of, i)
		}
	}
	r.rounds(ctx, w, parts, nil)
	for i := 0; i < len(parts); {
		end := i + 1
		for end < len(parts) && of[end] == of[i] {
			end++
		}
		replies[of[i]] = parts[i].reply
		if l := parts[i].of; l != nil {
			replies[of[i]] = merge(parts[i].cmd, l.keyCount(parts[i].cmd), parts[i:end])
		}
		i = end
	}
}
