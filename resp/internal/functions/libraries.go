package functions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/script"
)

// A Set is all libraries at one moment, compiled. It never changes, but for the runtimes that its libraries
// keep. Any goroutine may use it.
type Set struct {
	values    *agreed.Values // that it was made of
	version   uint64         // of the value that each change of libraries sets
	libraries map[string]*Library
	functions map[string]*Function // by their names in lower case
	bytes     int                  // of code
}

// A Library is one of a set.
type Library struct {
	*script.Library
	Name, Code string
	functions  []*Function // in the order of their names
	version    uint64      // of the agreed value; 0 if it is not agreed yet

	mu   sync.Mutex
	free []*script.Runtime
}

// A Function is one of a library.
type Function struct {
	*script.Function
	Library *Library
	// Astray: it has once needed a key that it had not declared.
	Astray atomic.Bool
}

// keepRuntimes is how many runtimes of a library wait for its next calls.
const keepRuntimes = 8

// Take returns a runtime for a call of a function, which belongs to the caller until Give. grow is
// [script.Host].Grow of the call.
func (l *Library) Take(memory int64, log func(int, string), grow func(int, bool) bool) (*script.Runtime, error) {
	l.mu.Lock()
	if n := len(l.free); n > 0 {
		r := l.free[n-1]
		l.free = l.free[:n-1]
		l.mu.Unlock()
		return r, nil
	}
	l.mu.Unlock()
	return l.NewRuntime(int(memory), log, grow)
}

// Give takes a runtime back. One in which a call was ended is dropped, with what the library has in variables.
func (l *Library) Give(r *script.Runtime) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.Ended() && len(l.free) < keepRuntimes {
		l.free = append(l.free, r)
	}
}

// Find returns the function of a name, in any case, or nil.
func (s *Set) Find(name []byte) *Function {
	if f := s.functions[string(name)]; f != nil {
		return f
	}
	return s.functions[strings.ToLower(string(name))]
}

// A Usage is what the libraries of a server take.
type Usage struct {
	Libraries, Functions int
	Code, Compiled       int64 // bytes of memory, about
	// Freed is how many objects FUNCTION FLUSH ASYNC has left to the garbage collector: functions, and one for each
	// set of them.
	Freed int64
}

// Usage returns what the present libraries take.
func (r *Registry) Usage() Usage {
	u := r.Current().usage()
	u.Freed = r.freed.Load()
	return u
}

func (s *Set) usage() Usage {
	u := Usage{Libraries: len(s.libraries), Functions: len(s.functions)}
	for _, l := range s.libraries {
		u.Code += int64(len(l.Code))
		u.Compiled += int64(l.Size())
	}
	return u
}

// sorted returns the libraries in the order of their names.
func (s *Set) sorted() []*Library {
	return slices.SortedFunc(maps.Values(s.libraries), func(a, b *Library) int { return strings.Compare(a.Name, b.Name) })
}

// copy returns a set that can be changed.
func (s *Set) copy() *Set {
	return &Set{s.values, s.version, maps.Clone(s.libraries), maps.Clone(s.functions), s.bytes}
}

func emptySet() *Set {
	return &Set{libraries: map[string]*Library{}, functions: map[string]*Function{}}
}

// remove takes a library out of a set that can be changed.
func (s *Set) remove(l *Library) {
	delete(s.libraries, l.Name)
	for _, f := range l.functions {
		delete(s.functions, strings.ToLower(f.Name))
	}
	s.bytes -= len(l.Code)
}

// add puts a library into a set that can be changed. The set is unchanged after an error, which is that of
// Redis.
func (s *Set) add(l *Library) error {
	if s.libraries[l.Name] != nil {
		return fmt.Errorf("ERR Library '%s' already exists", l.Name)
	}
	for _, f := range l.functions {
		if s.functions[strings.ToLower(f.Name)] != nil {
			return fmt.Errorf("ERR Function %s already exists", f.Name)
		}
	}
	if s.bytes+len(l.Code) > MaxBytes || len(s.libraries) == maxLibraries {
		return errTooMuch
	}
	s.libraries[l.Name] = l
	for _, f := range l.functions {
		s.functions[strings.ToLower(f.Name)] = f
	}
	s.bytes += len(l.Code)
	return nil
}

const (
	// MaxBytes is how many bytes of code all libraries may have together: each node has them in memory, and
	// in its snapshots of the table.
	MaxBytes     = 2 << 20
	maxLibraries = 1024
)

var errTooMuch = errors.New("ERR too much code: the libraries of a cluster may have 2 MiB and be 1024")

// newLibrary names the functions of compiled code.
func newLibrary(name, code string, compiled *script.Library) *Library {
	l := &Library{Library: compiled, Name: name, Code: code}
	for i := range compiled.Functions {
		l.functions = append(l.functions, &Function{Function: &compiled.Functions[i], Library: l})
	}
	slices.SortFunc(l.functions, func(a, b *Function) int { return strings.Compare(a.Name, b.Name) })
	return l
}
