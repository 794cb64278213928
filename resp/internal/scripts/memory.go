package scripts

import "github.com/ringside-kv/ringside/resp/internal/command"

// Memory is what a script takes beyond its first bytes, for its values and its reply. It counts for
// the server's budget until Release.
type Memory struct {
	Of    *command.Call
	taken int64
}

// Grow implements Host of package script. What a script only runs faster with leaves half of the memory to
// others. If there is none that it needs, nothing of its request is done.
func (m *Memory) Grow(more int, needed bool) bool {
	take := m.Of.Host.Spare
	if needed {
		take = m.Of.Host.Charge // one script at a time may exceed the limit: script-memory bounds it
	}
	if !take(int64(more)) {
		if needed {
			m.Of.RefuseRequest = command.MsgNoMemory
		}
		return false
	}
	m.taken += int64(more)
	return true
}

// Release gives back what the script has taken.
func (m *Memory) Release() {
	m.Of.Host.Release(m.taken)
	m.taken = 0
}
