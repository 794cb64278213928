package redistest

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// idle holds the servers that no test uses, by their options. A package whose tests run one
// after the other therefore has one server for each set of options.
var (
	idleMu sync.Mutex
	idle   = make(map[string][]*server)
)

// lend returns the address of an idle server after a reset, or that of a new one, which prepare
// makes ready if it is not nil.
func lend(t testing.TB, options []string, prepare func(*server) error) (addr string) {
	t.Helper()
	key := strings.Join(options, "\x00")
	s := takeIdle(key)
	for ; s != nil; s = takeIdle(key) {
		if s.reset() == nil {
			break
		}
		s.end() // the last test ended it, or left it with another password
	}
	if s == nil {
		s = launch(t, options)
		err := s.readSettings()
		if err == nil && prepare != nil {
			err = prepare(s)
		}
		if err != nil {
			s.end()
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		idleMu.Lock()
		defer idleMu.Unlock()
		idle[key] = append(idle[key], s)
	})
	return s.addr
}

func takeIdle(key string) *server {
	idleMu.Lock()
	defer idleMu.Unlock()
	n := len(idle[key])
	if n == 0 {
		return nil
	}
	s := idle[key][n-1]
	idle[key] = slices.Delete(idle[key], n-1, n)
	return s
}
