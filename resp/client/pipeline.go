package client

import (
	"context"
	"fmt"

	"github.com/ringside-kv/ringside/ring"
)

// A Pipeline is commands that are sent together. Those on the same key are executed in
// the order in which they were added; those on others may overtake each other, and none
// of it is atomic. It is for one goroutine; after Exec it is empty and can be used again.
type Pipeline struct {
	ring  *Ring
	body  []byte
	marks []int   // of all commands, each counted from its own beginning
	ends  []place // of each command
}

// A place is where a command ends in a Pipeline.
type place struct{ body, marks int }

// Pipeline returns an empty Pipeline.
func (r *Ring) Pipeline() *Pipeline { return &Pipeline{ring: r} }

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
	r := p.ring
	w, known := r.owners.Load(), *r.commands.Load()
	r.metrics.commands.Inc(int64(p.Len()))
	replies := make([]Reply, p.Len())
	// of is which command a part belongs to; lines are those that are split.
	parts, of := make([]part, 0, p.Len()), make([]int, 0, p.Len())
	tokens := make([]ring.Token, 0, p.Len())
	lines := make([]line, p.Len())
	for i := range lines {
		l := &lines[i]
		*l = p.command(i)
		if l.args() == 0 || len(l.arg(0)) == 0 {
			replies[i] = failed(errNothing)
			continue
		}
		cmd := known.of(l)
		if err := cmd.refusal(l); err != nil {
			replies[i] = failed(err)
			continue
		}
		if cmd.split != nil && w.token != nil && l.severalKeys(cmd) {
			for _, one := range w.parts(l, cmd) {
				parts, of = append(parts, one), append(of, i)
			}
			continue
		}
		one := part{body: l.body, cmd: cmd}
		if at := cmd.key(l); at > 0 && w.token != nil {
			tokens = append(tokens, w.token(l.arg(at)))
			one.tokens = tokens[len(tokens)-1 : len(tokens) : len(tokens)]
		}
		parts, of = append(parts, one), append(of, i)
	}
	if len(parts) > 0 {
		r.rounds(ctx, parts, nil)
	}
	for i := 0; i < len(parts); {
		end := i + 1
		for end < len(parts) && of[end] == of[i] {
			end++
		}
		reply := parts[i].reply
		if l := parts[i].of; l != nil {
			reply = merge(parts[i].cmd, (l.args()-1)/parts[i].cmd.split.step, parts[i:end])
		}
		replies[of[i]] = r.counted(reply)
		i = end
	}
	n := p.Len()
	p.body, p.marks, p.ends = p.body[:0], p.marks[:0], p.ends[:0]
	for i := range replies {
		if err := replies[i].Err(); err != nil {
			return replies, fmt.Errorf("command %d of %d: %w", i+1, n, err)
		}
	}
	return replies, nil
}
