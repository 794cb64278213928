package table

import (
	"context"
	"errors"
	"fmt"
)

// Messages between nodes begin with what they are.
const (
	messageCommand = 1 // then a command
	messageProbe   = 2 // nothing more
	messageDisk    = 3 // nothing more; earlier builds answer with an error
	// messageRegistered is followed by a Register, which is not proposed: see
	// [Table.CheckRegistered]. Earlier builds answer with an error.
	messageRegistered = 4
)

// Replies to a command begin with what became of it.
const (
	replyApplied     = 1 // then the index
	replyRefused     = 2 // then the index, the number of the reason, and words
	replyNotProposed = 3 // then the leader that is known instead, if any
	replyUnknown     = 4
	replyProbe       = 5 // then the server's id and the index that it has applied
	replyDisk        = 6 // nothing more: the disk works
)

// maxWords bounds what a reply says in words, in bytes.
const maxWords = 200

// HandleForward answers a message that another node's [Config.Forward] has brought.
// An error means that it was no message, or that this node cannot take part now.
func (t *Table) HandleForward(ctx context.Context, message []byte) ([]byte, error) {
	ctx, leave, err := t.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if len(message) == 0 {
		return nil, fmt.Errorf("%w: an empty message", ErrMalformed)
	}
	switch message[0] {
	case messageProbe:
		// A voter that cannot take part is replaced as one that does not answer is.
		if err := t.takesPart(); err != nil {
			return nil, err
		}
		return t.answerProbe(), nil
	case messageDisk:
		if err := t.checkDisk(ctx); err != nil {
			return nil, err
		}
		return []byte{replyDisk}, nil
	case messageRegistered:
	case messageCommand:
		// What cannot be read must not get into the log, where no node could read it.
		if _, err := Decode(message[1:]); err != nil {
			return reply(outcome{}, refuse(ErrInvalid, "%v", err)), nil
		}
	default:
		return nil, fmt.Errorf("%w: message %d", ErrMalformed, message[0])
	}
	leader, isSelf := t.Leader()
	if !isSelf {
		return notProposed(leader), nil
	}
	done, err := t.answerHere(ctx, request{message[0], message[1:]})
	return reply(done, err), nil
}

// proposeOnce is propose, for a leader, that takes a Register which has been applied already as
// applied: the answer that said so was lost, and the node may follow no table from which it
// could learn that.
func (t *Table) proposeOnce(ctx context.Context, data []byte) (outcome, error) {
	done, err := t.propose(ctx, data)
	if !errors.Is(err, ErrIncarnation) {
		return done, err
	}
	command, decodeErr := Decode(data)
	if r, ok := command.(*Register); decodeErr == nil && ok && t.State().registered(r) {
		err = nil
	}
	return done, err
}

func notProposed(leader string) []byte {
	c := writer()
	c.buf = append(c.buf, replyNotProposed)
	c.text(&leader)
	return c.buf
}

func reply(done outcome, err error) []byte {
	c := writer()
	number := reasonOf(err)
	switch {
	case err == nil:
		c.buf = append(c.buf, replyApplied)
		c.number(&done.index)
	case number >= 0:
		c.buf = append(c.buf, replyRefused)
		c.number(&done.index)
		n := uint8(number)
		small(c, &n, uint8(len(refusals)-1))
		words := err.Error()
		words = words[:min(len(words), maxWords)]
		c.text(&words)
	case errors.Is(err, errNotProposed):
		return notProposed("")
	default:
		c.buf = append(c.buf, replyUnknown)
	}
	return c.buf
}

func reasonOf(err error) int {
	for i, r := range refusals {
		if errors.Is(err, r) {
			return i
		}
	}
	return -1
}

// readReply returns what became of a command, and the leader to ask instead if this
// was none. What cannot be read says nothing, so the outcome is unknown.
func readReply(data []byte) (outcome, string, error) {
	if len(data) == 0 {
		return outcome{}, "", fmt.Errorf("table: %w: an empty reply", ErrUnknownOutcome)
	}
	c := reader(data[1:])
	var done outcome
	var words, leader string
	switch data[0] {
	case replyApplied:
		c.number(&done.index)
	case replyRefused:
		c.number(&done.index)
		var number uint8
		small(c, &number, uint8(len(refusals)-1))
		c.text(&words)
		done.err = &refusal{refusals[number], words}
	case replyNotProposed:
		c.text(&leader)
		done.err = errNotProposed
	default:
		done.err = ErrUnknownOutcome
	}
	if err := c.finish(); err != nil {
		return outcome{}, "", fmt.Errorf("table: %w: %w", ErrUnknownOutcome, err)
	}
	return done, leader, done.err
}

// A refusal is one that was decided at another node, in its words.
type refusal struct {
	reason error
	words  string
}

func (r *refusal) Error() string { return r.words }
func (r *refusal) Unwrap() error { return r.reason }

// answerProbe answers with the index that the library has handed over for application. A node that
// does not come to the end of an entry has not caught up, however few entries it lacks.
func (t *Table) answerProbe() []byte {
	c := writer()
	c.buf = append(c.buf, replyProbe)
	server, applied := t.disk.server, t.raft.AppliedIndex()
	if t.fsm.applyingFor() > t.cfg.HeartbeatTimeout {
		applied = 0
	}
	c.text(&server)
	c.number(&applied)
	return c.buf
}

// probe asks a node which server it is and how far it has applied the log.
func (t *Table) probe(ctx context.Context, node string) (server string, applied uint64, err error) {
	data, err := t.cfg.Forward(ctx, node, []byte{messageProbe})
	if err != nil {
		return "", 0, fmt.Errorf("table: probe %s: %w", node, err)
	}
	if len(data) == 0 || data[0] != replyProbe {
		return "", 0, fmt.Errorf("table: probe %s: %w", node, ErrMalformed)
	}
	c := reader(data[1:])
	c.text(&server)
	c.number(&applied)
	return server, applied, c.finish()
}
