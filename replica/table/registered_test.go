package table

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestCheckRegisteredAsksTheLeader(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		leader := g.leader()
		for _, id := range g.others("") {
			if err := g.tables[id].CheckRegistered(g.context(), 1); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		var other string
		for _, id := range g.others("") {
			if g.tables[id] != leader {
				other = id
			}
		}
		g.must(leader.Apply(g.context(), &Register{Node: other, Incarnation: 2}))
		if err := g.tables[other].CheckRegistered(g.context(), 1); !errors.Is(err, ErrIncarnation) {
			t.Errorf("a superseded start: %v", err)
		}
		index := leader.State().Index()
		g.must(leader.Apply(g.context(), &Forget{Node: other, Incarnation: 2}))
		if err := g.tables[other].CheckRegistered(g.context(), 2); !errors.Is(err, ErrIncarnation) {
			t.Errorf("a start that was taken out: %v", err)
		}
		g.cut[other] = true
		if err := g.tables[other].CheckRegistered(g.context(), 2); err == nil || IsRefused(err) {
			t.Errorf("where no leader answers: %v", err)
		}
		g.cut[other] = false
		if now := leader.State().Index(); now > index+2 { // Forget, and a barrier
			t.Errorf("the questions are %d entries of the log", now-index)
		}
	})
}

// A leader of an earlier build refuses a Register that is applied already, and does not know the
// question. Its answer says nothing about a start that is registered.
func TestCheckRegisteredMeansNothingToEarlierBuilds(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.change = func(cfg *Config) {
			cfg.Forward = func(ctx context.Context, node string, message []byte) ([]byte, error) {
				switch message[0] {
				case messageProbe:
					return g.forward(ctx, cfg.ID, node, message)
				case messageCommand:
					done, err := g.tables[node].propose(ctx, message[1:])
					return reply(done, err), nil
				}
				return nil, fmt.Errorf("%w: message %d", ErrMalformed, message[0])
			}
		}
		g.start(3)
		for _, id := range g.others("") {
			table := g.tables[id]
			if table == g.leader() {
				continue
			}
			if _, err := table.Decide(g.context(), &Register{Node: id, Incarnation: 1}); !errors.Is(err, ErrIncarnation) {
				t.Errorf("a leader of an earlier build takes a repeated Register: %v", err)
			}
			if err := table.CheckRegistered(g.context(), 1); err == nil || IsRefused(err) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
