package lua

// priorities of the binary operators: on their left, and on their right.
var priorities = map[token]struct {
	op          opcode
	left, right int
}{
	'+': {opAdd, 6, 6}, '-': {opSub, 6, 6}, '*': {opMul, 7, 7}, '/': {opDiv, 7, 7}, '%': {opMod, 7, 7},
	'^': {opPow, 10, 9}, tokConcat: {opConcat, 5, 4},
	tokEqual: {opEqual, 3, 3}, tokNotEqual: {opEqual, 3, 3}, '<': {opLess, 3, 3}, '>': {opLess, 3, 3},
	tokLessEqual: {opLessEqual, 3, 3}, tokGreaterEqual: {opLessEqual, 3, 3}, tokAnd: {0, 2, 2}, tokOr: {0, 1, 1},
}

const unaryPriority = 8

func (p *parser) expr() *expr { return p.binary(0) }

// binary reads an expression whose operators bind stronger than least.
func (p *parser) binary(least int) *expr {
	p.enter()
	var left *expr
	switch t := p.tok; t {
	case tokNot, '-', '#':
		p.next()
		left = p.unary(t, p.binary(unaryPriority))
	default:
		left = p.simple()
	}
	for {
		t := p.tok
		how, ok := priorities[t]
		if !ok || how.left <= least {
			break
		}
		p.next()
		p.readVariable(left)
		right := p.binary(how.right)
		left = p.join(t, how.op, left, right)
	}
	p.leave()
	return left
}

// readVariable notes that Lua's own compiler reads a variable at this point. Code has the line
// of the token before.
func (p *parser) readVariable(e *expr) {
	if e.kind == exprGlobal || e.kind == exprIndex {
		e.line = p.last
	}
}

func (p *parser) unary(t token, e *expr) *expr {
	kind, op := exprUnary, opNot
	switch t {
	case '-':
		if n := e.strip(); n.kind == exprConst && n.value.IsNumber() && n.value.Float() == n.value.Float() {
			return &expr{kind: exprConst, value: Number(-n.value.Float())}
		}
		op = opMinus
	case '#':
		op = opLen
	default:
		if e.strip().kind == exprConst {
			return &expr{kind: exprConst, value: Bool(!e.strip().value.Truth())}
		}
		kind = exprNot
	}
	return p.node(&expr{kind: kind, op: op, left: e})
}

// join makes an expression of an operator and its operands.
func (p *parser) join(t token, op opcode, left, right *expr) *expr {
	e := &expr{kind: exprBinary, op: op, left: left, right: right}
	switch t {
	case tokAnd, tokOr:
		if l := left.strip(); l.kind == exprConst && l.value.Truth() == (t == tokAnd) {
			return p.node(&expr{kind: exprParen, left: right})
		}
		if e.kind = exprAnd; t == tokOr {
			e.kind = exprOr
		}
	case tokEqual, tokNotEqual, '<', '>', tokLessEqual, tokGreaterEqual:
		e.kind, e.negated, e.swapped = exprCompare, t == tokNotEqual, t == '>' || t == tokGreaterEqual
	case tokConcat:
	default:
		x, y := left.strip(), right.strip()
		if x.kind == exprConst && y.kind == exprConst && x.value.IsNumber() && y.value.IsNumber() {
			// Not what divides by zero, or is not a number, so that its sign is that of the moment.
			if b := y.value.Float(); op != opDiv && op != opMod || b != 0 {
				if f := arith(op, x.value.Float(), b); f == f {
					return &expr{kind: exprConst, value: Number(f)}
				}
			}
		}
	}
	return p.node(e)
}

// node completes an expression. Its height is bounded, for code is made by recursion.
func (p *parser) node(e *expr) *expr {
	e.line = p.last
	if e.left != nil {
		e.height = e.left.height + 1
	}
	if e.right != nil {
		e.height = max(e.height, e.right.height+1)
	}
	if e.height > maxHeight {
		p.fail("function or expression too complex", "")
	}
	return e
}

func stringExpr(s string) *expr { return &expr{kind: exprConst, value: String(s)} }

func (p *parser) simple() *expr {
	var e *expr
	switch p.tok {
	case tokNumber:
		e = &expr{kind: exprConst, value: Number(p.num)}
	case tokString:
		e = stringExpr(p.text)
	case tokNil:
		e = &expr{kind: exprConst}
	case tokTrue:
		e = &expr{kind: exprConst, value: True}
	case tokFalse:
		e = &expr{kind: exprConst, value: False}
	case tokDots:
		if !p.fn.proto.vararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		p.fn.proto.needsArg = false
		e = &expr{kind: exprVarargs}
	case '{':
		return p.table()
	case tokFunction:
		p.next()
		return p.function(false, p.line)
	default:
		return p.suffixed()
	}
	p.next()
	return p.node(e)
}

// suffixed reads a variable, a call, or an expression in parentheses.
func (p *parser) suffixed() *expr {
	var e *expr
	line := p.line
	switch p.tok {
	case '(':
		p.next()
		e = &expr{kind: exprParen, left: p.expr()}
		p.expectClosing(')', '(', line)
		p.readVariable(e.left)
		p.node(e)
	case tokName:
		name := p.text
		p.next()
		e = p.variable(name)
	default:
		p.failHere("unexpected symbol")
	}
	for {
		switch p.tok {
		case '.':
			e.line = p.last
			p.next()
			e = p.index(e, stringExpr(p.name()))
		case '[':
			e.line = p.last
			p.next()
			key := p.expr()
			p.expect(']')
			e = p.index(e, key)
		case ':':
			p.next()
			name := p.name()
			e.line = p.last
			e = p.arguments(&expr{kind: exprMethod, left: e, value: String(name)})
		case '(', tokString, '{':
			e.line = p.last
			e = p.arguments(&expr{kind: exprCall, left: e})
		default:
			return e
		}
	}
}

func (p *parser) index(left, key *expr) *expr {
	return p.node(&expr{kind: exprIndex, left: left, right: key})
}

// arguments reads the arguments of a call.
func (p *parser) arguments(call *expr) *expr {
	line := p.line
	switch p.tok {
	case '(':
		if line != p.last {
			p.failHere("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.tok != ')' {
			call.list = p.exprList()
		}
		p.expectClosing(')', '(', line)
		if n := len(call.list); n > 0 {
			p.readVariable(call.list[n-1])
		}
	case tokString:
		call.list = []*expr{stringExpr(p.text)}
		p.next()
	case '{':
		call.list = []*expr{p.table()}
	default:
		p.failHere("function arguments expected")
	}
	p.node(call)
	call.callLine = line
	return call
}

// table reads a constructor.
func (p *parser) table() *expr {
	line := p.line
	e := &expr{kind: exprTable}
	p.expect('{')
	for p.tok != '}' {
		var f field
		switch {
		case p.tok == tokName && p.peek() == '=':
			f.key = stringExpr(p.name())
			p.next()
		case p.tok == '[':
			p.next()
			f.key = p.expr()
			p.expect(']')
			p.expect('=')
		}
		f.value = p.expr()
		f.line = p.last
		e.fields = append(e.fields, f)
		if !p.accept(',') && !p.accept(';') {
			break
		}
		if f.key == nil {
			p.readVariable(f.value)
		}
	}
	p.expectClosing('}', '{', line)
	if n := len(e.fields); n > 0 && e.fields[n-1].key == nil {
		p.readVariable(e.fields[n-1].value)
	}
	return p.node(e)
}

// function reads parameters and body of a function.
func (p *parser) function(method bool, line int) *expr {
	p.openFunc(p.fn.proto.source, line)
	f := p.fn
	if method {
		f.reserve(1)
		f.declare("self")
	}
	p.expect('(')
	for more := p.tok != ')'; more; more = p.accept(',') {
		if p.accept(tokDots) {
			f.proto.vararg, f.proto.needsArg = true, true
			break
		}
		if p.tok != tokName {
			p.failHere("<name> or '...' expected")
		}
		f.checkLocals(1)
		f.reserve(1)
		f.declare(p.name())
	}
	f.proto.params = len(f.active)
	if f.proto.vararg {
		f.reserve(1)
		f.declare("arg")
	}
	p.expect(')')
	p.chunkBody()
	p.expectClosing(tokEnd, tokFunction, line)
	proto := p.closeFunc()
	f = p.fn
	f.proto.protos = append(f.proto.protos, proto)
	return p.node(&expr{kind: exprFunction, index: len(f.proto.protos) - 1})
}
