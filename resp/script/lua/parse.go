package lua

import (
	"fmt"
	"strings"
)

// A parser reads a chunk and makes its code as it reads, as Lua's own compiler does.
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
	ps.statements()
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

// statements reads statements up to the end of a block.
func (p *parser) statements() {
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
	p.statements()
	p.fn.closeBlock()
}

// statement reads a statement, and reports whether it must be the last one of its block.
func (p *parser) statement() bool {
	line := p.line
	switch p.tok {
	case tokIf:
		p.ifStatement(line)
	case tokWhile:
		p.whileStatement(line)
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
		p.fn.breakLoop()
		return true
	default:
		p.exprStatement()
	}
	return false
}

// condition reads a condition, and returns the jumps that are taken if it is false.
func (p *parser) condition() []int {
	e := p.expr()
	if e.kind == exprNil {
		e.kind = exprFalse
	}
	p.fn.goIfTrue(&e)
	return e.ifFalse
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
			done = append(done, exit...)
			break
		}
		done = append(done, f.jump()...)
		f.patchHere(exit)
		if p.accept(tokElse) {
			p.block()
			break
		}
	}
	f.patchHere(done)
	p.expectClosing(tokEnd, tokIf, line)
}

func (p *parser) whileStatement(line int) {
	f := p.fn
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
}

func (p *parser) repeatStatement(line int) {
	f := p.fn
	start := f.label()
	f.openBlock(true)
	scope := f.openBlock(false)
	p.next()
	p.statements()
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
	f.newLocals("(for index)", "(for limit)", "(for step)", name)
	p.expect('=')
	p.exprToNext()
	p.expect(',')
	p.exprToNext()
	if p.accept(',') {
		p.exprToNext()
	} else {
		f.emit(opConst, f.free, 0, f.constant(Number(1)))
		f.reserve(1)
	}
	p.forBody(base, line, 1, true)
}

func (p *parser) genericFor(name string) {
	f := p.fn
	base := f.free
	f.newLocals("(for generator)", "(for state)", "(for control)", name)
	n := 1
	for ; p.accept(','); n++ {
		f.newLocals(p.name())
	}
	p.expect(tokIn)
	line := p.line
	e, count := p.exprList()
	f.adjust(3, count, &e)
	f.checkRegisters(3) // for the call
	p.forBody(base, line, n, false)
}

// forBody reads the body of a loop over n locals, whose own state is in registers from base on.
func (p *parser) forBody(base, line, n int, numeric bool) {
	f := p.fn
	f.activate(3)
	p.expect(tokDo)
	var prepare []int
	if numeric {
		prepare = []int{f.emit(opForPrep, base, 0, 0)}
	} else {
		prepare = f.jump()
	}
	start := len(f.proto.code)
	f.openBlock(false)
	f.activate(n)
	f.reserve(n)
	p.block()
	f.closeBlock()
	f.patchHere(prepare)
	if numeric {
		loop := f.emit(opForLoop, base, 0, 0)
		f.fixLine(line)
		f.patch([]int{loop}, start)
		return
	}
	f.emit(opForEach, base, n, 0)
	f.fixLine(line)
	f.patch(f.jump(), start)
}

func (p *parser) functionStatement(line int) {
	p.next()
	target := p.variable()
	method := false
	for !method && (p.tok == '.' || p.tok == ':') {
		method = p.tok == ':'
		p.field(&target)
	}
	value := p.function(method, line)
	p.fn.store(&target, &value)
	p.fn.fixLine(line) // the definition happens in the first line
}

func (p *parser) localFunction() {
	f := p.fn
	f.newLocals(p.name())
	target := expr{kind: exprLocal, info: f.free}
	f.reserve(1)
	f.activate(1)
	value := p.function(false, p.line)
	f.store(&target, &value)
	f.proto.locals[f.active[len(f.active)-1]].start = len(f.proto.code)
}

func (p *parser) localStatement() {
	f := p.fn
	n, count := 0, 0
	for more := true; more; more = p.accept(',') {
		f.newLocals(p.name())
		n++
	}
	var e expr
	if p.accept('=') {
		e, count = p.exprList()
	}
	f.adjust(n, count, &e)
	f.activate(n)
}

func (p *parser) returnStatement() {
	f := p.fn
	p.next()
	if p.blockEnds() || p.tok == ';' {
		f.emit(opReturn, 0, 1, 0)
		return
	}
	e, n := p.exprList()
	switch first := len(f.active); {
	case e.multiple():
		f.setResults(&e, -1)
		if e.kind == exprCall && n == 1 {
			f.proto.code[e.info].op = opTailCall
		}
		f.emit(opReturn, first, 0, 0)
	case n == 1:
		f.emit(opReturn, f.toAnyRegister(&e), 2, 0)
	default:
		f.toNext(&e)
		f.emit(opReturn, first, n+1, 0)
	}
}

// exprStatement reads a call or an assignment.
func (p *parser) exprStatement() {
	f := p.fn
	e := p.suffixed()
	if e.kind == exprCall {
		f.proto.code[e.info].c = 1 // no results
		return
	}
	targets := []expr{e}
	for {
		if kind := targets[len(targets)-1].kind; kind < exprLocal || kind > exprIndexed {
			p.failHere("syntax error")
		}
		if !p.accept(',') {
			break
		}
		e := p.suffixed()
		if e.kind == exprLocal {
			f.protect(targets, e.info)
		}
		if limit := maxDepth - p.depth; len(targets) > limit {
			f.limit(limit, "variables in assignment")
		}
		targets = append(targets, e)
	}
	p.expect('=')
	e, count := p.exprList()
	last := len(targets) - 1
	if count == len(targets) {
		f.setOneResult(&e)
		f.store(&targets[last], &e)
		last--
	} else {
		f.adjust(len(targets), count, &e)
		if count > len(targets) {
			f.free -= count - len(targets)
		}
	}
	for ; last >= 0; last-- {
		f.store(&targets[last], &expr{kind: exprRegister, info: f.free - 1})
	}
}

// protect copies a local that a statement assigns to, if targets before it use its old value as
// table or key.
func (f *funcState) protect(targets []expr, local int) {
	conflict := false
	for i := range targets {
		t := &targets[i]
		if t.kind != exprIndexed {
			continue
		}
		if t.info == local {
			conflict, t.info = true, f.free
		}
		if t.key == local {
			conflict, t.key = true, f.free
		}
	}
	if conflict {
		f.emit(opMove, f.free, local, 0)
		f.reserve(1)
	}
}
