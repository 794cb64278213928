package lua

import (
	"errors"
	"sync/atomic"
)

// A State is a world of Lua: global variables, memory and threads. One goroutine uses it at a
// time; Stop alone may be called from any.
type State struct {
	globals    *Table
	registry   *Table // of the host: what it keeps between runs, which no script sees
	stringMeta *Table
	main       *Thread
	running    *Thread
	depth      int // of Go calls that run Lua code or compile it, as C counts its own
	lastID     uint32
	names      map[string]*str // of metamethods
	// indexName and newindexName are two of names, which are looked up often.
	indexName, newindexName *str
	// nextFunction is next, which loops over pairs call without a frame.
	nextFunction *function
	ipairsStep   *function
	kinds        [len(kindNames)]Value // their names

	stop  atomic.Pointer[error]
	ended bool // by a fatal, which no pcall catches

	limit     int // bytes
	granted   int // bytes of them that may be in use before grow is asked for more
	first     int // what granted is at the beginning of a run, beside what earlier ones have left behind
	grow      func(more int, needed bool) error
	leftovers bool // granted covers all that earlier runs have allocated, which may be free by now
	room      int  // bytes that may be allocated before the next trace
	live      int  // bytes that the last trace has found
	allocated int  // bytes since
	held      int  // bytes that Go functions hold at present
	keeps     bool
	mark      uint8
	grey      []*header // objects that a trace has reached and not walked yet
}

// ErrMemory ends a script that needs more than the limit. No script can catch it.
var ErrMemory = errors.New("not enough memory")

// maxDepth is LUAI_MAXCCALLS.
const maxDepth = 200

// NewState returns a state without libraries, whose values may take limit bytes in memory.
func NewState(limit int) *State {
	s := &State{limit: limit, granted: limit, names: make(map[string]*str, len(metaNames))}
	for _, name := range metaNames {
		s.names[name] = &str{header: header{kind: KindString}, s: name}
	}
	s.indexName, s.newindexName = s.names["__index"], s.names["__newindex"]
	for k, name := range kindNames {
		s.kinds[k] = String(name)
	}
	s.room = limit
	s.main = s.newThread()
	s.running = s.main
	s.globals = s.NewTable(0, 0)
	return s
}

// Globals returns the table of global variables.
func (s *State) Globals() *Table { return s.globals }

// SetGlobals makes a table that of the global variables. Functions have no environment of their own: all
// of them use this one from then on.
func (s *State) SetGlobals(globals *Table) { s.globals = globals }

// Registry returns a table for what the host keeps between runs, and that counts as memory of the state.
func (s *State) Registry() *Table {
	if s.registry == nil {
		s.registry = s.NewTable(0, 0)
	}
	return s.registry
}

// Keeps says that what runs leave behind stays in use: it counts for the runs behind them.
func (s *State) Keeps() { s.keeps = true }

func (s *State) kindName(k Kind) Value { return s.kinds[k] }

// SetLimit sets how many bytes values may take from the next Run on.
func (s *State) SetLimit(limit int) {
	s.limit = limit
	s.ungrow()
}

// SetGrowth has each Run take first bytes as they are needed, and ask grow for more, within the limit.
// Where needed is false, the run continues without them, at the price of a trace; where it is
// true, an error of grow ends the run as Stop does. grow is called by the goroutine of the run.
func (s *State) SetGrowth(first int, grow func(more int, needed bool) error) {
	s.first, s.grow = first, grow
	s.ungrow()
}

// ungrow returns what grow has granted.
func (s *State) ungrow() {
	live, left := 0, 0
	if s.keeps {
		live, left = s.live, s.allocated
	}
	s.granted, s.leftovers = s.limit, false
	if s.grow != nil {
		s.granted, s.leftovers = min(s.limit, live+left+s.first), left > 0
	}
	s.room = s.granted - live
}

// grows asks for memory of which used bytes are in use, and reports whether it is there.
func (s *State) grows(used int, needed bool) bool {
	next := min(max(2*s.granted, used+used/4), s.limit)
	if s.grow == nil || next <= s.granted {
		return false
	}
	if err := s.grow(next-s.granted, needed); err != nil {
		if needed {
			s.end(err)
		}
		return false
	}
	s.granted = next
	return true
}

// Main returns the main thread.
func (s *State) Main() *Thread { return s.main }

// StringMetatable returns the metatable of all strings.
func (s *State) StringMetatable() *Table { return s.stringMeta }

// SetStringMetatable gives all strings a metatable.
func (s *State) SetStringMetatable(meta *Table) { s.stringMeta = meta }

// Stop ends what runs, whatever it has protected: Run returns err. It stays in force until
// Continue.
func (s *State) Stop(err error) { s.stop.Store(&err) }

// Continue lets the state run again after Stop.
func (s *State) Continue() { s.stop.Store(nil) }

// stopped panics with the error of Stop, if it was called.
func (s *State) stopped() {
	if err := s.stop.Load(); err != nil {
		s.end(*err)
	}
}

// end ends what runs. pcall does not even look at the panic: to catch it and go on with it
// takes time in each of many calls of pcall within each other.
func (s *State) end(err error) {
	s.ended = true
	panic(&fatal{err})
}

// A fatal is what a panic carries that only the host sees.
type fatal struct{ err error }

// step notes n units of work. It panics if the state is to stop.
func (s *State) step(int) { s.stopped() }

// alloc notes that n bytes are about to be allocated. It panics where the limit is reached.
func (s *State) alloc(n int) {
	s.allocated += n
	if s.allocated > s.room {
		s.trace(n)
	}
}

// trace finds out how much memory is in use, and how much may be allocated before the next
// trace. An eighth of the granted bytes must be free, so that traces stay rare.
//
// Freed memory is Go's to collect: nothing tells when. So a trace walks all that scripts can
// reach, which takes time in proportion to memory in use at most once in granted/8 bytes. It is
// not needed while there is memory to spare.
func (s *State) trace(n int) {
	if n > s.limit {
		s.end(ErrMemory)
	}
	if used := s.live + s.allocated; !s.leftovers && s.grows(used, false) && used <= s.granted {
		s.room = s.granted - s.live
		return
	}
	if s.mark++; s.mark == uncounted {
		s.mark = 1 // 0 is the mark of new objects
	}
	live := s.held + n
	s.grey = s.grey[:0]
	s.reach(s.globals.Value())
	if s.registry != nil {
		s.reach(s.registry.Value())
	}
	if s.stringMeta != nil {
		s.reach(s.stringMeta.Value())
	}
	s.reach(s.main.value())
	for t := s.running; t != nil; t = t.resumer {
		s.reach(t.value())
	}
	for work := 0; len(s.grey) > 0; work++ {
		if work&0xff == 0 {
			s.stopped()
		}
		h := s.grey[len(s.grey)-1]
		s.grey = s.grey[:len(s.grey)-1]
		live += s.walk(Value{ref: h})
	}
	s.allocated = 0
	switch {
	case live > s.limit-s.limit/8:
		s.end(ErrMemory)
	case s.leftovers:
		s.granted, s.leftovers = min(s.limit, live+s.first), false
	case live > s.granted-s.granted/8:
		s.grows(live, true)
	}
	s.live, s.room = live, s.granted-live
}

// uncounted is the mark of objects that states share: no trace changes it.
const uncounted = 255

// reach notes that a trace has come to v.
func (s *State) reach(v Value) {
	h := v.ref
	if h == nil || h == &numberMark || h == &boolMark || h.mark == s.mark || h.mark == uncounted {
		return
	}
	h.mark = s.mark
	s.grey = append(s.grey, h)
}

// walk returns the bytes of an object, and reaches those that it refers to.
func (s *State) walk(v Value) int {
	switch v.ref.kind {
	case KindString:
		return stringBytes + len(v.Text())
	case KindTable:
		t := v.table()
		for i := range t.array {
			s.reach(t.array[i])
		}
		for i := range t.nodes {
			if n := &t.nodes[i]; n.value.ref != nil {
				s.reach(n.key)
				s.reach(n.value)
			}
		}
		if t.meta != nil {
			s.reach(t.meta.Value())
		}
		return tableBytes + valueBytes*len(t.array) + nodeBytes*len(t.nodes)
	case KindFunction:
		f := v.function()
		n := functionBytes
		for _, u := range f.upvalues {
			n += 8
			if u.mark != s.mark {
				u.mark = s.mark
				n += upvalueBytes
				s.reach(*u.at)
			}
		}
		if f.proto != nil {
			n += s.walkProto(f.proto)
		}
		return n
	case KindThread:
		t := v.thread()
		for i := range t.stack[:t.top] {
			s.reach(t.stack[i])
		}
		for i := range t.frames {
			s.reach(t.frames[i].fn.value())
		}
		return threadBytes + valueBytes*len(t.stack) + frameBytes*cap(t.frames)
	}
	return 0
}

// walkProto counts code that a script has compiled itself. Code of the host is shared between
// states and not counted.
func (s *State) walkProto(p *Proto) int {
	if !p.counted || p.mark == s.mark {
		return 0
	}
	p.mark = s.mark
	n := p.bytes()
	for _, sub := range p.protos {
		n += s.walkProto(sub)
	}
	return n
}
