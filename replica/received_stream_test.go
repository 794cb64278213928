package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A node receives so many handoffs at a time; a node that hands over again comes in the
// place of itself, once its earlier stream has ended.
func TestReceiversTakeTurns(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var as receivedStreams
		arrive := func(from string) (*receivedStream, error) {
			ctx, cancel := context.WithCancel(t.Context())
			a := &receivedStream{e: new(Engine), ctx: ctx, cancel: cancel, from: from}
			return a, as.admit(ctx, a, 1)
		}
		first, err := arrive("a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := arrive("b"); !errors.Is(err, stream.ErrReceiving) {
			t.Error(err)
		}
		ended := false
		go func() {
			<-first.ctx.Done()
			time.Sleep(time.Second) // of the test's time, until what it was given is applied
			ended = true
			as.remove(first)
		}()
		again, err := arrive("a")
		if err != nil || !ended {
			t.Errorf("%v; the earlier stream has ended: %v", err, ended)
		}
		as.remove(first) // once more, which is not again's end
		if _, err := arrive("b"); !errors.Is(err, stream.ErrReceiving) {
			t.Error(err)
		}
		as.remove(again)
		if _, err := arrive("b"); err != nil {
			t.Error(err)
		}
	})
}

// What a sender still sends when its term is over, by what the receiver knows, is not
// taken in.
func TestCopyEndsWithTheSendersTerm(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
		defer c.close()
		source := c.stores["n1"]
		source.mu.Lock()
		for i := range 600 {
			source.put(fmt.Sprint("key", i), i)
		}
		source.mu.Unlock()
		throttle := int64(1000)
		if err := c.agreed.decide(&table.SetMoves{Throttle: &throttle}); err != nil {
			t.Fatal(err)
		}
		c.join("n2")
		for source.sentKeys() < 10 {
			time.Sleep(time.Millisecond)
		}
		c.crash("n1") // in the middle of its first copies
		var row *table.Row
		for r := range c.agreed.State().Rows() {
			if r.Op.Phase == table.Copying && r.Op.Primary {
				row = r
			}
		}
		e := c.nodes["n2"].engine
		time.Sleep(100 * time.Millisecond)
		a := &receivedStream{e: e, ctx: t.Context(), from: "n1", purpose: streamPurpose{Handoff: row.Op.Handoff, From: "n1", Incarnation: e.cfg.Incarnation, Sender: 1}}
		// By a state that this node does not know yet it may be another copy.
		text, _ := json.Marshal(&streamRanges{Ranges: []ring.Range{row.Range}, Versions: []uint64{row.Version + 1}})
		if err := a.Begin(text); !errors.Is(err, ErrNotLearner) {
			t.Errorf("by an older state: %v", err)
		}
		text, _ = json.Marshal(&streamRanges{Ranges: []ring.Range{row.Range}, Versions: []uint64{row.Version}})
		if err := a.Begin(text); err != nil {
			t.Fatal(err)
		}
		defer a.closeRanges()
		if err := a.Apply(0, []byte("[]"), func(error) {}); err != nil {
			t.Error(err)
		}
		over := &table.CutOver{To: "n2", Incarnation: e.cfg.Incarnation, Admit: true, Rows: []table.Ref{row.Ref()}}
		if err := c.agreed.decide(over); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		if err := a.Apply(0, []byte("[]"), func(error) {}); !errors.Is(err, ErrNotLearner) {
			t.Error(err)
		}
	})
}

// A watchedFront sees, before each change of the routes, which ranges are still being copied to
// the node although it is about to serve them.
type watchedFront struct {
	Front
	self   string
	store  *memory
	served int          // rows in all changes
	copied []ring.Range // of these, what was still being copied
}

func (f *watchedFront) Route(p *ring.Placement, held func(ring.Range) bool) {
	for row := range p.Rows() {
		if row.Primary != f.self || held(row.Range) {
			continue
		}
		f.served++
		if f.store.takesIn(row.Range) {
			f.copied = append(f.copied, row.Range)
		}
	}
	f.Front.Route(p, held)
}

// The sender ends its stream some time after the cutover. The receiver ends the copy by itself,
// before it serves the range: the store would refuse writes there.
func TestCopyEndsBeforeItsRangeIsServed(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
		defer c.close()
		source := c.stores["n1"]
		source.mu.Lock()
		for i := range 200 {
			source.put(fmt.Sprint("key", i), i)
		}
		source.mu.Unlock()
		var front *watchedFront
		c.config = func(cfg *Config) {
			front = &watchedFront{Front: cfg.Front, self: cfg.Self, store: cfg.Store.(*memory)}
			cfg.Front = front
		}
		c.join("n2")
		c.settle("a join")
		c.crash("n2")
		if front.served == 0 {
			t.Error("n2 has served nothing")
		}
		if len(front.copied) > 0 {
			t.Errorf("%d ranges were served while they were copied: %v", len(front.copied), front.copied[0])
		}
	})
}
