package rehome

import (
	"context"
	"errors"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
)

// A Cluster is what a driver needs of its node.
type Cluster interface {
	// View returns the agreed policy that the node goes by, its version, and whether the node leads.
	View() (kept database.Kept, version uint64, leads bool)
	// Agree changes the policy that has a version. It returns once the node goes by the new one, or a later one.
	Agree(ctx context.Context, next database.Kept, version uint64) error
	// Drained returns once all owners go by a step, and run nothing that began before.
	Drained(step uint64) error
	// Plan returns up to which position the next step may go.
	Plan(step uint64) (until uint64, err error)
	// Keys returns the stored keys of a step at their old places.
	Keys(step uint64) ([][]byte, error)
	// Garbage returns keys that do not count; none if there are none.
	Garbage(step uint64) ([][]byte, error)
	// Copy copies keys to their new places. It returns how many bytes were read.
	Copy(step uint64, keys [][]byte) (bytes int64, err error)
	// Drop deletes keys that do not count.
	Drop(step uint64, keys [][]byte) error
	// Rate is how many bytes a second may move; 0 is any number.
	Rate() int64
}

// errReplaced says that something else has changed the policy.
var errReplaced = errors.New("the step was replaced by another one")

// Drive moves keys until all have moved, the move is paused, the node does not lead any more, or something fails. To begin
// again is right in each case.
func Drive(ctx context.Context, c Cluster) error {
	d := driver{ctx: ctx, Cluster: c}
	for first := true; ; first = false {
		kept, version, leads := c.View()
		if kept.Move == nil || kept.Move.Paused != 0 || !leads || ctx.Err() != nil {
			return ctx.Err()
		}
		if first {
			if err := d.clean(kept, version); err != nil {
				return err
			}
			continue
		}
		if kept.Move.Cursor == database.End {
			return d.agree(database.Kept{Together: kept.Together, Spot: kept.Spot, Flips: kept.Flips, Step: kept.Step + 1}, version)
		}
		if err := d.step(kept, version); err != nil {
			// Requests must not wait until the next attempt.
			if kept, version, leads := c.View(); leads && kept.Move != nil && kept.Move.Paused == 0 && kept.Move.Until > kept.Move.Cursor {
				_ = d.agree(kept.Cancelled(0), version)
			}
			return err
		}
	}
}

type driver struct {
	Cluster
	ctx context.Context
}

// agreeTimeout is how long the driver waits for an agreement.
const agreeTimeout = 3 * time.Second

func (d *driver) agree(next database.Kept, version uint64) error {
	ctx, cancel := context.WithTimeout(d.ctx, agreeTimeout)
	defer cancel()
	return d.Agree(ctx, next, version)
}

// clean deletes what earlier steps have left that were not finished: those of another driver may be under way still.
func (d *driver) clean(kept database.Kept, version uint64) error {
	next := kept.Cancelled(0)
	if err := d.agree(next, version); err != nil {
		return err
	}
	if err := d.Drained(next.Step); err != nil {
		return err
	}
	for {
		keys, err := d.Garbage(next.Step)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := d.Drop(next.Step, keys); err != nil {
			return err
		}
	}
}

// step moves some keys. No key lies at two places when it begins, nor when it has ended without an error.
func (d *driver) step(kept database.Kept, version uint64) error {
	began := time.Now()
	until, err := d.Plan(kept.Step)
	if err != nil {
		return err
	}
	next := kept.Next(func(m *database.Move) { m.Low, m.Until, m.High = m.Cursor, until, until })
	if err := d.agree(next, version); err != nil {
		return err
	}
	if err := d.Drained(next.Step); err != nil {
		return err
	}
	keys, err := d.Keys(next.Step)
	if err != nil {
		return err
	}
	bytes, err := d.Copy(next.Step, keys)
	if err != nil {
		return err
	}
	now, version, _ := d.View()
	if now.Step != next.Step {
		return errReplaced
	}
	passed := *next.Move
	passed.Cursor = until
	next.Move = &passed
	if err := d.agree(next, version); err != nil {
		return err
	}
	if err := d.Drop(next.Step, keys); err != nil {
		return err
	}
	if rate := d.Rate(); rate > 0 {
		pause := time.Duration(float64(bytes)/float64(rate)*float64(time.Second)) - time.Since(began)
		if pause > 0 {
			timer := time.NewTimer(pause)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-d.ctx.Done():
			}
		}
	}
	return nil
}
