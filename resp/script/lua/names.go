package lua

import "slices"

// What errors call the values of variables and fields.

// An operandName is what an instruction's operand is called in errors.
type operandName struct {
	pc      int32
	operand byte // 'b', 'c', a number in a chain; 'a': the value that is written
	kind    string
	name    string
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

// nameOf returns the kind and name of an operand, or two empty texts.
func (p *Proto) nameOf(pc int, operand byte) (kind, name string) {
	i, _ := slices.BinarySearchFunc(p.names, pc, func(n operandName, pc int) int { return int(n.pc) - pc })
	for ; i < len(p.names) && int(p.names[i].pc) == pc; i++ {
		if n := &p.names[i]; n.operand == operand {
			return n.kind, n.name
		}
	}
	return "", ""
}

// leftIn returns what errors call the value that the instruction at pc finds in a register
// which its own code has not filled. Lua 5.1 names the last instruction that wrote the
// register, in the order of the code, as if each jump ahead were taken.
func (p *Proto) leftIn(register uint8, pc int) (kind, name string) {
	writer := -1
	for at := 0; at < pc; at++ {
		i := p.code[at]
		if i.writes(register) {
			writer = at
		}
		if (i.op == opJump || i.op == opForPrep) && i.c > 0 && at+1+int(i.c) <= pc {
			at += int(i.c)
		}
	}
	if writer < 0 {
		return "", ""
	}
	switch i := p.code[writer]; i.op {
	case opGlobal:
		return "global", p.consts[i.c].Text()
	case opField:
		return "field", cutZero(p.consts[i.c].Text())
	case opIndex:
		return "field", "?"
	}
	return p.nameOf(writer, 'a')
}

// writes reports whether an instruction writes a register, by the account of Lua 5.1: a call
// and a loop write all registers from their first one on, ... one, and a test what it tests.
func (i instr) writes(register uint8) bool {
	switch i.op {
	case opSetUpvalue, opSetGlobal, opSetIndex, opSetList, opJump, opEqual, opLess, opLessEqual, opReturn, opClose:
		return false
	case opNil:
		return i.a <= register && uint16(register) <= i.b
	case opSelf:
		return i.a <= register && register <= i.a+1
	case opCall, opTailCall:
		return i.a <= register
	case opForEach:
		return i.a+2 <= register
	case opTest:
		return uint16(register) == i.b
	case opTestMove:
		return int32(register) == i.c
	}
	return i.a == register
}
