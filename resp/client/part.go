package client

import (
	"errors"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/ring"
)

// A part is what one node does of a command: mostly all of it.
type part struct {
	body   []byte // the command in RESP
	keys   []int  // of a command that is split: which of its keys, by their order
	tokens []ring.Token
	cmd    *command
	of     *line // of a command that is split: the whole

	to     *remote   // where a redirect leads
	hops   int       // redirects followed since the last pause
	failed []*remote // that have not been reached since the last pause
	waits  bool      // for earlier parts with a key of it; not sent in this round
	done   bool
	reply  Reply
}

// end settles a part.
func (p *part) end(r Reply) { p.reply, p.done = r, true }

// A verdict is what follows from an outcome.
type verdict int

const (
	settled  verdict = iota
	goThere          // another node has it
	goOn             // the node has not been reached
	goLater          // no node executes it now
	goSingly         // the keys do not lie at one node
)

// judge says what follows from the outcome of a part. alone: whatever else travelled with
// it only reads. If it is not known what became of a write, no read that travelled with it
// is repeated, of whatever key: the read may have come before the write, which may have
// more keys than the client knows of, or be one of all keys.
//
// Invariant: a script that may have written is not sent again. Its error reply may be a text
// of its own, which can be the same bytes as a server's refusal.
func (p *part) judge(r *Reply, alone bool) verdict {
	switch {
	case r.kind == Failed && refusesClient(r.err):
		return settled
	case r.kind == Failed && (errors.Is(r.err, ErrNotSent) || p.cmd.reads && alone):
		return goOn
	case r.kind != Error:
		return settled
	}
	switch code := r.code(); {
	case p.cmd.scripted && !p.cmd.reads:
		return settled
	case code == codeMoved:
		return goThere
	case notNow[code]:
		return goLater
	case code == codeUnknown && p.cmd.reads:
		return goLater
	case code == codeCross && len(p.keys) > 1:
		return goSingly
	}
	return settled
}

// shares tells whether two parts have a key of the same token.
func (p *part) shares(other *part) bool {
	return slices.ContainsFunc(p.tokens, func(t ring.Token) bool { return slices.Contains(other.tokens, t) })
}

// partOf is the part of a split command with some of its keys.
func partOf(l *line, cmd *command, keys []int, token func([]byte) ring.Token) part {
	step := cmd.split.step
	args := [][]byte{l.arg(0)}
	p := part{keys: keys, cmd: cmd, of: l}
	for _, i := range keys {
		at := 1 + i*step
		p.tokens = append(p.tokens, token(l.arg(at)))
		for j := range step {
			args = append(args, l.arg(at+j))
		}
	}
	p.body, _ = encode(nil, nil, 0, args)
	return p
}

func mergeOK(_ int, parts []part) Reply { return parts[0].reply }

func mergeSums(_ int, parts []part) Reply {
	sum := Reply{kind: Integer}
	for i := range parts {
		sum.n += parts[i].reply.n
	}
	return sum
}

// mergeLists puts the elements back into the order of the keys.
func mergeLists(n int, parts []part) Reply {
	list := Reply{kind: List, elems: make([]Reply, n)}
	for i := range parts {
		p := &parts[i]
		if len(p.reply.elems) != len(p.keys) {
			return failed(unknown(brokenReply("%s elements for %s keys",
				strconv.Itoa(len(p.reply.elems)), strconv.Itoa(len(p.keys)))))
		}
		for j, key := range p.keys {
			list.elems[key] = p.reply.elems[j]
		}
	}
	return list
}

// merge is the reply to a split command, from those to its parts.
func merge(cmd *command, n int, parts []part) Reply {
	var failure error
	through := 0
	for i := range parts {
		if err := parts[i].reply.Err(); err == nil {
			through++
		} else if failure == nil || errors.Is(err, ErrUnknownOutcome) {
			failure = err
		}
	}
	switch {
	case failure == nil:
		return cmd.split.merge(n, parts)
	case through > 0 && !cmd.reads && !errors.Is(failure, ErrUnknownOutcome):
		return failed(&partError{failure})
	}
	return failed(failure)
}

// A partError is that of a write of which other parts were executed.
type partError struct{ cause error }

func (e *partError) Error() string {
	return "a part of the write was made, another not: " + e.cause.Error()
}

// Unwrap leaves out that of the cause's outcome which holds for its part alone.
func (e *partError) Unwrap() error { return ErrUnknownOutcome }
