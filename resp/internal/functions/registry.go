package functions

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/script"
)

const (
	// prefix begins the names of the agreed values that are libraries.
	prefix = "library/"
	// Guard names the value that each change of libraries sets. So changes follow each other, and no two
	// of them give functions of two libraries the same name.
	Guard = "libraries"
)

// A Registry compiles the libraries that were agreed. Any goroutine may use it.
type Registry struct {
	memory func() int64
	log    func(level int, message string)
	failed func(library string, err error)

	values atomic.Pointer[agreed.Values]
	mu     sync.Mutex // held while a set is made
	set    atomic.Pointer[Set]
	freed  atomic.Int64 // see Usage
}

// NewRegistry returns a registry without libraries. memory is how many bytes a function may take, log logs a
// message of a library that is loaded, and failed is told of one that cannot be.
func NewRegistry(memory func() int64, log func(level int, message string), failed func(library string, err error)) *Registry {
	r := &Registry{memory: memory, log: log, failed: failed}
	r.set.Store(emptySet())
	return r
}

// Agreed tells the registry what was agreed last. It is called by one goroutine at a time and returns at once.
func (r *Registry) Agreed(values *agreed.Values) { r.values.Store(values) }

// Alone makes changes of what was agreed, for a server without a cluster.
func (r *Registry) Alone(changes []agreed.Change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.values.Load()
	next, err := was.With(changes, was.Of(Guard).Version+1)
	if err == nil {
		r.values.Store(next)
	}
	return err
}

// Version returns the version of the libraries that were agreed last.
func (r *Registry) Version() uint64 { return r.values.Load().Of(Guard).Version }

// Current returns the libraries that were agreed last. Libraries that are new are compiled first.
func (r *Registry) Current() *Set {
	if s := r.set.Load(); s.values == r.values.Load() {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	values, was := r.values.Load(), r.set.Load()
	if was.values == values {
		return was
	}
	s := was
	if version := values.Of(Guard).Version; version == was.version {
		s = was.copy() // something else was agreed
	} else {
		s = r.compile(values, was)
		s.version = version
	}
	s.values = values
	r.set.Store(s)
	return s
}

// patience is how long the code of a library that was agreed may run when it is loaded. The node that loaded it
// first gave it [loadTimeout]; this one may be slower.
const patience = 20 * loadTimeout

// compile makes a set of what was agreed, with those libraries of an earlier one that are the same.
func (r *Registry) compile(values *agreed.Values, was *Set) *Set {
	s := emptySet()
	for _, v := range values.Under(prefix) {
		name := strings.TrimPrefix(v.Name, prefix)
		if l := was.libraries[name]; l != nil && l.version == v.Version {
			_ = s.add(l) // no other library has its name or its functions
			continue
		}
		l, err := r.load(v.Body, patience)
		if err != nil { // it can be seen and deleted
			r.failed(name, err)
			l = newLibrary(name, v.Body, new(script.Library))
		}
		l.version = v.Version
		if err := s.add(l); err != nil {
			r.failed(name, err)
		}
	}
	return s
}

// load compiles a library.
func (r *Registry) load(code string, within time.Duration) (*Library, error) {
	name, body, err := parse(code)
	if err != nil {
		return nil, err
	}
	compiled, err := script.NewLibrary(body, int(r.memory()), within, r.log)
	if err != nil {
		return nil, err
	}
	return newLibrary(name, code, compiled), nil
}
