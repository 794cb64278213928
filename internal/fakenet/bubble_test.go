package fakenet

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// What keeps a bubble from going on is told apart from what only waits within it.
func TestBubbleReportsItsHolders(t *testing.T) {
	var said strings.Builder
	writeHolders(&said, []byte(`goroutine 1 [running]:
main.outside()

goroutine 2 [chan receive (durable), synctest bubble 5]:
node.waits()
	/src/node.go:1 +0x1

goroutine 3 [sync.Mutex.Lock, 3 minutes, synctest bubble 5]:
node.holds()
	/src/node.go:2 +0x1

goroutine 4 [sleep (durable), synctest bubble 5]:
node.until()
	/src/node_test.go:3 +0x1
`))
	for of, want := range map[string]bool{"main.outside": false, "node.waits": false, "node.holds": true, "node.until": true} {
		if strings.Contains(said.String(), of) != want {
			t.Errorf("told that %s holds the bubble: %v", of, !want)
		}
	}
}

// Timers that are due at once, set by many goroutines, leave the race detector whole. (It
// ends the process otherwise, mostly: there is no milder way to see it.)
func TestTimersThatAreDueAtOnce(t *testing.T) {
	Bubble(t, func(*testing.T) {
		var setters sync.WaitGroup
		for range 8 {
			setters.Go(func() {
				for range 2000 {
					fired := make(chan struct{})
					time.AfterFunc(0, func() { close(fired) })
					<-fired
				}
			})
		}
		setters.Wait()
	})
}
