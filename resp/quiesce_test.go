package resp

import (
	"context"
	"errors"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/ring"
)

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
		return srv.scripts.Any(func(*scripts.Run) bool { return true })
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
