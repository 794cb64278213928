package resp

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Settings are limits and switches that CONFIG SET may change while the server
// runs.
type Settings struct {
	Password     string
	MaxClients   int
	MaxKey       int64         // bytes of a key
	MaxValue     int64         // bytes of an argument and of a string
	MaxArgs      int           // of one command
	OutputBuffer int64         // bytes of replies that wait for one client
	ClientMemory int64         // bytes of requests and replies of all clients together
	IdleTimeout  time.Duration // 0: none

	SlowlogSlowerThan time.Duration // negative: off
	SlowlogMaxLen     int
}

func (s *Settings) ensureDefaults() {
	setDefault(&s.MaxClients, 10_000)
	setDefault(&s.MaxKey, 64<<10)
	setDefault(&s.MaxValue, 512<<20)
	setDefault(&s.MaxArgs, 1<<20)
	setDefault(&s.OutputBuffer, 64<<20)
	setDefault(&s.ClientMemory, 256<<20)
	setDefault(&s.SlowlogSlowerThan, 10*time.Millisecond)
	setDefault(&s.SlowlogMaxLen, 128)
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// Validate reports every fault at once.
func (s *Settings) Validate() error {
	var errs []error
	for _, f := range []struct {
		name     string
		n        int64
		min, max int64
	}{
		{"clients", int64(s.MaxClients), 1, 1 << 20},
		{"key size", s.MaxKey, 1, 1 << 20},
		{"value size", s.MaxValue, 1 << 10, 1 << 30},
		{"arguments", int64(s.MaxArgs), 16, 1 << 26},
		{"output buffer", s.OutputBuffer, 64 << 10, 1 << 40},
		{"client memory", s.ClientMemory, 1 << 20, 1 << 50},
		{"slowlog length", int64(s.SlowlogMaxLen), 0, 1 << 20},
	} {
		if f.n < f.min || f.n > f.max {
			errs = append(errs, fmt.Errorf("resp: %s: %d is not between %d and %d", f.name, f.n, f.min, f.max))
		}
	}
	if s.IdleTimeout < 0 {
		errs = append(errs, fmt.Errorf("resp: idle timeout %s is negative", s.IdleTimeout))
	}
	return errors.Join(errs...)
}

// settings is the running form of Settings.
type settings struct {
	password     atomic.Pointer[string] // nil: none
	maxClients   atomic.Int64
	maxKey       atomic.Int64
	maxValue     atomic.Int64
	maxArgs      atomic.Int64
	outputBuffer atomic.Int64
	clientMemory atomic.Int64
	idleTimeout  atomic.Int64 // ns
	slowerThan   atomic.Int64 // ns; negative: off
	slowlogLen   atomic.Int64
}

func (s *settings) set(from *Settings) {
	s.setPassword(from.Password)
	s.maxClients.Store(int64(from.MaxClients))
	s.maxKey.Store(from.MaxKey)
	s.maxValue.Store(from.MaxValue)
	s.maxArgs.Store(int64(from.MaxArgs))
	s.outputBuffer.Store(from.OutputBuffer)
	s.clientMemory.Store(from.ClientMemory)
	s.idleTimeout.Store(int64(from.IdleTimeout))
	s.slowerThan.Store(int64(from.SlowlogSlowerThan))
	s.slowlogLen.Store(int64(from.SlowlogMaxLen))
}

func (s *settings) setPassword(p string) {
	if p == "" {
		s.password.Store(nil)
		return
	}
	s.password.Store(&p)
}
