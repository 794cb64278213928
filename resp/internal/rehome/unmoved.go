package rehome

import (
	"github.com/ringside-kv/ringside/internal/database"
)

// A Pauser pauses moves for a command.
type Pauser interface {
	Policies() *database.Policies
	// Pause has no key of data move until Resume, or until that has not come for long. Nothing that an earlier step has
	// ordered takes place any more. It returns the number of the pause. msg is an error reply.
	Pause(data int) (pause uint64, msg string)
	Resume(data int, pause uint64)
}

// unmovedTries is how often a command runs again since keys have moved all the same.
const unmovedTries = 20

// WhileUnmoved runs a command that works on all keys of some data, or with a number below 0 of all data, so that each key is
// at one place meanwhile. retry tells that it has run before, in vain.
func WhileUnmoved(c Pauser, data int, run func(retry bool)) (msg string) {
	for try := range unmovedTries {
		paused := make(map[int]uint64)
		for _, p := range c.Policies().All() {
			if p.Moving && (data < 0 || p.Number == data) && msg == "" {
				var pause uint64
				if pause, msg = c.Pause(p.Number); msg == "" {
					paused[p.Number] = pause
				}
			}
		}
		before := c.Policies().Steps(data)
		if msg == "" {
			run(try > 0)
		}
		same := c.Policies().Steps(data) == before
		for n, pause := range paused {
			c.Resume(n, pause)
		}
		if msg != "" || same {
			return msg
		}
	}
	return "TRYAGAIN keys of the database have moved meanwhile"
}
