package lua

import (
	"fmt"
	"strings"
)

// A parser reads a chunk and has the code of each statement made as soon as it is read.
// Expressions become trees first, so that the code of one can depend on where its value goes.
type parser struct {
	scanner
	fn    *funcState
	depth int    // of nested constructs, as C counts them
	poll  func() // called with each construct; may panic to end the compilation
}

// Compile compiles a chunk. The error is a *SyntaxError. name is what Lua calls the source:
// "@file" or "=name", else the text itself.
func Compile(source, name string) (*Proto, error) { return compile(source, name, 0, func() {}) }

func compile(source, name string, depth int, poll func()) (p *Proto, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *SyntaxError:
			p, err = nil, e
		default:
			panic(e)
		}
	}()
	ps := &parser{scanner: scanner{src: source, chunk: chunkName(name, syntaxErrorName), line: 1}, depth: depth, poll: poll}
	ps.openFunc(name, 0)
	ps.fn.proto.vararg = true
	ps.next()
	ps.chunkBody()
	ps.expect(tokEOF)
	return ps.closeFunc(), nil
}

// Buffers in which Lua's C code writes the name of a chunk.
const (
	syntaxErrorName = 80
	runErrorName    = 60
)

// chunkName returns what errors call a source, as far as it fits into a buffer with a zero.
func chunkName(name string, buffer int) string {
	name = cutZero(name)
	if name != "" && name[0] == '=' {
		return name[1:min(len(name), buffer)]
	}
	if name != "" && name[0] == '@' {
		if most := buffer - len(` '...' `) - 1; len(name)-1 > most {
			return "..." + name[len(name)-most:]
		}
		return name[1:]
	}
	room := buffer - len(` [string "..."] `) - 1
	line := name
	if end := strings.IndexAny(line, "\r\n"); end >= 0 || len(line) > room {
		if end >= 0 {
			line = line[:end]
		}
		line = line[:min(len(line), room)] + "..."
	}
	return `[string "` + line + `"]`
}

// enter notes a construct within another.
func (p *parser) enter() {
	p.poll()
	if p.depth++; p.depth > maxDepth {
		p.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) accept(t token) bool {
	if p.tok != t {
		return false
	}
	p.next()
	return true
}

func (p *parser) check(t token) {
	if p.tok != t {
		p.failHere("'" + t.String() + "' expected")
	}
}

func (p *parser) expect(t token) {
	p.check(t)
	p.next()
}

// expectClosing expects the word that closes what was opened in a line.
func (p *parser) expectClosing(t, opening token, line int) {
	if p.tok != t && line != p.line {
		p.failHere(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", t, opening, line))
	}
	p.expect(t)
}

func (p *parser) name() string {
	p.check(tokName)
	name := p.text
	p.next()
	return name
}

func (p *parser) blockEnds() bool {
	switch p.tok {
	case tokElse, tokElseif, tokEnd, tokEOF, tokUntil:
		return true
	}
	return false
}

// chunkBody reads statements up to the end of a block.
func (p *parser) chunkBody() {
	p.enter()
	for last := false; !last && !p.blockEnds(); {
		last = p.statement()
		p.accept(';')
		p.fn.free = len(p.fn.active)
	}
	p.leave()
}

// block reads statements in a scope of their own.
func (p *parser) block() {
	p.fn.openBlock(false)
	p.chunkBody()
	p.fn.closeBlock()
}

// statement reads a statement, and reports whether it must be the last one of its block.
func (p *parser) statement() bool {
	line, f := p.line, p.fn
	switch p.tok {
	case tokIf:
		p.ifStatement(line)
	case tokWhile:
		p.next()
		start := f.label()
		exit := p.condition()
		f.openBlock(true)
		p.expect(tokDo)
		p.block()
		f.patch(f.jump(), start)
		p.expectClosing(tokEnd, tokWhile, line)
		f.closeBlock()
		f.patchHere(exit)
	case tokDo:
		p.next()
		p.block()
		p.expectClosing(tokEnd, tokDo, line)
	case tokFor:
		p.forStatement(line)
	case tokRepeat:
		p.repeatStatement(line)
	case tokFunction:
		p.functionStatement(line)
	case tokLocal:
		p.next()
		if p.accept(tokFunction) {
			p.localFunction()
		} else {
			p.localStatement()
		}
	case tokReturn:
		p.returnStatement()
		return true
	case tokBreak:
		p.next()
		f.breakLoop()
		return true
	default:
		p.exprStatement()
	}
	return false
}

// condition reads a condition, and returns the jumps that are taken if it is false.
func (p *parser) condition() []int {
	return p.fn.jumpIf(p.expr(), false)
}

func (p *parser) ifStatement(line int) {
	var done []int
	f := p.fn
	for {
		p.next() // if or elseif
		exit := p.condition()
		p.expect(tokThen)
		p.block()
		if p.tok != tokElse && p.tok != tokElseif {
			f.patchHere(exit)
			break
		}
		done = append(done, f.jump()...)
		f.patchHere(exit)
		if p.accept(tokElse) {
			p.block()
			break
		}
	}
	p.expectClosing(tokEnd, tokIf, line)
	f.patchHere(done)
}

func (p *parser) repeatStatement(line int) {
	f := p.fn
	start := f.label()
	f.openBlock(true)
	scope := f.openBlock(false)
	p.next()
	p.chunkBody()
	p.expectClosing(tokUntil, tokRepeat, line)
	exit := p.condition() // locals of the block are in its scope
	if scope.captured {
		// Upvalues close on both ways: on that out of the loop by a break.
		f.breakLoop()
		f.patchHere(exit)
		f.closeBlock()
		exit = f.jump()
	} else {
		f.closeBlock()
	}
	f.patch(exit, start)
	f.closeBlock()
}

func (p *parser) forStatement(line int) {
	f := p.fn
	f.openBlock(true)
	p.next()
	first := p.name()
	switch p.tok {
	case '=':
		p.numericFor(first, line)
	case ',', tokIn:
		p.genericFor(first)
	default:
		p.failHere("'=' or 'in' expected")
	}
	p.expectClosing(tokEnd, tokFor, line)
	f.closeBlock()
}

func (p *parser) numericFor(name string, line int) {
	f := p.fn
	base := f.free
	p.next()
	f.toNext(p.expr())
	p.expect(',')
	f.toNext(p.expr())
	if p.accept(',') {
		f.toNext(p.expr())
	} else {
		f.toNext(&expr{kind: exprConst, value: Number(1)})
	}
	f.declare("(for index)", "(for limit)", "(for step)")
	p.expect(tokDo)
	prep := f.emit(opForPrep, base, 0, 0)
	p.forBody(name)
	f.emitAt(line, opForLoop, base, 0, prep-len(f.proto.code))
	f.patch([]int{prep}, len(f.proto.code)-1)
}

func (p *parser) genericFor(name string) {
	f := p.fn
	base := f.free
	names := []string{name}
	for p.accept(',') {
		names = append(names, p.name())
	}
	p.expect(tokIn)
	line := p.line
	f.explist(p.exprList(), 3)
	f.declare("(for generator)", "(for state)", "(for control)")
	f.reserve(3) // for the call
	f.free -= 3
	p.expect(tokDo)
	prep := f.jump()
	start := f.label()
	p.forBody(names...)
	f.patchHere(prep)
	f.emitAt(line, opForEach, base, len(names), 0)
	f.nameAs('g', "local", "(for generator)") // for what the function itself raises
	f.patch(f.jump(), start)
}

// forBody reads the body of a loop, in which names are the first locals.
func (p *parser) forBody(names ...string) {
	f := p.fn
	f.openBlock(false)
	f.reserve(len(names))
	f.declare(names...)
	p.block()
	f.closeBlock()
}

func (p *parser) functionStatement(line int) {
	p.next()
	target := p.variable(p.name())
	method := false
	for p.tok == '.' || p.tok == ':' {
		method = p.tok == ':'
		target.line = p.last
		p.next()
		target = p.index(target, stringExpr(p.name()))
		if method {
			break
		}
	}
	value := p.function(method, line)
	f := p.fn
	f.assign([]*expr{target}, []*expr{value})
	f.proto.lines[len(f.proto.lines)-1] = int32(line)
}

func (p *parser) localFunction() {
	f := p.fn
	f.checkLocals(1)
	at := f.free
	f.reserve(1)
	f.declare(p.name())
	f.to(p.function(false, p.line), at)
}

func (p *parser) localStatement() {
	f := p.fn
	var names []string
	for {
		names = append(names, p.name())
		f.checkLocals(len(names))
		if !p.accept(',') {
			break
		}
	}
	var values []*expr
	if p.accept('=') {
		values = p.exprList()
	}
	f.explist(values, len(names))
	f.declare(names...)
}

func (p *parser) returnStatement() {
	p.next()
	var values []*expr
	if !p.blockEnds() && p.tok != ';' {
		values = p.exprList()
	}
	p.fn.returns(values)
}

func (p *parser) exprStatement() {
	e := p.suffixed()
	if e.kind == exprCall || e.kind == exprMethod {
		p.fn.call(e, p.fn.free, 0)
		return
	}
	targets := []*expr{e}
	for {
		switch e.kind {
		case exprLocal, exprUpvalue, exprGlobal, exprIndex:
		default:
			p.failHere("syntax error")
		}
		if !p.accept(',') {
			break
		}
		e = p.suffixed()
		if targets = append(targets, e); len(targets) > maxDepth-p.depth {
			p.fn.limit(maxDepth-p.depth, "variables in assignment")
		}
	}
	p.expect('=')
	p.fn.assign(targets, p.exprList())
}

func (p *parser) exprList() []*expr {
	list := []*expr{p.expr()}
	for p.accept(',') {
		p.readVariable(list[len(list)-1])
		list = append(list, p.expr())
	}
	return list
}

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
		if e.kind == exprConst && e.value.IsNumber() && e.value.Float() == e.value.Float() {
			return &expr{kind: exprConst, value: Number(-e.value.Float())}
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
	case tokAnd:
		e.kind = exprAnd
	case tokOr:
		e.kind = exprOr
	case tokEqual, tokNotEqual, '<', '>', tokLessEqual, tokGreaterEqual:
		e.kind, e.negated, e.swapped = exprCompare, t == tokNotEqual, t == '>' || t == tokGreaterEqual
	case tokConcat:
	default:
		if left.kind == exprConst && right.kind == exprConst && left.value.IsNumber() && right.value.IsNumber() {
			// Not what divides by zero, or is not a number, so that its sign is that of the moment.
			if b := right.value.Float(); op != opDiv && op != opMod || b != 0 {
				if f := arith(op, left.value.Float(), b); f == f {
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
