package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/scrub"
)

// Kinds of questions between engines: the first byte of each.
const (
	questionLease    = 'L'
	questionFence    = 'F'
	questionScrub    = 'S'
	questionReach    = 'R'
	questionRecreate = 'C'
)

// maxQuestion bounds a question and its answer, in bytes; maxLong those of a scrub, which contain
// keys, and of a recreation, which names rows.
const (
	maxQuestion = 64 << 10
	maxLong     = 16 << 20
)

func bound(kind byte) int {
	if kind == questionScrub || kind == questionRecreate {
		return maxLong
	}
	return maxQuestion
}

// ask sends a question to another node's engine.
func (e *Engine) ask(ctx context.Context, node string, kind byte, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	reply, err := e.lease.Cfg.Ask(ctx, node, append([]byte{kind}, text...))
	if err != nil {
		return err
	}
	if len(reply) > bound(kind) {
		return fmt.Errorf("%w: an answer of %d bytes", frame.ErrMalformed, len(reply))
	}
	if err := json.Unmarshal(reply, answer); err != nil {
		return fmt.Errorf("%w: %w", frame.ErrMalformed, err)
	}
	return nil
}

// Answer answers a question of the engine of the node from, whose identity the caller has verified.
func (e *Engine) Answer(ctx context.Context, from string, question []byte) ([]byte, error) {
	if len(question) == 0 || len(question) > bound(question[0]) {
		return nil, fmt.Errorf("%w: a question of %d bytes", frame.ErrMalformed, len(question))
	}
	kind, text := question[0], question[1:]
	switch kind {
	case questionLease:
		var r leaseRequest
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", frame.ErrMalformed, err)
		}
		return json.Marshal(e.leaseServer.grantLease(ctx, from, &r))
	case questionFence:
		var r lease.FenceRequest
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", frame.ErrMalformed, err)
		}
		reply, err := e.answerFence(ctx, &r)
		if err != nil {
			return nil, err
		}
		return json.Marshal(&reply)
	case questionReach:
		var r lease.ReachRequest
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", frame.ErrMalformed, err)
		}
		return json.Marshal(e.reachAll(ctx, r.Nodes))
	case questionRecreate:
		var r recreateRequest
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", frame.ErrMalformed, err)
		}
		return json.Marshal(e.answerRecreate(ctx, &r))
	case questionScrub:
		var r scrub.Request
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", frame.ErrMalformed, err)
		}
		return json.Marshal(e.scrub.Answer(ctx, from, &r))
	}
	return nil, fmt.Errorf("%w: a question of kind %d", frame.ErrMalformed, kind)
}
