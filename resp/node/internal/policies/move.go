package policies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/table"
)

// keptOf returns the policy of data that was changed while it had keys, and the version of its agreed value, which is 0
// if there is none.
func keptOf(st *table.State, data int) (kept database.Kept, version uint64, err error) {
	value := st.Values().Of(database.PolicyName(data))
	if value.Version == 0 {
		return kept, 0, nil
	}
	kept, err = database.ParseKept(value.Body)
	return kept, value.Version, err
}

// Move implements resp.PolicyChanger.
func (c *Changer) Move(ctx context.Context, data int, together, keys bool) (made bool, err error) {
	st := c.Table.State()
	kept, version, err := keptOf(st, data)
	switch {
	case err != nil:
		return true, err
	case version == 0 && !keys:
		return false, nil
	case kept.Move != nil:
		return true, errors.New("those of an earlier change have not all moved yet")
	}
	from, to := ordered(st).Of(data), database.Policy{Number: data, Together: together}
	if from.Together == together {
		return true, nil
	}
	if together {
		to.Spot = Spot(data, st, c.Token)
	}
	next := kept.Begin(from, to)
	if !keys {
		next.Move = nil
	}
	return true, c.keep(ctx, data, next, version)
}

func (c *Changer) keep(ctx context.Context, data int, next database.Kept, version uint64) error {
	return c.Agree(ctx, []agreed.Change{{Name: database.PolicyName(data), Body: next.Body(), Was: version}})
}

// PauseMove implements resp.PolicyChanger.
func (c *Changer) PauseMove(ctx context.Context, data int) (pause uint64, err error) {
	changed, end := c.Table.Changes()
	defer end()
	for {
		kept, version, err := keptOf(c.Table.State(), data)
		if err != nil || kept.Move == nil {
			return 0, err
		}
		if kept.Move.Paused == 0 {
			pause = kept.Step + 1
			if err = c.keep(ctx, data, kept.Cancelled(pause), version); err == nil || !errors.Is(err, agreed.ErrChanged) {
				return pause, err
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, fmt.Errorf("another pause has not ended: %w", ctx.Err())
		}
	}
}

// ResumeMove implements resp.PolicyChanger.
func (c *Changer) ResumeMove(ctx context.Context, data int, pause uint64) error {
	kept, version, err := keptOf(c.Table.State(), data)
	if err != nil || pause == 0 || kept.Move == nil || kept.Move.Paused != pause {
		return err
	}
	return c.keep(ctx, data, kept.Cancelled(0), version)
}

// PauseAll pauses the moves of all data.
func (c *Changer) PauseAll(ctx context.Context) (resume func(context.Context), err error) {
	paused := map[int]uint64{}
	resume = func(ctx context.Context) {
		for data, pause := range paused {
			_ = c.ResumeMove(ctx, data, pause) // or the leader does
		}
	}
	for data := range moving(c.Table.State()) {
		if paused[data], err = c.PauseMove(ctx, data); err != nil {
			resume(ctx)
			return nil, err
		}
	}
	return resume, nil
}

// Leads implements resp.PolicyChanger.
func (c *Changer) Leads() bool {
	_, leads := c.Table.Leader()
	return leads && !c.Table.State().Cluster().Paused
}

// Rate implements resp.PolicyChanger.
func (c *Changer) Rate() int64 { return c.Table.State().Cluster().Throttle }

// moving returns the moves of all data whose keys move.
func moving(st *table.State) map[int]database.Move {
	all := map[int]database.Move{}
	for _, value := range st.Values().Under(database.PolicyPrefix) {
		data, err := strconv.Atoi(strings.TrimPrefix(value.Name, database.PolicyPrefix))
		if kept, fault := database.ParseKept(value.Body); err == nil && fault == nil && kept.Move != nil {
			all[data] = *kept.Move
		}
	}
	return all
}

// A mover has keys move while this node leads.
type mover struct {
	*Changer
	running sync.WaitGroup
	mu      sync.Mutex
	driven  map[int]bool
	paused  map[int]abandonedSwap // pauses, by data
}

// look begins what is to be done.
func (m *mover) look(ctx context.Context) {
	all := moving(m.Table.State())
	for data := range m.paused {
		if all[data].Paused == 0 {
			delete(m.paused, data)
		}
	}
	for data, move := range all {
		if !m.Leads() {
			return
		}
		if move.Paused == 0 {
			m.drive(ctx, data)
			continue
		}
		was := m.paused[data]
		if was.change != move.Paused {
			was = abandonedSwap{move.Paused, time.Now()}
			m.paused[data] = was
		}
		if time.Since(was.since) > abandonedAfter {
			_ = m.ResumeMove(ctx, data, move.Paused) // as with swaps
		}
	}
}

// drive has the keys of data move, unless they do.
func (m *mover) drive(ctx context.Context, data int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.driven[data] {
		return
	}
	m.driven[data] = true
	m.running.Go(func() {
		if err := m.Drive(ctx, data); err != nil && ctx.Err() == nil {
			m.Logger.Warn("moving the keys of a database has failed and begins again", slog.Int("data", data), slog.Any("err", err))
		}
		m.mu.Lock()
		delete(m.driven, data)
		m.mu.Unlock()
	})
}
