package lua

import "fmt"

const (
	maxHeight    = 10000 // of an expression
	maxLocals    = 200   // LUAI_MAXVARS
	maxUpvalues  = 60    // LUAI_MAXUPVALUES
	maxRegisters = 250   // MAXSTACK
	listFlush    = 50    // LFIELDS_PER_FLUSH
)

// A funcState is a function whose code is being made.
type funcState struct {
	proto  *Proto
	outer  *funcState
	parser *parser
	scope  *block
	active []string // locals in scope; each lives in the register of its index
	free   int      // first free register
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
		outer: p.fn, parser: p, consts: make(map[Value]int), texts: make(map[string]int),
	}
	p.fn.openBlock(false)
}

func (p *parser) closeFunc() *Proto {
	f := p.fn
	f.returns(nil)
	f.closeScope()
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

func (f *funcState) checkLocals(more int) {
	if len(f.active)+more > maxLocals {
		f.limit(maxLocals, "local variables")
	}
}

// declare brings locals into scope. Their registers hold their values already.
func (f *funcState) declare(names ...string) {
	f.checkLocals(len(names))
	f.active = append(f.active, names...)
}

func (f *funcState) reserve(n int) {
	f.free += n
	if f.free > maxRegisters {
		f.parser.fail("function or expression too complex", "")
	}
	f.proto.registers = max(f.proto.registers, f.free+1)
}

// register returns a new register.
func (f *funcState) register() int {
	f.reserve(1)
	return f.free - 1
}

func (f *funcState) openBlock(loop bool) *block {
	f.scope = &block{outer: f.scope, locals: len(f.active), loop: loop}
	return f.scope
}

func (f *funcState) closeBlock() {
	if f.scope.captured {
		f.emit(opClose, f.scope.locals, 0, 0)
	}
	f.closeScope()
}

func (f *funcState) closeScope() {
	b := f.scope
	f.scope = b.outer
	f.active = f.active[:b.locals]
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

// emit adds an instruction at the line of the token before.
func (f *funcState) emit(op opcode, a, b, c int) int {
	return f.emitAt(f.parser.last, op, a, b, c)
}

func (f *funcState) emitAt(line int, op opcode, a, b, c int) int {
	f.proto.code = append(f.proto.code, instr{op, uint8(a), uint16(b), int32(c)})
	f.proto.lines = append(f.proto.lines, int32(line))
	return len(f.proto.code) - 1
}

// label returns where the next instruction will be.
func (f *funcState) label() int { return len(f.proto.code) }

func (f *funcState) jump() []int { return []int{f.emit(opJump, 0, 0, 0)} }

// patch lets jumps go to an instruction.
func (f *funcState) patch(jumps []int, to int) {
	for _, j := range jumps {
		f.proto.code[j].c = int32(to - j - 1)
	}
}

func (f *funcState) patchHere(jumps []int) { f.patch(jumps, f.label()) }

// constant returns the index of a constant.
func (f *funcState) constant(v Value) int {
	if v.IsString() {
		i, ok := f.texts[v.Text()]
		if !ok {
			i = len(f.proto.consts)
			f.texts[v.Text()] = i
			v.str().hashOf() // before states share it
			v.ref.mark = uncounted
			f.proto.consts = append(f.proto.consts, v)
		}
		return i
	}
	key := v
	if v.IsNumber() && v.Float() == 0 {
		key = Number(0) // as in Lua 5.1, the first one of 0 and -0 stands for both
	}
	i, ok := f.consts[key]
	if !ok {
		i = len(f.proto.consts)
		f.consts[key] = i
		f.proto.consts = append(f.proto.consts, v)
	}
	return i
}

// variable returns the expression that a name stands for.
func (p *parser) variable(name string) *expr {
	if e := p.fn.find(name, true); e != nil {
		return e
	}
	return &expr{kind: exprGlobal, value: String(name), line: p.last}
}

// find looks a local up, here and in the functions around.
func (f *funcState) find(name string, here bool) *expr {
	for i := len(f.active) - 1; i >= 0; i-- {
		if f.active[i] == name {
			if !here {
				b := f.scope
				for b.locals > i {
					b = b.outer
				}
				b.captured = true
			}
			return &expr{kind: exprLocal, index: i, name: name}
		}
	}
	if f.outer == nil {
		return nil
	}
	e := f.outer.find(name, false)
	if e == nil {
		return nil
	}
	c := capture{e.kind == exprLocal, e.index}
	for i, have := range f.proto.upvalues {
		if have == c {
			return &expr{kind: exprUpvalue, index: i, name: name}
		}
	}
	if len(f.proto.upvalues) == maxUpvalues {
		f.limit(maxUpvalues, "upvalues")
	}
	f.proto.upvalues = append(f.proto.upvalues, c)
	return &expr{kind: exprUpvalue, index: len(f.proto.upvalues) - 1, name: name}
}
