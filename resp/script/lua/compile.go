package lua

// toNext evaluates an expression into the next register.
func (f *funcState) toNext(e *expr) int {
	r := f.register()
	f.to(e, r)
	return r
}

// anyRegister evaluates an expression into its own register, if it is a local, or the next.
func (f *funcState) anyRegister(e *expr) int {
	if e = e.strip(); e.kind == exprLocal {
		return e.index
	}
	return f.toNext(e)
}

// operand evaluates an expression into a register or constant.
func (f *funcState) operand(e *expr) int {
	if e = e.strip(); e.kind == exprConst {
		if k := f.constant(e.value); k < 1<<16-constants {
			return constants + k
		}
	}
	return f.anyRegister(e)
}

// release lets the parts of an expression use the register r of its result, unless that is a
// local, so that a long chain of operators takes few registers.
func (f *funcState) release(r int) {
	if r == f.free-1 && r >= len(f.active) {
		f.free = r
	}
}

// to evaluates an expression into a register: the last one in use, or that of a local.
func (f *funcState) to(e *expr, r int) {
	e = e.strip()
	free := f.free
	switch e.kind {
	case exprLocal:
		if e.index != r {
			f.emit(opMove, r, e.index, 0)
		}
		if e.index < r {
			f.nameAs('a', "local", e.name)
		}
	case exprUpvalue:
		f.emitAt(e.line, opUpvalue, r, e.index, 0)
		f.nameAs('a', "upvalue", e.name)
	case exprGlobal:
		f.emitAt(e.line, opGlobal, r, 0, f.constant(e.value))
	case exprIndex:
		f.indexTo(e, r)
	case exprConst:
		switch e.value {
		case Nil:
			f.emit(opNil, r, r, 0)
		case False:
			f.emit(opBool, r, 0, 0)
		case True:
			f.emit(opBool, r, 1, 0)
		default:
			f.emit(opConst, r, 0, f.constant(e.value))
		}
	case exprVarargs:
		f.emit(opVarargs, r, 2, 0)
	case exprFunction:
		f.emit(opClosure, r, 0, e.index)
	case exprParen:
		f.to(e.left, r)
	case exprTable, exprCall, exprMethod:
		at := r
		if r != free-1 || r < len(f.active) { // a local, which the expression may use
			at = f.register()
		}
		if e.kind == exprTable {
			f.table(e, at)
		} else {
			f.call(e, at, 1)
		}
		if at != r {
			f.emit(opMove, r, at, 0)
		}
	case exprAnd, exprOr:
		f.shortcut(e, r)
	case exprNot, exprCompare:
		f.release(r)
		if left := e.left.strip(); e.kind == exprNot && left.kind != exprCompare && left.kind != exprAnd && left.kind != exprOr {
			f.emit(opNot, r, f.anyRegister(left), 0)
			break
		}
		exit := f.jumpIf(e, true)
		f.emit(opBool, r, 0, 1)
		f.patchHere(exit)
		f.emit(opBool, r, 1, 0)
	case exprUnary:
		f.release(r)
		b := f.anyRegister(e.left)
		f.emitAt(e.line, e.op, r, b, 0)
		f.nameOperand('b', e.left)
	case exprBinary:
		if e.op == opConcat {
			f.concat(e, r)
			break
		}
		f.release(r)
		var b, c int
		if left := e.left.strip(); left.kind == exprConst && left.value.IsNumber() {
			// The first one of 0 and -0 stands for both, and the right side comes first.
			c = f.operand(e.right)
			b = f.operand(left)
		} else {
			b = f.operand(left)
			c = f.operand(e.right)
		}
		f.emitAt(e.line, e.op, r, b, c)
		f.nameOperand('b', e.left)
		f.nameOperand('c', e.right)
	}
	f.free = free
}

func (f *funcState) indexTo(e *expr, r int) {
	f.release(r)
	b := f.anyRegister(e.left)
	if key := e.right.strip(); key.kind == exprConst && key.value.IsString() {
		f.emitAt(e.line, opField, r, b, f.constant(key.value))
	} else {
		f.emitAt(e.line, opIndex, r, b, f.operand(e.right))
	}
	f.nameOperand('b', e.left)
}

// concat joins a chain of operands in consecutive registers.
func (f *funcState) concat(e *expr, r int) {
	f.release(r)
	first := f.free
	var operands []*expr
	line := e.line
	for {
		operands = append(operands, e.left)
		f.toNext(e.left)
		if right := e.right.strip(); right.kind == exprBinary && right.op == opConcat {
			e = right
			continue
		}
		operands = append(operands, e.right)
		f.toNext(e.right)
		break
	}
	f.emitAt(line, opConcat, r, first, f.free-1)
	if len(operands) == 2 {
		f.nameOperand('b', operands[0])
		f.nameOperand('c', operands[1])
		return
	}
	for i, o := range operands {
		f.nameOperand(byte(i), o)
	}
}

// explist evaluates expressions into the next registers, want values of them. With want -1
// all values of the last one are taken, and open is true if it may have any number.
func (f *funcState) explist(list []*expr, want int) (open bool) {
	if want >= 0 {
		free := f.free
		defer func() { f.free = free + want }() // of more values, only the effects matter
	}
	for i, e := range list {
		if i < len(list)-1 || !e.multiple() {
			f.toNext(e)
			continue
		}
		if want < 0 {
			f.several(e, f.free, -1)
			return true
		}
		n := max(want-i, 0)
		f.several(e, f.free, n)
		f.reserve(n)
		return false
	}
	if n := want - len(list); n > 0 {
		f.reserve(n)
		f.emit(opNil, f.free-n, f.free-1, 0)
	}
	return false
}

// several evaluates an expression with any number of values into registers from r on: n of
// them, or all if n is -1.
func (f *funcState) several(e *expr, r, n int) {
	if e.kind == exprVarargs {
		f.reserve(1)
		f.emit(opVarargs, r, n+1, 0)
		f.free--
		return
	}
	f.call(e, r, n)
}

// call calls a function, whose n results, or all if n is -1, go to registers from r on. r is
// the first free register or the last one in use.
func (f *funcState) call(e *expr, r, n int) {
	free := f.free
	f.free = r
	f.proto.registers = max(f.proto.registers, r+n+1)
	args := 1
	kind, name := e.left.describe()
	if e.kind == exprMethod {
		b := f.anyRegister(e.left)
		f.free = r
		f.reserve(2)
		f.emitAt(e.left.line, opSelf, r, b, f.constant(e.value))
		f.nameAs('b', kind, name)
		kind, name = "method", cutZero(e.value.Text())
		args++
	} else {
		f.toNext(e.left)
	}
	b := 0
	if !f.explist(e.list, -1) {
		b = len(e.list) + args
	}
	f.emitAt(e.callLine, opCall, r, b, n+1)
	f.nameAs('b', kind, name)
	f.free = free
}

// returns returns values.
func (f *funcState) returns(list []*expr) {
	if len(list) == 1 && (list[0].kind == exprCall || list[0].kind == exprMethod) {
		at := f.free
		f.call(list[0], at, -1)
		f.proto.code[f.label()-1].op = opTailCall
		f.emit(opReturn, at, 0, 0)
		return
	}
	if len(list) == 1 && !list[0].multiple() {
		f.emit(opReturn, f.anyRegister(list[0]), 2, 0)
		return
	}
	first := f.free
	if f.explist(list, -1) {
		f.emit(opReturn, first, 0, 0)
		return
	}
	f.emit(opReturn, first, len(list)+1, 0)
}

// table evaluates a constructor into register r, the last one in use.
func (f *funcState) table(e *expr, r int) {
	at := f.emitAt(e.line, opTable, r, 0, 0)
	pending, stored, keyed := 0, 0, 0
	flush := func(open bool) {
		n := pending
		if open {
			n = 0
		}
		f.emit(opSetList, r, n, stored)
		stored += pending
		pending, f.free = 0, r+1
	}
	for i := range e.fields {
		field := &e.fields[i]
		if field.key != nil {
			free := f.free
			key := f.operand(field.key)
			f.emitAt(field.line, opSetIndex, r, key, f.operand(field.value))
			f.free = free
			keyed++
			continue
		}
		if pending == listFlush {
			flush(false)
		}
		if i == len(e.fields)-1 && field.value.multiple() {
			f.several(field.value, f.free, -1)
			flush(true)
			break
		}
		f.toNext(field.value)
		pending++
	}
	if pending > 0 {
		flush(false)
	}
	f.proto.code[at].b = uint16(sizeHint(stored))
	f.proto.code[at].c = int32(sizeHint(keyed))
}

// sizeHint encodes a size, rounded up as in the "floating point byte" of Lua's bytecode: the
// sizes of a table decide its order.
func sizeHint(n int) int {
	e := 0
	for n >= 16 {
		n = (n + 1) >> 1
		e++
	}
	return e<<4 | n
}

// hintedSize decodes what sizeHint returns.
func hintedSize(hint int) int { return hint & 15 << (hint >> 4) }

// assign assigns values to variables: evaluated from left to right, assigned from the last
// to the first.
func (f *funcState) assign(targets, values []*expr) {
	type place struct{ object, key int }
	places := make([]place, len(targets))
	for i, t := range targets {
		if t.kind == exprIndex {
			object := f.protected(t.left, targets[i+1:])
			places[i] = place{object, 0}
			if key := t.right.strip(); key.kind == exprLocal {
				places[i].key = f.protected(key, targets[i+1:])
			} else {
				places[i].key = f.operand(t.right)
			}
		}
	}
	store := func(i, r int) {
		t := targets[i]
		switch t.kind {
		case exprLocal:
			if t.index != r {
				f.emit(opMove, t.index, r, 0)
			}
		case exprUpvalue:
			f.emit(opSetUpvalue, r, t.index, 0)
		case exprGlobal:
			f.emit(opSetGlobal, r, 0, f.constant(t.value))
		case exprIndex:
			f.emit(opSetIndex, places[i].object, places[i].key, r)
			f.nameOperand('b', t.left)
		}
	}
	last := len(targets) - 1
	if len(values) == len(targets) {
		first := f.free
		for _, v := range values[:last] {
			f.toNext(v)
		}
		switch t := targets[last]; {
		case t.kind == exprLocal:
			f.to(values[last], t.index)
		case t.kind == exprIndex:
			store(last, f.operand(values[last]))
		default:
			store(last, f.anyRegister(values[last]))
		}
		for i := last - 1; i >= 0; i-- {
			store(i, first+i)
		}
		return
	}
	first := f.free
	f.explist(values, len(targets))
	for i := last; i >= 0; i-- {
		store(i, first+i)
	}
}

// protected evaluates the table or key of a target. A local that the same statement assigns
// to is copied, for its old value is meant.
func (f *funcState) protected(e *expr, later []*expr) int {
	if s := e.strip(); s.kind == exprLocal {
		for _, t := range later {
			if t.kind == exprLocal && t.index == s.index {
				return f.toNext(e)
			}
		}
	}
	return f.anyRegister(e)
}
