package resp

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// The word of a unit names its tokens: never fewer than it touches, and those of one key exactly.
func TestRunningUnitTouchesItsTokens(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		var places []store.Place
		for range rnd.IntN(4) {
			places = append(places, store.Place(rnd.Uint64()))
		}
		r := ring.Range{Start: ring.Token(rnd.Uint32()), End: ring.Token(rnd.Uint32())}
		if rnd.IntN(2) == 0 {
			r.End = r.Start + ring.Token(1+rnd.IntN(1<<rnd.IntN(31)))
		}
		if len(places) > 0 && rnd.IntN(4) == 0 {
			r.Start = places[0].Token()
		}
		term := rnd.Uint64()
		w := runningBy(term).on(places)
		inside := false
		for _, p := range places {
			inside = inside || r.Contains(p.Token())
		}
		switch touches := w.touches(r); {
		case inside && !touches:
			t.Fatalf("%v, %v: %x", places, r, w)
		case touches && !inside && len(places) < 2:
			t.Fatalf("%v, %v: %x", places, r, w)
		case touches && len(places) == 0:
			t.Fatalf("no keys, %v: %x", r, w)
		}
		if !w.before(term+1) || w.before(term) || w.before(term-1) || !runningBy(term).touches(r) {
			t.Fatalf("term %d: %x", term, w)
		}
	}
	if running(0).before(1) {
		t.Error("no unit runs, and it counts as one of old routes")
	}
}

// A script holds up the ranges of its keys alone, also when other units wait for its keys.
func TestQuiesceWaitsForRangesOfAScriptAlone(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 2))
	srv := r.servers[0]
	scripted, waiting := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[0], 2)
	// Below half of the node's own tokens, and above.
	at := r.token([]byte(keys[0]))
	low, high := ring.Range{Start: at, End: at + 1}, ring.Range{Start: at + 1, End: at}
	write := func(c *resptest.Conn, commands ...[]string) {
		if _, err := c.C.Write(resptest.EncodeCommands(commands)); err != nil {
			t.Fatal(err)
		}
	}
	write(scripted, []string{"EVAL", "while true do redis.call('GET', KEYS[1]) end", "1", keys[0]})
	resptest.WaitFor(t, "the script to run", func() bool {
		srv.scripts.running.Lock()
		defer srv.scripts.running.Unlock()
		return len(srv.scripts.runs) == 1
	})
	write(waiting, []string{"SET", keys[0], "1"}, []string{"SET", keys[0] + "x", "1"})
	r.place(0, srv.routes.Load().Placement, nil)
	if occupied, err := srv.Quiesce(t.Context(), high); err != nil {
		t.Errorf("%v: %v, %v", high, occupied, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if occupied, err := srv.Quiesce(ctx, high, low); !errors.Is(err, context.Canceled) || len(occupied) != 1 || occupied[0] != low {
		t.Errorf("occupied are %v, %v", occupied, err)
	}
	resptest.Dial(t, r.addrs[0], 2).Do("SCRIPT", "KILL")
	if occupied, err := srv.Quiesce(t.Context(), low); err != nil {
		t.Errorf("%v, %v", occupied, err)
	}
}
