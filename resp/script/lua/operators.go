package lua

// jumpOn adds a jump that is taken if the truth of the value is cond.
func (f *funcState) jumpOn(e *expr, cond bool) int {
	if e.kind == exprRelocatable {
		if i := f.proto.code[e.info]; i.op == opNot {
			f.proto.code = f.proto.code[:e.info]
			f.proto.lines = f.proto.lines[:e.info]
			return f.jumpIf(opTest, int(i.b), 0, number(!cond))
		}
	}
	if e.kind != exprRegister {
		f.reserve(1)
		f.dischargeTo(e, f.free-1)
	}
	f.releaseExpr(e)
	return f.jumpIf(opTestSet, noRegister, e.info, number(cond))
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (f *funcState) invert(e *expr) { f.control(e.info).a ^= 1 }

// goIfTrue goes on where the value is true, and jumps where it is false.
func (f *funcState) goIfTrue(e *expr) {
	f.discharge(e)
	switch e.kind {
	case exprConst, exprNumber, exprTrue:
	case exprJump:
		f.invert(e)
		e.ifFalse = append(e.ifFalse, e.info)
	default:
		e.ifFalse = append(e.ifFalse, f.jumpOn(e, false))
	}
	f.patchHere(e.ifTrue)
	e.ifTrue = nil
}

// goIfFalse goes on where the value is false, and jumps where it is true.
func (f *funcState) goIfFalse(e *expr) {
	f.discharge(e)
	switch e.kind {
	case exprNil, exprFalse:
	case exprJump:
		e.ifTrue = append(e.ifTrue, e.info)
	default:
		e.ifTrue = append(e.ifTrue, f.jumpOn(e, true))
	}
	f.patchHere(e.ifFalse)
	e.ifFalse = nil
}

// unary applies an operator to a value.
func (f *funcState) unary(t token, e *expr) {
	switch t {
	case tokNot:
		f.not(e)
	case '-':
		if !e.isNumeral() {
			f.toAnyRegister(e)
		}
		f.arith(opMinus, e, &expr{kind: exprNumber})
	case '#':
		f.toAnyRegister(e)
		f.arith(opLen, e, &expr{kind: exprNumber})
	}
}

func (f *funcState) not(e *expr) {
	f.discharge(e)
	switch e.kind {
	case exprNil, exprFalse:
		e.kind = exprTrue
	case exprConst, exprNumber, exprTrue:
		e.kind = exprFalse
	case exprJump:
		f.invert(e)
	default:
		if e.kind != exprRegister {
			f.reserve(1)
			f.dischargeTo(e, f.free-1)
		}
		f.releaseExpr(e)
		e.kind, e.info = exprRelocatable, f.emit(opNot, 0, e.info, 0)
	}
	e.ifTrue, e.ifFalse = e.ifFalse, e.ifTrue
	f.dropValues(e.ifTrue)
	f.dropValues(e.ifFalse)
}

// leftOperand does what must be done before the right operand of an operator is read.
func (f *funcState) leftOperand(t token, e *expr) {
	switch t {
	case tokAnd:
		f.goIfTrue(e)
	case tokOr:
		f.goIfFalse(e)
	case tokConcat:
		f.toNext(e) // operands lie one after another
	case '+', '-', '*', '/', '%', '^':
		if !e.isNumeral() {
			f.operand(e)
		}
	default:
		f.operand(e)
	}
}

// binary applies an operator to two values; the result is in left.
func (f *funcState) binary(t token, op opcode, left, right *expr) {
	switch t {
	case tokAnd:
		f.discharge(right)
		right.ifFalse = append(right.ifFalse, left.ifFalse...)
		*left = *right
	case tokOr:
		f.discharge(right)
		right.ifTrue = append(right.ifTrue, left.ifTrue...)
		*left = *right
	case tokConcat:
		f.toValue(right)
		if right.kind == exprRelocatable && f.proto.code[right.info].op == opConcat {
			f.releaseExpr(left)
			f.proto.code[right.info].b = uint16(left.info)
			left.kind, left.info = exprRelocatable, right.info
		} else {
			f.toNext(right)
			f.arith(op, left, right)
		}
	case tokEqual, '<', tokLessEqual:
		f.compare(op, true, left, right)
	case tokNotEqual, '>', tokGreaterEqual:
		f.compare(op, false, left, right)
	default:
		f.arith(op, left, right)
	}
}

// fold computes an operator on two numbers that are known, unless the result is not a number or
// undefined.
func fold(op opcode, left, right *expr) bool {
	if !left.isNumeral() || !right.isNumeral() || op == opLen || (op == opDiv || op == opMod) && right.number == 0 {
		return false
	}
	result := arith(op, left.number, right.number)
	if result != result {
		return false
	}
	left.number = result
	return true
}

func (f *funcState) arith(op opcode, left, right *expr) {
	if fold(op, left, right) {
		return
	}
	c := 0
	if op != opMinus && op != opLen {
		c = f.operand(right)
	}
	b := f.operand(left)
	if b > c {
		f.releaseExpr(left)
		f.releaseExpr(right)
	} else {
		f.releaseExpr(right)
		f.releaseExpr(left)
	}
	left.kind, left.info = exprRelocatable, f.emit(op, 0, b, c)
}

// compare compares two values: whether the operator, or its contrary, holds.
func (f *funcState) compare(op opcode, holds bool, left, right *expr) {
	b := f.operand(left)
	c := f.operand(right)
	f.releaseExpr(right)
	f.releaseExpr(left)
	if !holds && op != opEqual { // a > b is b < a
		b, c, holds = c, b, true
	}
	left.kind, left.info = exprJump, f.jumpIf(op, number(holds), b, c)
}
