package lua

// An exprKind says where the value of an expression is.
type exprKind uint8

const (
	exprNone exprKind = iota // there is no expression
	exprNil
	exprTrue
	exprFalse
	exprNumber      // number
	exprConst       // info: the constant, a string
	exprLocal       // info: its register
	exprUpvalue     // info: its index among the upvalues
	exprGlobal      // info: the constant that is its name
	exprIndexed     // info: register of the table; key: register or constant
	exprJump        // info: the jump that is taken if a comparison holds
	exprRelocatable // info: the instruction, whose register a is not decided yet
	exprRegister    // info: the register
	exprCall        // info: the instruction
	exprVarargs     // info: the instruction
)

// An expr is an expression whose code is being made. Code that computes the value comes as late
// as possible, when it is known where the value must go.
//
// A value may also arrive by jumps: those of ifTrue are taken where it is true, those of ifFalse
// where it is false.
type expr struct {
	kind            exprKind
	info, key       int
	number          float64
	ifTrue, ifFalse []int
}

// multiple reports whether an expression may have any number of values.
func (e *expr) multiple() bool { return e.kind == exprCall || e.kind == exprVarargs }

func (e *expr) hasJumps() bool { return len(e.ifTrue)+len(e.ifFalse) > 0 }

// isNumeral reports whether an expression is a number that is known.
func (e *expr) isNumeral() bool { return e.kind == exprNumber && !e.hasJumps() }

// noRegister stands for the destination of opTestSet while it is unknown.
const noRegister = 255

// emit adds an instruction at the line of the token before.
func (f *funcState) emit(op opcode, a, b, c int) int {
	pc := len(f.proto.code)
	jumps := f.jumps
	f.jumps = nil
	f.patchValues(jumps, pc, noRegister, pc)
	f.proto.code = append(f.proto.code, instr{op, uint8(a), uint16(b), int32(c)})
	f.proto.lines = append(f.proto.lines, int32(f.parser.last))
	return pc
}

// fixLine changes the line of the last instruction.
func (f *funcState) fixLine(line int) { f.proto.lines[len(f.proto.lines)-1] = int32(line) }

// label returns where the next instruction will be, and notes that a jump may go there.
func (f *funcState) label() int {
	f.target = len(f.proto.code)
	return f.target
}

// jump adds a jump. Those that would go to it share its destination.
func (f *funcState) jump() []int {
	waiting := f.jumps
	f.jumps = nil
	return append([]int{f.emit(opJump, 0, 0, 0)}, waiting...)
}

// jumpIf adds a test and the jump after it.
func (f *funcState) jumpIf(op opcode, a, b, c int) int {
	f.emit(op, a, b, c)
	return f.jump()[0]
}

// control returns the instruction that decides whether a jump is taken.
func (f *funcState) control(jump int) *instr {
	if jump > 0 && f.proto.code[jump-1].op.isTest() {
		return &f.proto.code[jump-1]
	}
	return &f.proto.code[jump]
}

// patchTest says where a test puts the value it has tested: nowhere if register is noRegister.
// It reports whether the test can do that.
func (f *funcState) patchTest(jump, register int) bool {
	i := f.control(jump)
	if i.op != opTestSet {
		return false
	}
	if register != noRegister && register != int(i.b) {
		i.a = uint8(register)
	} else {
		*i = instr{opTest, uint8(i.b), 0, i.c}
	}
	return true
}

func (f *funcState) dropValues(jumps []int) {
	for _, j := range jumps {
		f.patchTest(j, noRegister)
	}
}

// needValue reports whether a jump of some does not bring the value with it.
func (f *funcState) needValue(jumps []int) bool {
	for _, j := range jumps {
		if f.control(j).op != opTestSet {
			return true
		}
	}
	return false
}

// patchValues lets jumps that bring a value to a register go to one place, and others to another.
func (f *funcState) patchValues(jumps []int, withValue, register, without int) {
	for _, j := range jumps {
		to := without
		if f.patchTest(j, register) {
			to = withValue
		}
		offset := to - j - 1
		if max(offset, -offset) > maxJump {
			f.parser.failHere("control structure too long")
		}
		f.proto.code[j].c = int32(offset)
	}
}

// patch lets jumps go to an instruction.
func (f *funcState) patch(jumps []int, to int) {
	if to == len(f.proto.code) {
		f.patchHere(jumps)
	} else {
		f.patchValues(jumps, to, noRegister, to)
	}
}

// patchHere lets jumps go to the instruction that comes next.
func (f *funcState) patchHere(jumps []int) {
	f.label()
	f.jumps = append(f.jumps, jumps...)
}

// setNil assigns nil to n registers. Registers of a function are nil at its start.
func (f *funcState) setNil(from, n int) {
	if pc := len(f.proto.code); pc > f.target {
		if pc == 0 {
			if from >= len(f.active) {
				return
			}
		} else if last := &f.proto.code[pc-1]; last.op == opNil && int(last.a) <= from && from <= int(last.b)+1 {
			last.b = uint16(max(int(last.b), from+n-1))
			return
		}
	}
	f.emit(opNil, from, from+n-1, 0)
}

// setResults says how many values a call or "..." has; -1: all.
func (f *funcState) setResults(e *expr, n int) {
	switch e.kind {
	case exprCall:
		f.proto.code[e.info].c = int32(n + 1)
	case exprVarargs:
		i := &f.proto.code[e.info]
		i.b, i.a = uint16(n+1), uint8(f.free)
		f.reserve(1)
	}
}

// setOneResult takes one value of a call or "...".
func (f *funcState) setOneResult(e *expr) {
	switch e.kind {
	case exprCall:
		e.kind, e.info = exprRegister, int(f.proto.code[e.info].a)
	case exprVarargs:
		f.proto.code[e.info].b = 2
		e.kind = exprRelocatable
	}
}

// adjust makes the values of n expressions, the last of which is e, as many as are wanted.
func (f *funcState) adjust(want, n int, e *expr) {
	extra := want - n
	if e.multiple() {
		extra = max(extra+1, 0)
		f.setResults(e, extra)
		if extra > 1 {
			f.reserve(extra - 1)
		}
		return
	}
	if e.kind != exprNone {
		f.toNext(e)
	}
	if extra > 0 {
		first := f.free
		f.reserve(extra)
		f.setNil(first, extra)
	}
}

// discharge has the value of a variable read.
func (f *funcState) discharge(e *expr) {
	switch e.kind {
	case exprLocal:
		e.kind = exprRegister
		return
	case exprUpvalue:
		e.info = f.emit(opUpvalue, 0, e.info, 0)
	case exprGlobal:
		e.info = f.emit(opGlobal, 0, 0, e.info)
	case exprIndexed:
		f.release(e.key)
		f.release(e.info)
		if k := e.key - constants; k >= 0 && f.proto.consts[k].IsString() {
			e.info = f.emit(opField, 0, e.info, k)
		} else {
			e.info = f.emit(opIndex, 0, e.info, e.key)
		}
	case exprCall, exprVarargs:
		f.setOneResult(e)
		return
	default:
		return
	}
	e.kind = exprRelocatable
}

// dischargeTo puts the value into a register, as far as it does not arrive by jumps.
func (f *funcState) dischargeTo(e *expr, register int) {
	f.discharge(e)
	switch e.kind {
	case exprNil:
		f.setNil(register, 1)
	case exprTrue:
		f.emit(opBool, register, 1, 0)
	case exprFalse:
		f.emit(opBool, register, 0, 0)
	case exprConst:
		f.emit(opConst, register, 0, e.info)
	case exprNumber:
		f.emit(opConst, register, 0, f.constant(Number(e.number)))
	case exprRelocatable:
		f.proto.code[e.info].a = uint8(register)
	case exprRegister:
		if e.info != register {
			f.emit(opMove, register, e.info, 0)
		}
	default: // exprNone, exprJump
		return
	}
	e.kind, e.info = exprRegister, register
}

// toRegister puts the value into a register.
func (f *funcState) toRegister(e *expr, register int) {
	f.dischargeTo(e, register)
	if e.kind == exprJump {
		e.ifTrue = append(e.ifTrue, e.info)
	}
	if e.hasJumps() {
		loadFalse, loadTrue := -1, -1
		if f.needValue(e.ifTrue) || f.needValue(e.ifFalse) {
			var skip []int
			if e.kind != exprJump {
				skip = f.jump()
			}
			f.label()
			loadFalse = f.emit(opBool, register, 0, 1)
			f.label()
			loadTrue = f.emit(opBool, register, 1, 0)
			f.patchHere(skip)
		}
		end := f.label()
		f.patchValues(e.ifFalse, end, register, loadFalse)
		f.patchValues(e.ifTrue, end, register, loadTrue)
	}
	*e = expr{kind: exprRegister, info: register}
}

// toNext puts the value into the next register.
func (f *funcState) toNext(e *expr) {
	f.discharge(e)
	f.releaseExpr(e)
	f.reserve(1)
	f.toRegister(e, f.free-1)
}

// toAnyRegister puts the value into a register, its own if it is a local, and returns that.
func (f *funcState) toAnyRegister(e *expr) int {
	f.discharge(e)
	if e.kind == exprRegister {
		if !e.hasJumps() {
			return e.info
		}
		if e.info >= len(f.active) {
			f.toRegister(e, e.info)
			return e.info
		}
	}
	f.toNext(e)
	return e.info
}

// toValue computes the value, wherever it may be then.
func (f *funcState) toValue(e *expr) {
	if e.hasJumps() {
		f.toAnyRegister(e)
	} else {
		f.discharge(e)
	}
}

// operand puts the value into a register or a constant, and returns which.
func (f *funcState) operand(e *expr) int {
	f.toValue(e)
	if e.kind >= exprNil && e.kind <= exprNumber && len(f.proto.consts) <= maxOperand {
		v := Nil
		switch e.kind {
		case exprTrue, exprFalse:
			v = Bool(e.kind == exprTrue)
		case exprNumber:
			v = Number(e.number)
		}
		e.kind, e.info = exprConst, f.constant(v)
	}
	if e.kind == exprConst && e.info <= maxOperand {
		return constants + e.info
	}
	return f.toAnyRegister(e)
}

// maxOperand is the last constant that can be an operand.
const maxOperand = constants - 1

// store assigns a value to a variable.
func (f *funcState) store(target, e *expr) {
	switch target.kind {
	case exprLocal:
		f.releaseExpr(e)
		f.toRegister(e, target.info)
		return
	case exprUpvalue:
		f.emit(opSetUpvalue, f.toAnyRegister(e), target.info, 0)
	case exprGlobal:
		f.emit(opSetGlobal, f.toAnyRegister(e), 0, target.info)
	case exprIndexed:
		value := f.operand(e)
		f.emit(opSetIndex, target.info, target.key, value)
	}
	f.releaseExpr(e)
}

// indexed makes an expression the element of itself with a key.
func (f *funcState) indexed(e, key *expr) {
	e.key = f.operand(key)
	e.kind = exprIndexed
}

// self prepares a call of a method.
func (f *funcState) self(e, key *expr) {
	f.toAnyRegister(e)
	f.releaseExpr(e)
	fn := f.free
	f.reserve(2)
	k := f.operand(key)
	f.emit(opSelf, fn, e.info, k)
	f.releaseExpr(key)
	e.kind, e.info = exprRegister, fn
}
