package replica

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
)

// noConsensus is the consensus of a node that reaches no other.
type noConsensus struct{}

func (noConsensus) Leader() (string, bool)                                  { return "", false }
func (noConsensus) Confirm(context.Context) (uint64, error)                 { return 0, errors.New("nobody") }
func (noConsensus) Barrier(context.Context) error                           { return errors.New("nobody") }
func (noConsensus) Term() uint64                                            { return 0 }
func (noConsensus) ApplyIn(context.Context, uint64, table.Command) error    { return table.ErrTerm }
func (noConsensus) Alone() (uint64, bool)                                   { return 0, false }
func (noConsensus) Fault() error                                            { return nil }
func (noConsensus) TransferLeadership(context.Context) error                { return nil }
func (noConsensus) TransferLeadershipFromStalledDisk(context.Context) error { return nil }

// Whatever another node asks, there is an answer or an error.
func FuzzAnswer(f *testing.F) {
	for _, q := range []any{&leaseRequest{Incarnation: 1, Wall: 2, Applied: 3, Refusing: 4}, &lease.FenceRequest{Node: "a", Incarnation: 3}, &recreateRequest{[]string{"a"}, table.Encode(&table.Recreate{Node: "b"})}} {
		text, _ := json.Marshal(q)
		f.Add(append([]byte{questionLease}, text...))
		f.Add(append([]byte{questionFence}, text...))
		f.Add(append([]byte{questionRecreate}, text...))
	}
	f.Add([]byte(strings.Repeat("L", maxQuestion+1)))
	f.Add([]byte{})
	e := &Engine{lease: lease.New(lease.Config{Clock: func() time.Duration { return 0 }, Consensus: noConsensus{}})}
	e.initParts()
	e.cfg.Self = "a"
	f.Fuzz(func(t *testing.T, question []byte) {
		if len(question) > 0 && question[0] == questionScrub {
			return // it needs a store
		}
		if len(question) > 0 && question[0] == questionFence {
			var r lease.FenceRequest
			if json.Unmarshal(question[1:], &r) == nil && r.Node != "a" {
				return // what others have is the feed's
			}
		}
		answer, err := e.Answer(t.Context(), "b", question)
		if err == nil && !json.Valid(answer) || err != nil && answer != nil {
			t.Errorf("%q, %v", answer, err)
		}
	})
}
