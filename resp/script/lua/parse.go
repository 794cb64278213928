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
