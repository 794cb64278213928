package lua

var statusNames = [...]string{"suspended", "running", "normal", "dead"}

// OpenCoroutine returns the library coroutine.
func OpenCoroutine(t *Thread) *Table {
	return t.libraryOf([]libraryFunction{
		{"create", coroutineCreate}, {"resume", coroutineResume}, {"running", coroutineRunning},
		{"status", coroutineStatus}, {"wrap", coroutineWrap}, {"yield", coroutineYield},
	})
}

func coroutineCreate(t *Thread) int { return t.push1(t.create().value()) }

// create returns a coroutine of the first argument.
func (t *Thread) create() *Thread {
	if fn := t.Arg(1); !fn.isKind(KindFunction) || fn.function().proto == nil {
		t.ArgError(1, "Lua function expected")
	}
	co := t.state.newThread()
	co.stack[0], co.top = t.Arg(1), 1
	return co
}

func (t *Thread) checkThread(i int) *Thread {
	v := t.Arg(i)
	if !v.isKind(KindThread) {
		t.ArgError(i, "coroutine expected")
	}
	return v.thread()
}

func coroutineResume(t *Thread) int {
	co := t.checkThread(1)
	n, err, failed := t.resume(co, 2)
	if failed {
		t.Push(False)
		return 1 + t.push1(err)
	}
	t.Push(True)
	t.take(co, n)
	return n + 1
}

// take moves the topmost n values of a coroutine to t.
func (t *Thread) take(co *Thread, n int) {
	t.need(t.top + n + 1)
	copy(t.stack[t.top:], co.stack[co.top-n:co.top])
	t.top += n
	co.top -= n
}

// resume runs a coroutine with the arguments of t from the first on. It returns how many
// values on top of the coroutine's stack it has returned or yielded.
func (t *Thread) resume(co *Thread, first int) (n int, err Value, failed bool) {
	s := t.state
	if co.status != threadSuspended {
		return 0, t.String("cannot resume " + statusNames[co.status] + " coroutine"), true
	}
	if s.depth+1 >= maxDepth {
		return 0, t.String("C stack overflow"), true
	}
	args := max(t.NArgs()-first+1, 0)
	co.need(co.top + args + 1)
	base := t.frames[len(t.frames)-1].base
	copy(co.stack[co.top:], t.stack[base+first-1:base+first-1+args])
	co.top += args
	s.depth++
	depth, held := s.depth, s.held
	co.base, co.resumer, co.status, t.status = depth, t, threadRunning, threadNormal
	s.running = co
	done := false
	err, failed = co.try(nil, func() {
		done = co.proceed(args)
	})
	s.running = t
	t.status = threadRunning
	co.resumer = nil
	s.depth, s.held = depth-1, held
	switch {
	case failed:
		co.status = threadDead
		co.closeUpvalues(0)
		co.frames, co.stack, co.top = nil, nil, 0
		return 0, err, true
	case done:
		co.status = threadDead
		return co.top, Nil, false
	}
	co.status = threadSuspended
	return co.pending.args, Nil, false
}

// proceed runs a coroutine from its start, or from where it has yielded, up to its end, which
// it reports, or the next yield.
func (t *Thread) proceed(args int) (done bool) {
	if t.yielded {
		t.yielded = false
		p := t.pending
		t.results(p.slot, t.top-args, args, p.want)
		if len(t.frames) == 0 {
			return true
		}
		if f := &t.frames[len(t.frames)-1]; p.want >= 0 {
			t.top = f.base + f.fn.proto.registers
		}
		t.execute()
	} else if t.call(0, args, -1, false) {
		t.execute()
	}
	return !t.yielded
}

func coroutineYield(t *Thread) int {
	if t.resumer == nil || t.state.depth != t.base {
		t.runError("attempt to yield across metamethod/C-call boundary")
	}
	t.yielded = true
	return t.NArgs()
}

func coroutineWrap(t *Thread) int {
	co := t.create()
	fn := t.NewFunction(func(t *Thread) int {
		n, err, failed := t.resume(co, 1)
		if failed {
			if text, ok := ToText(err); ok {
				err = t.String(t.at(1) + text)
			}
			t.throw(err)
		}
		t.take(co, n)
		return n
	})
	own := &upvalue{own: co.value()}
	own.at = &own.own
	fn.function().upvalues = []*upvalue{own} // so that a trace finds the coroutine
	return t.push1(fn)
}

func coroutineStatus(t *Thread) int {
	co := t.checkThread(1)
	return t.push1(t.String(statusNames[co.status]))
}

func coroutineRunning(t *Thread) int {
	if t == t.state.main {
		return t.push1(Nil)
	}
	return t.push1(t.value())
}
