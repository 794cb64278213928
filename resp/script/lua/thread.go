package lua

import (
	"fmt"
	"slices"
	"unsafe"
)

// A GoFunction is a function of the host. Its arguments are Thread.Arg; it pushes its results
// and returns how many they are.
type GoFunction func(t *Thread) int

// A function is a closure: of Lua code, or of the host.
type function struct {
	header
	proto    *Proto // nil for a function of the host
	upvalues []*upvalue
	goFn     GoFunction
}

// An upvalue is a local of a function that closures refer to. While that function runs, at
// points to its register; afterwards, to own.
type upvalue struct {
	at    *Value
	own   Value
	index int // of the register, while open
	mark  uint8
}

// A frame is a call that has not returned.
type frame struct {
	fn       *function
	slot     int  // of the stack: where the function was; results go there
	base     int  // register 0, or the first argument
	args     int  // of a function of the host
	want     int  // results; -1: all
	pc       int  // of the next instruction
	varargs  int  // they lie below base
	tails    int  // calls that this one has replaced
	held     int  // State.held when it began
	boundary bool // the Go function that made the call waits for its end
}

// A Thread is a coroutine, or the main thread of a state.
type Thread struct {
	header
	state   *State
	stack   []Value
	top     int // what lies from here on is garbage
	frames  []frame
	most    int        // frames
	open    []*upvalue // in the order of their registers
	resumer *Thread
	// handler is called with an error where it is raised, unless nil.
	handler func(t *Thread, err Value) Value
	// base is State.depth where the thread was resumed: only there it can yield.
	base   int
	status threadStatus
	// yielded: the call at hand is coroutine.yield. Its results are the arguments of the next
	// resume, and go where pending says.
	yielded bool
	pending frame
}

type threadStatus uint8

const (
	threadSuspended threadStatus = iota
	threadRunning
	threadNormal
	threadDead
)

const (
	stringBytes   = 48
	functionBytes = 80
	upvalueBytes  = 64
	threadBytes   = 256
	frameBytes    = int(unsafe.Sizeof(frame{}))

	window     = 256   // registers that the VM may touch above the base of a frame
	firstStack = 300   // values
	maxFrames  = 16384 // calls within calls
	extra      = 225   // State.depth at which an error cannot be handled any more
)

func (s *State) newThread() *Thread {
	s.alloc(threadBytes + firstStack*valueBytes)
	return &Thread{header: header{kind: KindThread}, state: s, stack: make([]Value, firstStack), most: maxFrames}
}

// need grows the stack to at least n values.
func (t *Thread) need(n int) {
	if n <= len(t.stack) {
		return
	}
	n = max(n, 2*len(t.stack))
	t.state.alloc(n * valueBytes)
	stack := make([]Value, n)
	copy(stack, t.stack[:t.top])
	t.stack = stack
	for _, u := range t.open {
		u.at = &stack[u.index]
	}
}

// findUpvalue returns the upvalue of a register, which closures share.
func (t *Thread) findUpvalue(index int) *upvalue {
	i := len(t.open)
	for i > 0 && t.open[i-1].index >= index {
		if i--; t.open[i].index == index {
			return t.open[i]
		}
	}
	t.state.alloc(upvalueBytes)
	u := &upvalue{at: &t.stack[index], index: index}
	t.open = slices.Insert(t.open, i, u)
	return u
}

// closeUpvalues detaches the upvalues of registers from index on.
func (t *Thread) closeUpvalues(index int) {
	for n := len(t.open); n > 0 && t.open[n-1].index >= index; n-- {
		u := t.open[n-1]
		u.own = *u.at
		u.at = &u.own
		t.open[n-1] = nil
		t.open = t.open[:n-1]
	}
}

// call calls the function in a slot of the stack with the args values that follow it. A
// function of the host is carried out; of a Lua function, only the frame is made, and the
// result is true.
func (t *Thread) call(slot, args, want int, boundary bool) bool {
	v := t.stack[slot]
	if !v.isKind(KindFunction) {
		v = t.callable(slot)
		args++
	}
	fn := v.function()
	if len(t.frames) >= t.most {
		t.overflow()
	}
	if fn.proto == nil {
		t.callGo(fn, slot, args, want)
		return false
	}
	t.pushFrame(fn, slot, args, want, boundary)
	return true
}

// overflow raises the error about too many calls. What handles it may call again as many.
func (t *Thread) overflow() {
	if t.most > maxFrames {
		panic(&thrown{t.state.errorInHandler()})
	}
	t.most = 2 * maxFrames
	t.runError("stack overflow")
}

// callable puts the metamethod __call of a value before it, and returns it.
func (t *Thread) callable(slot int) Value {
	v := t.stack[slot]
	handler := t.state.metaValue(v, "__call")
	if !handler.isKind(KindFunction) {
		t.typeError("call", v, 'b')
	}
	t.need(t.top + 1)
	t.top = max(t.top, slot+1)
	copy(t.stack[slot+1:t.top+1], t.stack[slot:t.top])
	t.top++
	t.stack[slot] = handler
	return handler
}

// pushFrame begins a Lua function.
func (t *Thread) pushFrame(fn *function, slot, args, want int, boundary bool) {
	p := fn.proto
	base := slot + 1
	varargs := 0
	t.top = base + args
	if !p.vararg {
		t.need(base + p.params + window)
		if args > p.params {
			args = p.params
		}
	} else {
		t.need(base + args + p.params + 1 + window)
		var arg Value
		if p.needsArg {
			arg = t.argTable(base+p.params, args-p.params)
		}
		fixed := min(args, p.params)
		varargs = max(args-p.params, 0)
		first := base
		base += args
		copy(t.stack[base:], t.stack[first:first+fixed])
		clear(t.stack[first : first+fixed])
		args = fixed
		if arg.ref != nil {
			clear(t.stack[base+args : base+p.params])
			t.stack[base+p.params] = arg
			args = p.params + 1
		}
	}
	t.top = base + p.registers
	rest := t.stack[base+args : t.top]
	for i := len(rest) - 1; i >= 0; i-- { // they are few: clear takes longer
		rest[i] = Nil
	}
	t.frames = append(t.frames, frame{fn: fn, slot: slot, base: base, want: want, varargs: varargs, boundary: boundary})
	if len(t.frames) == cap(t.frames) {
		t.state.alloc(len(t.frames) * frameBytes)
	}
}

// argTable makes the table arg of a function with varargs that does not use "...".
func (t *Thread) argTable(first, n int) Value {
	n = max(n, 0)
	s := t.state
	table := s.NewTable(n, 1)
	copy(table.array, t.stack[first:first+n])
	s.set(table, s.name("n"), Number(float64(n)))
	return table.Value()
}

// callGo carries a function of the host out, and puts its results where they are wanted.
func (t *Thread) callGo(fn *function, slot, args, want int) {
	s := t.state
	t.top = slot + 1 + args
	t.need(t.top + 20)
	t.frames = append(t.frames, frame{fn: fn, slot: slot, base: slot + 1, args: args, want: want, held: s.held})
	n := fn.goFn(t)
	last := len(t.frames) - 1
	s.held = t.frames[last].held
	t.frames = t.frames[:last]
	if t.yielded {
		t.pending = frame{slot: slot, want: want, args: n}
		return
	}
	t.results(slot, t.top-n, n, want)
}

// results moves n values to a slot, and makes them as many as are wanted.
func (t *Thread) results(slot, from, n, want int) {
	if want < 0 {
		t.need(slot + n)
		copy(t.stack[slot:], t.stack[from:from+n])
		t.top = slot + n
		return
	}
	copy(t.stack[slot:], t.stack[from:from+min(n, want)])
	if n < want {
		t.need(slot + want)
		clear(t.stack[slot+n : slot+want])
	}
	t.top = slot + want
}

// callWithin calls a function and waits for its end: the Go stack grows.
func (t *Thread) callWithin(slot, args, want int) {
	s := t.state
	s.stopped()
	if s.depth++; s.depth >= maxDepth {
		if s.depth == maxDepth {
			t.runError("C stack overflow")
		} else if s.depth >= extra {
			panic(&thrown{s.errorInHandler()})
		}
	}
	if t.call(slot, args, want, true) {
		t.execute()
	}
	s.depth--
}

// Call calls the function below the topmost args values, and replaces it and them by its
// results: want of them, or all of them if want is -1. It returns how many they are.
func (t *Thread) Call(args, want int) int {
	slot := t.top - args - 1
	t.callWithin(slot, args, want)
	if want >= 0 {
		t.top = slot + want
	}
	return t.top - slot
}

// callMeta calls a metamethod and returns its first result.
func (t *Thread) callMeta(fn Value, args ...Value) Value {
	slot := t.top
	t.need(slot + len(args) + 1)
	t.stack[slot] = fn
	copy(t.stack[slot+1:], args)
	t.top = slot + 1 + len(args)
	t.callWithin(slot, len(args), 1)
	v := t.stack[slot]
	t.top = slot
	return v
}

// A thrown is what a panic carries that pcall catches.
type thrown struct{ value Value }

// try runs a function. If it raises an error, the thread is as it was before, and the error
// is returned.
func (t *Thread) try(handler func(*Thread, Value) Value, run func()) (err Value, failed bool) {
	s := t.state
	frames, depth, held, before, top := len(t.frames), s.depth, s.held, t.handler, t.top
	t.handler = handler
	floor := 0 // where the function that is about to be called can lie
	if frames > 0 {
		floor = t.frame().base
	}
	defer func() {
		if s.ended {
			return
		}
		t.handler = before
		p := recover()
		if p == nil {
			return
		}
		e, ok := p.(*thrown)
		if !ok {
			panic(p)
		}
		t.closeUpvalues(floor)
		clear(t.frames[frames:])
		t.frames, s.depth, s.held, t.top = t.frames[:frames], depth, held, top
		if frames < maxFrames {
			t.most = maxFrames
		}
		err, failed = e.value, true
	}()
	run()
	return Nil, false
}

// An Ended error says why and where a script has ended that no script can go on from.
type Ended struct {
	Err  error
	Line int // 0 if no Lua code ran
}

// Error implements error.
func (e *Ended) Error() string { return e.Err.Error() }

// Unwrap implements errors.Unwrap.
func (e *Ended) Unwrap() error { return e.Err }

// Setup runs a function that prepares the state.
func (s *State) Setup(prepare func(t *Thread)) error {
	fn := (&function{header: header{kind: KindFunction}, goFn: func(*Thread) int { return 0 }}).value()
	v, failed, err := s.Run(fn, nil, prepare)
	if failed {
		err = fmt.Errorf("lua: %s", s.main.ToText(v))
	}
	return err
}

// Run calls fn in the main thread, after prepare. handler, unless nil, is called where an
// error is raised and returns what stands for it. Run returns the first result of fn, or what
// was raised with failed set. err is an *Ended if the state was stopped, or has no memory
// left; the state can be used again.
func (s *State) Run(fn Value, handler func(*Thread, Value) Value, prepare func(t *Thread)) (v Value, failed bool, err error) {
	return s.Call(fn, handler, func(t *Thread) []Value {
		prepare(t)
		return nil
	})
}

// Call is Run for a function with arguments, which are those that prepare returns.
func (s *State) Call(fn Value, handler func(*Thread, Value) Value, prepare func(t *Thread) []Value) (v Value, failed bool, err error) {
	t := s.main
	defer func() {
		p := recover()
		if e, ok := p.(*fatal); ok {
			v, failed, err = Nil, false, &Ended{e.err, s.running.innermostLine()}
			p = nil
		}
		s.reset()
		if p != nil {
			panic(p)
		}
	}()
	t.status = threadRunning
	counted := handler
	if handler != nil {
		counted = func(t *Thread, v Value) Value {
			if s.depth++; s.depth >= extra {
				panic(&thrown{s.errorInHandler()})
			}
			v = handler(t, v)
			s.depth--
			return v
		}
	}
	raised, failed := t.try(counted, func() {
		t.frames = append(t.frames, frame{fn: fn.function()})
		args := prepare(t)
		t.frames, t.top = t.frames[:0], 0
		t.Push(fn)
		for _, arg := range args {
			t.Push(arg)
		}
		t.Call(len(args), 1)
		v = t.stack[t.top-1]
	})
	if failed {
		v = raised
	}
	return v, failed, nil
}

// innermostLine returns the line of the innermost Lua function, or 0.
func (t *Thread) innermostLine() int {
	for ; t != nil; t = t.resumer {
		for i := len(t.frames) - 1; i >= 0; i-- {
			if f := &t.frames[i]; f.fn.proto != nil && f.pc > 0 {
				return f.line()
			}
		}
	}
	return 0
}

// reset lets go of all that a run has left on stacks.
func (s *State) reset() {
	t := s.main
	t.closeUpvalues(0)
	if len(t.stack) > 1<<10 || cap(t.frames) > 1<<6 {
		t.frames, t.stack = nil, make([]Value, firstStack)
	}
	clear(t.stack)
	clear(t.frames[:cap(t.frames)])
	t.frames, t.top, t.most = t.frames[:0], 0, maxFrames
	t.handler, t.yielded = nil, false
	s.running, s.depth, s.held = t, 0, 0
	if !s.keeps {
		s.live, s.allocated = 0, 0
		s.ungrow()
	}
	s.grey, s.ended = nil, false
}
