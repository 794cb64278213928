package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// reachedTimeout bounds the questions of lookForward.
const reachedTimeout = time.Second

// lookForward asks the other nodes how far the last registered start of this one had come, and
// notes in the run that something is lost if the store has not come so far. So a directory of an
// earlier moment is not taken for an intact one: see [replica.Engine.Reached].
//
// Where other voters have to register the start, it waits for some other node to answer. Nodes of
// earlier builds know nothing.
func (c *cluster) lookForward(ctx context.Context) error {
	run := &c.n.run
	if intact, _ := run.intact(); !intact || run.Registered == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reachedTimeout)
	defer cancel()
	var asking sync.WaitGroup
	var mu sync.Mutex
	reached, by := uint64(0), ""
	answered := 0
	for _, node := range c.peers() {
		asking.Go(func() {
			a, err := c.ask(ctx, node, &question{Kind: askReached, Incarnation: run.Registered})
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answered++
			if a.Reached > reached {
				reached, by = a.Reached, node
			}
		})
	}
	asking.Wait()
	others := slices.DeleteFunc(c.table.Voters(), func(id string) bool { return id == c.n.id })
	if len(others) > 0 && answered == 0 {
		return fmt.Errorf("%w for another node to answer", errWaiting)
	}
	if reached < c.n.store.Recovered() {
		return nil
	}
	c.n.cfg.Logger.Warn("the directory is of an earlier moment than what this node has acknowledged: it was put back from a snapshot, or the disk has lost writes; "+
		"other nodes' copies count instead", "node", c.n.id, "dir", c.n.cfg.Dir, "by", by)
	run.Lost = true
	if err := run.save(c.n.cfg.Dir); err != nil {
		return hopeless{err}
	}
	return nil
}
