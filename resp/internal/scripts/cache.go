package scripts

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A Cache has the scripts that a server knows, by their bodies and their SHA-1. Any goroutine may use it.
type Cache struct {
	limit  func() int64 // bytes of scripts that are kept
	mu     sync.RWMutex
	byBody map[string]*Script
	bySHA  map[string]*Script
	// evaluated are those that only EVAL has brought, oldest first: they are forgotten where
	// there is no room.
	evaluated []*Script
	bytes     int64
	evicted   int64 // of those that were evaluated, the ones that were forgotten since there was no room
}

// A Script is one of a cache.
type Script struct {
	*script.Script
	// Astray: it has once needed a key that it had not declared.
	Astray atomic.Bool
	loaded bool // by SCRIPT LOAD; under Cache.mu
}

// ErrFull says that there is no room for a script that is to be loaded.
const ErrFull command.ReplyError = "ERR the script cache is full: use SCRIPT FLUSH"

// Init is called once, before all else; limit may be called from any goroutine.
func (s *Cache) Init(limit func() int64) {
	s.limit = limit
	s.byBody, s.bySHA = make(map[string]*Script), make(map[string]*Script)
}

// Find returns the script with a certain body, or nil.
func (s *Cache) Find(body []byte) *Script {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byBody[string(body)]
}

// Called returns the script with a SHA-1, in hex digits of any case, or nil.
func (s *Cache) Called(sha []byte) *Script {
	if len(sha) != 40 {
		return nil
	}
	var low [40]byte
	for i, c := range sha {
		low[i] = wire.Lower(c)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bySHA[string(low[:])]
}

// Compile returns the script with a certain body, which it remembers: for good if it is
// loaded.
func (s *Cache) Compile(body []byte, loaded bool) (*Script, error) {
	if k := s.Find(body); k != nil && !loaded {
		return k, nil
	}
	compiled, err := script.Compile(string(body))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.byBody[compiled.Body]
	if k == nil {
		k = &Script{Script: compiled}
		s.makeRoom(cost(k))
		if s.bytes+cost(k) > s.limit() {
			if loaded {
				return nil, ErrFull
			}
			return k, nil // it is run all the same
		}
		s.byBody[k.Body], s.bySHA[k.SHA] = k, k
		s.bytes += cost(k)
		if !loaded {
			s.evaluated = append(s.evaluated, k)
		}
	}
	if loaded && !k.loaded {
		k.loaded = true
		s.evaluated = slices.DeleteFunc(s.evaluated, func(other *Script) bool { return other == k })
	}
	return k, nil
}

// cost is about what a script takes, compiled.
func cost(k *Script) int64 { return int64(k.Size()) + 1<<10 }

// makeRoom forgets scripts that were not loaded, as far as that is needed.
func (s *Cache) makeRoom(n int64) {
	for len(s.evaluated) > 0 && s.bytes+n > s.limit() {
		k := s.evaluated[0]
		s.evaluated = s.evaluated[1:]
		delete(s.byBody, k.Body)
		delete(s.bySHA, k.SHA)
		s.bytes -= cost(k)
		s.evicted++
	}
}

// Kept returns how many scripts are kept, about how many bytes they take, and how many were ever forgotten for lack of
// room.
func (s *Cache) Kept() (n int, bytes, evicted int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.bySHA), s.bytes, s.evicted
}

// Flush forgets all scripts.
func (s *Cache) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byBody)
	clear(s.bySHA)
	s.evaluated, s.bytes = nil, 0
}
