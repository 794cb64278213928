package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/replica/members"
)

// # Founding a cluster together
//
// Several nodes that are told to join each other, and how many they are (bootstrap-expect n), found
// one cluster. Gossip shows the nodes that could: n or more that are in no cluster. The one with
// the lowest id is the founder. It draws a generation, writes it into its directory, and asks the
// others for a promise to enter that generation and no other. A promise is written before it is
// given. With n-1 promises the founder founds the cluster.
//
// Why not two clusters: each one founded so has the promises, or is the choice, of n nodes, and a
// directory makes one choice. So with fewer than 2n such nodes two clusters are impossible, however
// gossip is split. Two are possible if 2n nodes or more are told n, with n on each side of a split,
// or if directories are emptied, since their choices are then forgotten. The generations of two
// clusters differ, so they never merge: when they meet, both sides report it (package members,
// ErrGeneration), and nodes that are in neither wait until only one can be seen.
//
// A choice can be undone only while nothing can have come of it. The founder may undo it before it
// begins to found, in favour of an existing cluster or of a founder with a lower id. Nodes that
// promised may undo it when the founder says that it has chosen something else, or asks again under
// the same id, since its directory is then gone together with all that it may have founded. If the
// founder never returns, they wait and say for which node: they hold no data, so empty directories
// can start again.

// bootstrap makes this node the founder, if it is its turn.
func (en *entry) bootstrap(b membership) error {
	there, strange := en.candidates()
	n := en.c.n.cfg.BootstrapExpect
	if len(there) < n {
		text := fmt.Sprintf("for %d nodes with bootstrap-expect %d; so far there are %d: %s", n, n, len(there), strings.Join(there, ", "))
		if len(strange) > 0 {
			text += "; not counted: " + strings.Join(strange, ", ")
		}
		return fmt.Errorf("%w %s", errWaiting, text)
	}
	if there[0] != en.c.n.id {
		return fmt.Errorf("%w for %s, which has the lowest id of %s, to found the cluster", errWaiting, there[0], strings.Join(there, ", "))
	}
	was := b
	b.Generation, b.Founder = newGeneration(), en.c.n.id
	if err := en.choose(was, b); err != nil {
		return err
	}
	return en.collectPromises(b, there)
}

// candidates returns the nodes that could found a cluster with this one, itself included, sorted by
// id, and the nodes that cannot, with the reason.
func (en *entry) candidates() (there, strange []string) {
	n := en.c.n.cfg.BootstrapExpect
	for _, m := range en.c.members.Nodes() {
		switch {
		case m.Status != members.Alive || m.Role != members.RoleStore || m.Generation != 0:
		case m.Expect != n && m.ID != en.c.n.id:
			strange = append(strange, fmt.Sprintf("%s with bootstrap-expect %d", m.ID, m.Expect))
		default:
			there = append(there, m.ID)
		}
	}
	return there, strange
}

// resumeFounding goes on with founding what an earlier start, or an earlier attempt, has
// chosen, as long as that can still be taken back.
func (en *entry) resumeFounding(b membership) error {
	cfg := &en.c.n.cfg
	en.choice.Lock()
	founding := en.founding
	en.choice.Unlock()
	switch {
	case en.foundsAlone(), founding:
		return nil
	case cfg.BootstrapExpect == 0, len(en.generations()) > 0:
		return errors.Join(en.undoChoice(b), errChosen)
	}
	there, _ := en.candidates()
	return en.collectPromises(b, there)
}

// undoChoice forgets a choice of which nothing can have come.
func (en *entry) undoChoice(b membership) error {
	return en.choose(b, membership{Format: b.Format, ID: b.ID, Node: b.Node, Cluster: b.Cluster})
}

// collectPromises asks for promises, and returns nil once there are enough. From then on the
// founder does not go back.
func (en *entry) collectPromises(b membership, there []string) error {
	ctx, cancel := context.WithTimeout(en.c.ctx, enterTimeout)
	defer cancel()
	n := en.c.n.cfg.BootstrapExpect
	var asking sync.WaitGroup
	var mu sync.Mutex
	promised := 1 // its own
	var faults []error
	for _, id := range there {
		if id == en.c.n.id {
			continue
		}
		asking.Go(func() {
			a, err := en.c.ask(ctx, id, &question{Kind: askPromise, Generation: b.Generation, Expect: n})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				faults = append(faults, fmt.Errorf("%s: %w", id, err))
			case a.Refusal != "":
				faults = append(faults, fmt.Errorf("%s: %s", id, a.Refusal))
			default:
				promised++
			}
		})
	}
	asking.Wait()
	if promised < n {
		slices.SortFunc(faults, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
		return fmt.Errorf("%w for the promises of %d nodes to enter the cluster that this node founds; %d have it: %w", errWaiting, n, promised, errors.Join(faults...))
	}
	en.choice.Lock()
	defer en.choice.Unlock()
	if en.membership != b {
		return errChosen
	}
	en.founding = true
	return nil
}

// promise answers a founder.
func (en *entry) promise(founder string, q *question) *answer {
	met := len(en.generations()) > 0
	en.choice.Lock()
	defer en.choice.Unlock()
	b, refusal := en.membership.promise(candidateState{
		id: en.c.n.id, role: en.c.n.cfg.Role, expect: en.c.n.cfg.BootstrapExpect,
		begun: en.c.table.Known(), founding: en.founding, met: met,
	}, founder, q)
	if refusal == "" {
		if err := en.chooseLocked(b); err != nil {
			refusal = err.Error()
		}
	}
	return &answer{Refusal: refusal}
}

// awaitFounder waits for the cluster that another node was promised to found.
func (en *entry) awaitFounder(b membership) error {
	found := en.generations()
	if len(found[b.Generation]) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(en.c.ctx, enterTimeout)
	defer cancel()
	a, err := en.c.ask(ctx, b.Founder, &question{Kind: askChoice})
	switch {
	case err != nil:
		return fmt.Errorf("%w for %s, which this node has promised to follow, to found the cluster (it holds no data yet: if %s never comes back, start with empty directories): %w",
			errWaiting, b.Founder, b.Founder, err)
	case a.Generation != 0 && a.Generation != b.Generation:
		return errors.Join(en.undoChoice(b), errChosen)
	}
	return fmt.Errorf("%w for %s to found the cluster", errWaiting, b.Founder)
}
