package policies

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A Changer proposes changes for one node. Its methods may be called from several goroutines at once.
type Changer struct {
	Table *table.Table
	// Propose has the table accept a command; shows reports whether a state has it.
	Propose func(ctx context.Context, c table.Command, shows func(*table.State) bool) error
	// Starts returns the starts of all nodes if they understand policies.
	Starts func(ctx context.Context, st *table.State) ([]table.NodeStart, error)
	// Agree changes agreed values.
	Agree func(ctx context.Context, changes []agreed.Change) error
	// Token is that of stored keys.
	Token func(stored []byte) ring.Token
	// Drive has the keys of data move, until all have moved or this node does not lead any more.
	Drive  func(ctx context.Context, data int) error
	Logger *slog.Logger
}

// Begin begins to change the policy of a database: requests for its keys wait until the change ends. It
// returns the number of the change.
func (c *Changer) Begin(ctx context.Context, n int) (change uint64, err error) {
	st := c.Table.State()
	set := &table.SetPolicy{Policy: database.Policy{Number: n, Change: rand.Uint64() | 1}}
	if set.Starts, err = c.Starts(ctx, st); err != nil {
		return 0, err
	}
	return set.Policy.Change, c.Propose(ctx, set, func(st *table.State) bool { return st.Policies().Of(n).Change == set.Policy.Change })
}

// End ends a change with a policy, or, if that has the change, with the one from before. A database that is kept together gets a spot.
func (c *Changer) End(ctx context.Context, change uint64, p database.Policy) error {
	if p.Together {
		p.Spot = Spot(p.Number, c.Table.State(), c.Token)
	}
	return c.Propose(ctx, &table.SetPolicy{Policy: p, Ends: change}, func(st *table.State) bool { return st.Policies().Of(p.Number).Change != change })
}

// Spot returns where a database is to be kept together: at a node with as few others as can be, and there
// as far from them as can be.
func Spot(n int, st *table.State, token func([]byte) ring.Token) int {
	return spot(n, ordered(st), func(t ring.Token) string {
		row, ok := st.Row(t)
		if !ok {
			return ""
		}
		return row.Primary
	}, token)
}

func spot(n int, policies *database.Policies, primary func(ring.Token) string, token func([]byte) ring.Token) int {
	type candidate struct {
		spot, crowd int
		room        uint32
	}
	var taken []ring.Token
	for _, p := range policies.All() {
		if p.Together && p.Number != n {
			taken = append(taken, token(database.AppendKey(nil, p.Head(), nil)))
		}
	}
	var all []candidate
	for spot := range database.Spots {
		c := candidate{spot: spot, room: 1 << 31}
		at := token(database.AppendKey(nil, database.TogetherHead(n, spot), nil))
		for _, other := range taken {
			c.room = min(c.room, uint32(at-other), uint32(other-at))
			if primary(other) == primary(at) {
				c.crowd++
			}
		}
		all = append(all, c)
	}
	return slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.crowd, b.crowd), cmp.Compare(b.room, a.room))
	}).spot
}

// Numbers reads numbers of some of so many databases.
func Numbers(texts []string, databases int) (all []int, err error) {
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= databases {
			return nil, fmt.Errorf("%q is not one of the %d databases", text, databases)
		}
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all, nil
}

// Founding returns the policies of a cluster that is founded with some databases kept together.
func Founding(together []int, token func([]byte) ring.Token) *database.Policies {
	var policies *database.Policies
	for _, n := range together {
		at := spot(n, policies, func(ring.Token) string { return "" }, token)
		policies = policies.With(database.Policy{Number: n, Together: true, Spot: at})
	}
	return policies
}

// abandonedAfter is how long a change may take before the leader ends it without a new policy: whoever
// began it is not there any more, or cannot reach a majority. It is longer than a command to the cluster
// may take.
const abandonedAfter = 10 * time.Second

// lookEvery is how often Run looks for something to do.
const lookEvery = 250 * time.Millisecond

// Run has keys move, and ends changes of policies, swaps and pauses that were abandoned, while this node leads, until ctx
// ends.
func (c *Changer) Run(ctx context.Context) {
	since := map[uint64]time.Time{}
	var swap abandonedSwap
	moves := mover{Changer: c, driven: map[int]bool{}, paused: map[int]abandonedSwap{}}
	defer moves.running.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		swap.end(ctx, c)
		moves.look(ctx)
		next := map[uint64]time.Time{}
		for _, p := range c.Table.State().Policies().All() {
			if p.Change == 0 {
				continue
			}
			next[p.Change] = cmp.Or(since[p.Change], time.Now())
			if _, leads := c.Table.Leader(); leads && time.Since(next[p.Change]) > abandonedAfter {
				change := p.Change
				p.Change = 0
				// Whoever ended it first has won; what fails is tried again.
				_, _ = c.Table.Apply(ctx, &table.SetPolicy{Policy: p, Ends: change})
			}
		}
		since = next
	}
}

// Describe returns the policy of a database that shows some data, as lines of a name and a value.
func (c *Changer) Describe(n, data int) string {
	st := c.Table.State()
	p := ordered(st).Of(data)
	about := fmt.Sprintf("database:%d\r\npolicy:%s\r\nchanging:%t\r\n", n, p, p.Change != 0)
	if p.Moving {
		about += fmt.Sprintf("moved_percent:%d\r\nmove_paused:%t\r\n", p.Moved(), p.Move.Paused != 0)
	}
	if !p.Together {
		return about
	}
	at := c.Token(database.AppendKey(nil, p.Head(), nil))
	row, _ := st.Row(at)
	return about + fmt.Sprintf("token:%08x\r\nprimary:%s\r\n", uint32(at), row.Primary)
}
