package placement

import (
	"github.com/ringside-kv/ringside/resp/internal/listening"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// Channel is the channel of the messages about the placement.
const Channel = "__placement__"

// A Watcher is the queue of one connection's push messages. Neither method waits. The first byte of a
// message is put right for the client's protocol; Kick has what is queued sent, once Queue has
// returned true.
type Watcher interface {
	Queue(message []byte) (kick bool)
	Kick()
}

// Watchers are the clients that subscribed to changes of the placement: HASHMASK SUBSCRIBE.
type Watchers struct{ listening.Set[Watcher] }

// Tell pushes what is new in a later placement. It does not wait. Its caller sees to it that changes
// come in order.
func (w *Watchers) Tell(before, now *ring.Placement) {
	if !w.Any() {
		return
	}
	text := Changes(before, now)
	if text == "" {
		return
	}
	message := wire.AppendRequest(nil, "message", Channel, text)
	w.Each(func(c Watcher) {
		if c.Queue(message) {
			c.Kick()
		}
	})
}
