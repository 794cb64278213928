package replica

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// TestScenarios runs the scripts of testdata, each in virtual time and with a seed of its
// own. Clients count keys from the first line to the last; in the end all that was
// counted must be there, once, and nothing where it does not belong.
//
//	join NODE | leave NODE
//	WHO crashes at PHASE | WHO is cut off at PHASE    WHO: source, target, leader
//	NODE crashes | NODE is cut off
//	failover                          backups of who crashed, or was cut off, last take over
//	restart | reconnect               who crashed, or was cut off, last
//	NODE is full | NODE has room
//	pause | resume | throttle BYTES | backups N
//	quiet                             nobody counts any more
//	wait DURATION | settle
//	waits WORDS                       until a source says that it waits for them
//	split                             a range that is being copied, which is where a copy then stands
//	loses SHARE                       this share of the table's commands and answers, and now and then a connection
//
// A phase is planned, copying, insync, serving or done: of a handoff, when the first of
// its ranges gets there.
func TestScenarios(t *testing.T) {
	randomtest.Draw(t, 3)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			// Half of the scenarios play in each run, and an eighth under -short, drawn anew; go
			// tool task test:virtual plays them all.
			if os.Getenv("RINGSIDE_LONG") == "" && (rand.IntN(2) > 0 || testing.Short() && rand.IntN(4) > 0) {
				return d.Expected
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			said := ""
			fakenet.Bubble(t, func(t *testing.T) { said = playScenario(t, seed, strings.Split(d.Input, "\n")) })
			return said
		})
	})
}

func playScenario(t *testing.T, seed uint64, steps []string) string {
	s := &scenario{c: newTestCluster(t, rand.New(rand.NewPCG(seed, 1)), 0)}
	defer s.c.close()
	stop := sync.OnceValue(s.c.clients(seed, 300))
	s.quiet = func() { stop() }
	for i, step := range steps {
		time.Sleep(500 * time.Millisecond)
		// What is to happen at a phase is made ready before what leads there.
		if i+1 < len(steps) && strings.Contains(steps[i+1], " at ") {
			s.arm(strings.Fields(steps[i+1]))
		}
		if said := s.step(strings.Fields(step)); said != "" {
			stop()
			return step + ": " + said + "\n"
		}
	}
	if s.c.check(stop()) > 0 {
		return "not all is as it should be\n"
	}
	return "all is there\n"
}

type scenario struct {
	c     *testCluster
	gone  string // who crashed, or was cut off, last
	fired chan string
	quiet func()
}

func (s *scenario) step(w []string) string {
	c := s.c
	switch {
	case w[0] == "join":
		c.join(w[1])
	case w[0] == "leave":
		c.sure(func() table.Command {
			n, _ := c.agreed.State().Node(w[1])
			return &table.Leave{Node: w[1], Incarnation: n.Incarnation}
		}, func(st *table.State) bool { n, _ := st.Node(w[1]); return n.State == table.Leaving })
	case slices.Contains(w, "at"):
		select {
		case s.gone = <-s.fired:
		case <-time.After(5 * time.Minute):
			return "it never came to that"
		}
		c.crashes.Wait()
	case w[len(w)-1] == "crashes":
		s.gone = w[0]
		c.crash(w[0])
	case w[len(w)-1] == "off":
		s.gone = w[0]
		c.part(w[0], true)
	case w[0] == "failover":
		c.failOver(s.gone)
	case w[0] == "restart":
		c.join(s.gone)
	case w[0] == "reconnect":
		c.part(s.gone, false)
	case w[len(w)-1] == "full", w[len(w)-1] == "room":
		c.mu.Lock()
		m := c.stores[w[0]]
		if m == nil {
			m = newMemory(c.slow)
			c.stores[w[0]] = m
		}
		c.mu.Unlock()
		m.fill(w[len(w)-1] == "full")
	case w[0] == "pause", w[0] == "resume":
		paused := w[0] == "pause"
		return s.order(&table.SetMoves{Paused: &paused})
	case w[0] == "throttle":
		var rate int64
		_, _ = fmt.Sscan(w[1], &rate)
		return s.order(&table.SetMoves{Throttle: &rate})
	case w[0] == "backups":
		var n int
		_, _ = fmt.Sscan(w[1], &n)
		return s.order(&table.SetBackups{Backups: n})
	case w[0] == "quiet":
		s.quiet()
	case w[0] == "split":
		for range 100 {
			if c.split() {
				return ""
			}
			time.Sleep(50 * time.Millisecond)
		}
		return "nothing is being copied"
	case w[0] == "loses":
		c.agreed.mu.Lock()
		_, _ = fmt.Sscan(w[1], &c.agreed.faults)
		c.agreed.mu.Unlock()
	case w[0] == "wait":
		d, err := time.ParseDuration(w[1])
		if err != nil {
			return err.Error()
		}
		time.Sleep(d)
	case w[0] == "waits":
		for range 100 {
			if c.waits(strings.Join(w[1:], " ")) {
				return ""
			}
			time.Sleep(200 * time.Millisecond)
		}
		return "nobody does"
	case w[0] == "settle":
		for range 600 {
			if c.settled() {
				return ""
			}
			time.Sleep(time.Second)
		}
		return fmt.Sprintf("in vain: %d handoffs are left", len(c.agreed.State().Handoffs()))
	default:
		return "no such step"
	}
	return ""
}

// split cuts a range of a handoff that is under way in two.
func (c *testCluster) split() bool {
	for row := range c.agreed.State().Rows() {
		if row.Op.Phase != table.Copying || row.Range.Len() < 2 {
			continue
		}
		at := row.Range.Start + ring.Token(row.Range.Len()/2)
		return c.agreed.decide(&table.Split{Cuts: []table.Cut{{Row: row.Ref(), At: []ring.Token{at}}}}) == nil
	}
	return false
}

func (s *scenario) order(o table.Command) string {
	if err := s.c.agreed.decide(o); err != nil {
		return err.Error()
	}
	return ""
}

// waits reports whether a handoff waits for something.
func (c *testCluster) waits(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		for _, p := range n.engine.Progress() {
			if strings.Contains(p.Waits, what) {
				return true
			}
		}
	}
	return false
}

// arm lets something happen as soon as a handoff gets to a phase.
func (s *scenario) arm(w []string) {
	c := s.c
	who, phase := w[0], w[len(w)-1]
	cuts := slices.Contains(w, "off")
	s.fired = make(chan string, 1)
	fired := s.fired
	c.agreed.mu.Lock()
	defer c.agreed.mu.Unlock()
	c.agreed.applied = func(before, after *table.State) {
		h := reached(phase, before, after)
		if h == nil {
			return
		}
		c.agreed.mu.Lock()
		c.agreed.applied = nil
		c.agreed.mu.Unlock()
		c.mu.Lock()
		victim := map[string]string{"source": h.From, "target": h.To, "leader": c.leader}[who]
		if victim == c.leader {
			for _, id := range []string{"n1", "n2", "n3", "n4"} {
				if id != victim && c.nodes[id] != nil {
					c.leader = id
				}
			}
		}
		c.mu.Unlock()
		c.crashes.Go(func() {
			if cuts {
				c.part(victim, true)
			} else {
				c.crash(victim)
			}
			fired <- victim
		})
	}
}

// reached returns a handoff that gets to a phase by a change.
func reached(phase string, before, after *table.State) *table.Handoff {
	known := make(map[uint64]bool)
	for _, h := range before.Handoffs() {
		known[h.ID] = true
		if _, still := after.Handoff(h.ID); phase == "done" && !still {
			return h
		}
	}
	for _, h := range after.Handoffs() {
		if phase == "planned" && !known[h.ID] {
			return h
		}
		for row := range after.Rows() {
			was, _ := before.Row(row.Range.Start)
			switch {
			case phase == "copying" && row.Op.Handoff == h.ID && row.Op.Phase == table.Copying && was.Op.Phase != table.Copying,
				phase == "insync" && slices.Contains(row.Backups, h.To) && was.Op.Handoff == h.ID && !was.Holds(h.To),
				phase == "serving" && row.Primary == h.To && was.Primary == h.From:
				return h
			}
		}
	}
	return nil
}
