package lua

import "fmt"

const (
	maxLocals    = 200       // LUAI_MAXVARS
	maxUpvalues  = 60        // LUAI_MAXUPVALUES
	maxRegisters = 250       // MAXSTACK
	maxConstants = 1<<18 - 1 // MAXARG_Bx
	maxJump      = 1<<17 - 1 // MAXARG_sBx
	maxNames     = 1<<15 - 1 // of locals
)

// A funcState is a function whose code is being made.
type funcState struct {
	proto  *Proto
	outer  *funcState
	parser *parser
	scope  *block
	active []int    // locals in scope, as indices of proto.locals; each lives in the register of its index here
	coming []string // locals that are declared and not in scope yet
	free   int      // first free register
	target int      // the last instruction that a jump may go to
	jumps  []int    // to the instruction that comes next
	consts map[Value]int
	texts  map[string]int
}

// A block is a scope of locals.
type block struct {
	outer    *block
	locals   int // in scope outside of it
	loop     bool
	captured bool  // a local of it is an upvalue somewhere
	breaks   []int // jumps to its end
}

func (p *parser) openFunc(source string, line int) {
	chunk := ""
	if p.fn != nil {
		chunk = p.fn.proto.chunk
	} else {
		chunk = chunkName(source, runErrorName)
	}
	p.fn = &funcState{
		proto: &Proto{chunk: chunk, source: source, line: line, registers: 2},
		outer: p.fn, parser: p, target: -1, consts: make(map[Value]int), texts: make(map[string]int),
	}
}

func (p *parser) closeFunc() *Proto {
	f := p.fn
	f.hideLocals(0)
	f.emit(opReturn, 0, 1, 0)
	p.fn = f.outer
	return f.proto
}

// limit raises an error about too many of something.
func (f *funcState) limit(n int, what string) {
	where := "main function"
	if f.proto.line > 0 {
		where = fmt.Sprintf("function at line %d", f.proto.line)
	}
	f.parser.fail(fmt.Sprintf("%s has more than %d %s", where, n, what), "")
}

// tooLarge raises an error that has no place.
func (f *funcState) tooLarge(msg string) { panic(&SyntaxError{msg}) }

// newLocals declares locals, which activate brings into scope.
func (f *funcState) newLocals(names ...string) {
	for _, name := range names {
		if len(f.active)+len(f.coming) >= maxLocals {
			f.limit(maxLocals, "local variables")
		}
		f.coming = append(f.coming, name)
		if len(f.proto.locals)+len(f.coming) > maxNames {
			f.tooLarge("too many local variables")
		}
	}
}

// activate brings the next n declared locals into scope. Their registers hold their values.
func (f *funcState) activate(n int) {
	for _, name := range f.coming[:n] {
		f.active = append(f.active, len(f.proto.locals))
		f.proto.locals = append(f.proto.locals, local{name: name, start: len(f.proto.code)})
	}
	f.coming = append(f.coming[:0], f.coming[n:]...)
}

// hideLocals ends the scope of all locals but the first n.
func (f *funcState) hideLocals(n int) {
	for _, i := range f.active[n:] {
		f.proto.locals[i].end = len(f.proto.code)
	}
	f.active = f.active[:n]
}

func (f *funcState) checkRegisters(n int) {
	if f.free+n > f.proto.registers {
		if f.free+n >= maxRegisters {
			f.parser.failHere("function or expression too complex")
		}
		f.proto.registers = f.free + n
	}
}

// reserve takes the next n registers.
func (f *funcState) reserve(n int) {
	f.checkRegisters(n)
	f.free += n
}

// release frees a register that is not that of a local.
func (f *funcState) release(register int) {
	if register < constants && register >= len(f.active) {
		f.free--
	}
}

func (f *funcState) releaseExpr(e *expr) {
	if e.kind == exprRegister {
		f.release(e.info)
	}
}

func (f *funcState) openBlock(loop bool) *block {
	f.scope = &block{outer: f.scope, locals: len(f.active), loop: loop}
	return f.scope
}

func (f *funcState) closeBlock() {
	b := f.scope
	f.scope = b.outer
	f.hideLocals(b.locals)
	if b.captured {
		f.emit(opClose, b.locals, 0, 0)
	}
	f.free = b.locals
	f.patchHere(b.breaks)
}

// breakLoop leaves the innermost loop.
func (f *funcState) breakLoop() {
	captured := false
	b := f.scope
	for ; b != nil && !b.loop; b = b.outer {
		captured = captured || b.captured
	}
	if b == nil {
		f.parser.failHere("no loop to break")
	}
	if captured {
		f.emit(opClose, b.locals, 0, 0)
	}
	b.breaks = append(b.breaks, f.jump()...)
}

// constant returns the index of a constant.
func (f *funcState) constant(v Value) int {
	if v.IsNumber() && v.Float() == 0 {
		if i, ok := f.consts[Number(0)]; ok {
			return i // the first one of 0 and -0 stands for both
		}
		return f.addConstant(Number(0), v)
	}
	if i, ok := f.consts[v]; ok {
		return i
	}
	return f.addConstant(v, v)
}

func (f *funcState) addConstant(key, v Value) int {
	i := len(f.proto.consts)
	if i == maxConstants {
		f.tooLarge("constant table overflow")
	}
	f.proto.consts = append(f.proto.consts, v)
	if v.IsString() {
		f.texts[v.Text()] = i
	} else {
		f.consts[key] = i
	}
	return i
}

// text returns a constant string.
func (f *funcState) text(s string) expr {
	i, ok := f.texts[s]
	if !ok {
		v := String(s)
		v.str().hashOf() // before states share it
		v.ref.mark = uncounted
		i = f.addConstant(v, v)
	}
	return expr{kind: exprConst, info: i}
}

// find looks a local up, here and in the functions around.
func (f *funcState) find(name string, here bool) (e expr, ok bool) {
	for i := len(f.active) - 1; i >= 0; i-- {
		if f.proto.locals[f.active[i]].name == name {
			if !here {
				f.capture(i)
			}
			return expr{kind: exprLocal, info: i}, true
		}
	}
	if f.outer == nil {
		return expr{}, false
	}
	if e, ok = f.outer.find(name, false); !ok {
		return expr{}, false
	}
	c := capture{e.kind == exprLocal, e.info, name}
	for i, have := range f.proto.upvalues {
		if have.local == c.local && have.index == c.index {
			return expr{kind: exprUpvalue, info: i}, true
		}
	}
	if len(f.proto.upvalues) == maxUpvalues {
		f.limit(maxUpvalues, "upvalues")
	}
	f.proto.upvalues = append(f.proto.upvalues, c)
	return expr{kind: exprUpvalue, info: len(f.proto.upvalues) - 1}, true
}

// capture notes that a closure refers to a local.
func (f *funcState) capture(local int) {
	b := f.scope
	for b != nil && b.locals > local {
		b = b.outer
	}
	if b != nil { // else a parameter, or a local of the chunk
		b.captured = true
	}
}
