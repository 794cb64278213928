package lua

// exprList reads expressions. The values of all but the last one are in the next registers.
func (p *parser) exprList() (last expr, n int) {
	last = p.expr()
	for n = 1; p.accept(','); n++ {
		p.fn.toNext(&last)
		last = p.expr()
	}
	return last, n
}

func (p *parser) exprToNext() {
	e := p.expr()
	p.fn.toNext(&e)
}

// A binaryOperator is the code and the priorities of an operator: on its left, and on its right.
type binaryOperator struct {
	op          opcode
	left, right int
}

var binaryOperators = map[token]binaryOperator{
	'+': {opAdd, 6, 6}, '-': {opSub, 6, 6}, '*': {opMul, 7, 7}, '/': {opDiv, 7, 7}, '%': {opMod, 7, 7},
	'^': {opPow, 10, 9}, tokConcat: {opConcat, 5, 4},
	tokEqual: {opEqual, 3, 3}, tokNotEqual: {opEqual, 3, 3}, '<': {opLess, 3, 3}, '>': {opLess, 3, 3},
	tokLessEqual: {opLessEqual, 3, 3}, tokGreaterEqual: {opLessEqual, 3, 3}, tokAnd: {0, 2, 2}, tokOr: {0, 1, 1},
}

const unaryPriority = 8

func (p *parser) expr() expr { return p.binary(0) }

// binary reads an expression whose operators bind stronger than least.
func (p *parser) binary(least int) (e expr) {
	p.enter()
	switch t := p.tok; t {
	case tokNot, '-', '#':
		p.next()
		e = p.binary(unaryPriority)
		p.fn.unary(t, &e)
	default:
		e = p.simple()
	}
	for {
		t := p.tok
		operator, ok := binaryOperators[t]
		if !ok || operator.left <= least {
			break
		}
		p.next()
		p.fn.leftOperand(t, &e)
		right := p.binary(operator.right)
		p.fn.binary(t, operator.op, &e, &right)
	}
	p.leave()
	return e
}

func (p *parser) simple() (e expr) {
	f := p.fn
	switch p.tok {
	case tokNumber:
		e = expr{kind: exprNumber, number: p.num}
	case tokString:
		e = f.text(p.text)
	case tokNil:
		e = expr{kind: exprNil}
	case tokTrue:
		e = expr{kind: exprTrue}
	case tokFalse:
		e = expr{kind: exprFalse}
	case tokDots:
		if !f.proto.vararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		f.proto.needsArg = false
		e = expr{kind: exprVarargs, info: f.emit(opVarargs, 0, 1, 0)}
	case '{':
		return p.table()
	case tokFunction:
		p.next()
		return p.function(false, p.line)
	default:
		return p.suffixed()
	}
	p.next()
	return e
}

// suffixed reads a variable, a call, or an expression in parentheses.
func (p *parser) suffixed() (e expr) {
	f := p.fn
	line := p.line
	switch p.tok {
	case '(':
		p.next()
		e = p.expr()
		p.expectClosing(')', '(', line)
		f.discharge(&e)
	case tokName:
		e = p.variable()
	default:
		p.failHere("unexpected symbol")
	}
	for {
		switch p.tok {
		case '.':
			p.field(&e)
		case '[':
			f.toAnyRegister(&e)
			key := p.index()
			f.indexed(&e, &key)
		case ':':
			p.next()
			key := f.text(p.name())
			f.self(&e, &key)
			p.arguments(&e)
		case '(', tokString, '{':
			f.toNext(&e)
			p.arguments(&e)
		default:
			return e
		}
	}
}

// variable reads a name.
func (p *parser) variable() expr {
	name := p.name()
	if e, ok := p.fn.find(name, true); ok {
		return e
	}
	return expr{kind: exprGlobal, info: p.fn.text(name).info}
}

// field reads a name after a dot or colon.
func (p *parser) field(e *expr) {
	p.fn.toAnyRegister(e)
	p.next()
	key := p.fn.text(p.name())
	p.fn.indexed(e, &key)
}

// index reads a key in brackets.
func (p *parser) index() expr {
	p.next()
	e := p.expr()
	p.fn.toValue(&e)
	p.expect(']')
	return e
}

// arguments reads the arguments of a function, which is in the last register, and calls it.
func (p *parser) arguments(fn *expr) {
	f := p.fn
	line := p.line
	var last expr
	switch p.tok {
	case '(':
		if line != p.last {
			p.failHere("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.tok != ')' {
			last, _ = p.exprList()
			f.setResults(&last, -1)
		}
		p.expectClosing(')', '(', line)
	case tokString:
		last = f.text(p.text)
		p.next()
	case '{':
		last = p.table()
	default:
		p.failHere("function arguments expected")
	}
	base := fn.info
	b := 0 // all
	if !last.multiple() {
		if last.kind != exprNone {
			f.toNext(&last)
		}
		b = f.free - base
	}
	*fn = expr{kind: exprCall, info: f.emit(opCall, base, b, 2)}
	f.fixLine(line)
	f.free = base + 1 // one result, unless that is changed
}

// listFlush is how many elements of a constructor are stored at once.
const listFlush = 50

// table reads a constructor.
func (p *parser) table() expr {
	f := p.fn
	line := p.line
	at := f.emit(opTable, 0, 0, 0)
	e := expr{kind: exprRelocatable, info: at}
	f.toNext(&e)
	p.expect('{')
	elements, keyed, pending := 0, 0, 0
	store := func(n int) {
		f.emit(opSetList, e.info, n, (elements-1)/listFlush*listFlush)
		f.free = e.info + 1
		pending = 0
	}
	var last expr // element, whose value is not in its register yet
	for p.tok != '}' {
		if last.kind != exprNone {
			f.toNext(&last)
			last.kind = exprNone
			if pending == listFlush {
				store(pending)
			}
		}
		if p.tok == '[' || p.tok == tokName && p.peek() == '=' {
			p.keyedField(e.info)
			keyed++
		} else {
			last = p.expr()
			elements++
			pending++
		}
		if !p.accept(',') && !p.accept(';') {
			break
		}
	}
	p.expectClosing('}', '{', line)
	if pending > 0 {
		if last.multiple() {
			f.setResults(&last, -1)
			store(0)
			elements-- // it may have any number of values
		} else {
			if last.kind != exprNone {
				f.toNext(&last)
			}
			store(pending)
		}
	}
	f.proto.code[at].b = uint16(sizeHint(elements))
	f.proto.code[at].c = int32(sizeHint(keyed))
	return e
}

// keyedField reads a field of a constructor that has a key.
func (p *parser) keyedField(table int) {
	f := p.fn
	free := f.free
	var key expr
	if p.tok == tokName {
		key = f.text(p.name())
	} else {
		key = p.index()
	}
	p.expect('=')
	k := f.operand(&key)
	value := p.expr()
	v := f.operand(&value)
	f.emit(opSetIndex, table, k, v)
	f.free = free
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

// function reads parameters and body of a function.
func (p *parser) function(method bool, line int) expr {
	p.openFunc(p.fn.proto.source, line)
	f := p.fn
	p.expect('(')
	if method {
		f.newLocals("self")
		f.activate(1)
	}
	p.parameters()
	p.expect(')')
	p.statements()
	p.expectClosing(tokEnd, tokFunction, line)
	proto := p.closeFunc()
	f = p.fn
	if len(f.proto.protos) == maxConstants {
		f.tooLarge("constant table overflow")
	}
	f.proto.protos = append(f.proto.protos, proto)
	return expr{kind: exprRelocatable, info: f.emit(opClosure, 0, 0, len(f.proto.protos)-1)}
}

func (p *parser) parameters() {
	f := p.fn
	n := 0
	for more := p.tok != ')'; more; more = !f.proto.vararg && p.accept(',') {
		switch p.tok {
		case tokName:
			f.newLocals(p.name())
		case tokDots:
			p.next()
			f.newLocals("arg")
			f.proto.vararg, f.proto.needsArg = true, true
		default:
			p.failHere("<name> or '...' expected")
		}
		n++
	}
	f.activate(n)
	f.proto.params = len(f.active)
	if f.proto.vararg {
		f.proto.params--
	}
	f.reserve(len(f.active))
}
