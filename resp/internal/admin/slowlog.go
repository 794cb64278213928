package admin

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/settings"
)

// Slowlog keeps the commands that took long.
type Slowlog struct {
	mu      sync.Mutex
	next    int64
	entries []entry // oldest first
}

type entry struct {
	id     int64
	at     int64 // s since 1970
	took   time.Duration
	args   [][]byte
	client string
	name   string
}

const (
	slowlogArgs = 32  // arguments that an entry keeps
	slowlogArg  = 128 // bytes of each
)

// Consider adds a command of a client if it took long enough. Any goroutine may call it.
func (s *Slowlog) Consider(set *settings.Running, c Client, cmd *command.Row, args [][]byte, took time.Duration) {
	limit := set.SlowerThan.Load()
	if limit < 0 || int64(took) < limit || cmd.Flags&command.FlagSkipSlowlog != 0 {
		return
	}
	keep := int(set.SlowlogLen.Load())
	if keep == 0 {
		return
	}
	args = cmd.Redacted(args)
	e := entry{at: time.Now().Unix(), took: took, client: c.Addr(), name: c.Name()}
	for i, arg := range args {
		if i == slowlogArgs-1 && len(args) > slowlogArgs {
			e.args = append(e.args, fmt.Appendf(nil, "... (%d more arguments)", len(args)-i))
			break
		}
		if len(arg) > slowlogArg {
			arg = fmt.Appendf(nil, "%s... (%d more bytes)", arg[:slowlogArg], len(arg)-slowlogArg)
		}
		e.args = append(e.args, append([]byte{}, arg...))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.id = s.next
	s.next++
	s.entries = append(s.entries, e)
	if drop := len(s.entries) - keep; drop > 0 {
		clear(s.entries[:drop])
		s.entries = s.entries[drop:] // append makes a new array now and then
	}
}

// latest returns at most n entries, newest first. Nobody changes an entry.
func (s *Slowlog) latest(n int64) []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := len(s.entries) - int(min(n, int64(len(s.entries))))
	entries := slices.Clone(s.entries[first:])
	slices.Reverse(entries)
	return entries
}

func (s *Slowlog) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.entries))
}

func (s *Slowlog) reset() {
	s.mu.Lock()
	s.entries = nil
	s.mu.Unlock()
}
