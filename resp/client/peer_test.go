package client

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

func TestThousandsOfCallsGetTheirOwnReplies(t *testing.T) {
	eachNetwork(t, echo, func(t *testing.T, _ *farEnd, p *Peer) {
		const goroutines, calls = 200, 50
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(g)))
				var c Call
				c.Lane = uint32(g)
				for i := range calls {
					c.N = 1 + r.IntN(5)
					c.Commands = append(c.Commands[:0], fmt.Sprintf("goroutine %d call %d ", g, i)...)
					c.Commands = append(c.Commands, bytes.Repeat([]byte("x"), r.IntN(3000))...)
					c.Timeout = time.Duration(r.IntN(2)) * time.Hour
					if err := p.Send(&c); err != nil {
						t.Error(err)
						return
					}
					if err := c.Wait(); err != nil {
						t.Error(err)
						return
					}
					if !bytes.Equal(c.Reply, c.Commands) || len(c.Lens) != c.N {
						t.Errorf("goroutine %d call %d: got %.60q for %.60q", g, i, c.Reply, c.Commands)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}
