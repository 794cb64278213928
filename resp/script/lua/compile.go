package lua

import "fmt"

// An exprKind is the form of an expression.
type exprKind uint8

const (
	exprLocal    exprKind = iota // index: its register
	exprUpvalue                  // index: among the function's upvalues
	exprGlobal                   // value: its name
	exprIndex                    // left[right]
	exprConst                    // value
	exprVarargs                  // ...
	exprFunction                 // index: among the function's protos
	exprCall                     // left(list...)
	exprMethod                   // left:value(list...)
	exprTable                    // {fields}
	exprParen                    // (left)
	exprAnd
	exprOr
	exprNot
	exprCompare // left op right
	exprUnary   // op left
	exprBinary  // left op right
)

// An expr is a node of an expression's tree.
type expr struct {
	kind        exprKind
	op          opcode
	negated     bool // a comparison with ~=
	swapped     bool // a comparison with > or >=: operands are handed over in the other order
	index       int
	value       Value
	name        string // of a local or upvalue
	left, right *expr
	list        []*expr
	fields      []field
	line        int // of the instruction that computes it
	callLine    int
	height      int
}

// A field is an entry of a constructor; one without a key belongs to the list.
type field struct {
	key, value *expr
	line       int
}

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

// strip returns an expression without parentheses, except around what has several values.
func (e *expr) strip() *expr {
	for e.kind == exprParen && !e.left.multiple() {
		e = e.left
	}
	return e
}

// multiple reports whether an expression may have any number of values.
func (e *expr) multiple() bool {
	return e.kind == exprCall || e.kind == exprMethod || e.kind == exprVarargs
}

// describe says what errors call an expression, as Lua's analysis of its bytecode finds it.
func (e *expr) describe() (kind, name string) {
	e = e.strip()
	switch e.kind {
	case exprLocal:
		return "local", e.name
	case exprUpvalue:
		return "upvalue", e.name
	case exprGlobal:
		return "global", e.value.Text()
	case exprIndex:
		if key := e.right.strip(); key.kind == exprConst && key.value.IsString() {
			return "field", cutZero(key.value.Text())
		}
		return "field", "?"
	case exprAnd, exprOr:
		none := func() *expr { return nil }
		if last := e.follow(nil, none, none); last != nil {
			return last.describe()
		}
	}
	return "", ""
}

// follow returns the operand of "and" and "or" that Lua's analysis takes for the value, or nil.
// The analysis reads the code in order and takes each jump of a test. jumpIf is the truth at
// which the test of e jumps, nil if there is none after e; yes and no go on where either truth
// leads to.
func (e *expr) follow(jumpIf *bool, yes, no func() *expr) *expr {
	test := new(bool)
	switch e = e.strip(); {
	case e.kind == exprAnd:
		return e.left.follow(test, func() *expr { return e.right.follow(jumpIf, yes, no) }, no)
	case e.kind == exprOr:
		*test = true
		return e.left.follow(test, yes, func() *expr { return e.right.follow(jumpIf, yes, no) })
	case jumpIf == nil:
		return e
	case e.kind == exprNot:
		*test = !*jumpIf
		return e.left.follow(test, no, yes)
	}
	truth := *jumpIf
	if e.kind == exprConst && e.value.Truth() != truth {
		truth = !truth // no test
	}
	if truth {
		return yes()
	}
	return no()
}

// nameOperand notes what errors of the last instruction call an operand.
func (f *funcState) nameOperand(operand byte, e *expr) {
	kind, name := e.describe()
	f.nameAs(operand, kind, name)
}

func (f *funcState) nameAs(operand byte, kind, name string) {
	if kind != "" {
		f.proto.names = append(f.proto.names, operandName{int32(f.label() - 1), operand, kind, name})
	}
}

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

// scratch is operand for the first part of an expression, which may use the register r of its
// result, so that a long chain of operators takes few registers.
func (f *funcState) scratch(e *expr, r int) int {
	e = e.strip()
	if e.kind == exprLocal || e.kind == exprConst || r != f.free-1 || r < len(f.active) {
		return f.operand(e)
	}
	f.to(e, r)
	return r
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
	case exprUpvalue:
		f.emitAt(e.line, opUpvalue, r, e.index, 0)
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
		exit := f.jumpIf(e, true)
		f.emit(opBool, r, 0, 1)
		f.patchHere(exit)
		f.emit(opBool, r, 1, 0)
	case exprUnary:
		b := f.anyRegister(e.left)
		f.emitAt(e.line, e.op, r, b, 0)
		f.nameOperand('b', e.left)
	case exprBinary:
		if e.op == opConcat {
			f.concat(e, r)
			break
		}
		b := f.scratch(e.left, r)
		c := f.operand(e.right)
		f.emitAt(e.line, e.op, r, b, c)
		f.nameOperand('b', e.left)
		f.nameOperand('c', e.right)
	}
	f.free = free
}

func (f *funcState) indexTo(e *expr, r int) {
	b := r
	if left := e.left.strip(); left.kind == exprConst {
		b = f.toNext(left)
	} else {
		b = f.scratch(left, r)
	}
	if key := e.right.strip(); key.kind == exprConst && key.value.IsString() {
		f.emitAt(e.line, opField, r, b, f.constant(key.value))
	} else {
		f.emitAt(e.line, opIndex, r, b, f.operand(e.right))
	}
	f.nameOperand('b', e.left)
}

// concat joins a chain of operands in consecutive registers.
func (f *funcState) concat(e *expr, r int) {
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

// shortcut evaluates "and" or "or".
func (f *funcState) shortcut(e *expr, r int) {
	at := r
	if r < len(f.active) { // a local, which the right side may use
		at = f.register()
	}
	var exits []int
	for done := false; !done; {
		if left := e.left.strip(); left.kind == exprLocal {
			f.emit(opTestMove, truth(e.kind == exprOr), left.index, at)
		} else {
			f.to(left, at)
			f.emit(opTest, truth(e.kind == exprOr), at, 0)
		}
		exits = append(exits, f.jump()...)
		if right := e.right.strip(); right.kind == exprAnd || right.kind == exprOr {
			e = right // its exits lead to the same end
		} else {
			f.to(right, at)
			done = true
		}
	}
	f.patchHere(exits)
	if at != r {
		f.emit(opMove, r, at, 0)
	}
}

// jumpIf evaluates a condition, and returns the jumps that are taken if its truth is want.
func (f *funcState) jumpIf(e *expr, want bool) []int {
	free := f.free
	defer func() { f.free = free }()
	switch e = e.strip(); e.kind {
	case exprConst:
		if e.value.Truth() != want {
			return nil
		}
		return f.jump()
	case exprNot:
		return f.jumpIf(e.left, !want)
	case exprAnd, exprOr:
		if (e.kind == exprOr) == want { // either side alone is enough
			exits := f.jumpIf(e.left, want)
			return append(exits, f.jumpIf(e.right, want)...)
		}
		skip := f.jumpIf(e.left, !want)
		exits := f.jumpIf(e.right, want)
		f.patchHere(skip)
		return exits
	case exprCompare:
		b := f.operand(e.left)
		c := f.operand(e.right)
		if e.swapped {
			b, c = c, b
		}
		f.emitAt(e.line, e.op, truth(want != e.negated), b, c)
		return f.jump()
	}
	f.emit(opTest, truth(want), f.anyRegister(e), 0)
	return f.jump()
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// explist evaluates expressions into the next registers, want values of them. With want -1
// all values of the last one are taken, and open is true if it may have any number.
func (f *funcState) explist(list []*expr, want int) (open bool) {
	for i, e := range list {
		if i < len(list)-1 || !e.multiple() {
			if f.toNext(e); want >= 0 && i >= want {
				f.free-- // only its effects matter
			}
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
