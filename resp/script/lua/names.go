package lua

// objectName returns what errors call the value in a register of the function that runs: the
// local that lives there, or the variable from which the code at hand has read it. Both texts are
// empty if there is no name.
//
// As in Lua 5.1, the name comes from the instruction that was the last to write the register if
// the code is read in order and forward jumps are taken. That may be another one than at run time.
func (p *Proto) objectName(pc, register int) (kind, name string) {
	for {
		if name, ok := p.localName(pc, register); ok {
			return "local", name
		}
		switch i := p.lastWrite(pc, register); i.op {
		case opGlobal:
			return "global", p.constantName(int(i.c))
		case opField:
			return "field", p.constantName(int(i.c))
		case opIndex:
			return "field", "?"
		case opUpvalue:
			return "upvalue", p.upvalues[i.b].name
		case opSelf:
			if i.c < constants {
				return "method", "?"
			}
			return "method", p.constantName(int(i.c) - constants)
		case opMove:
			if int(i.b) < int(i.a) {
				register = int(i.b)
				continue
			}
		}
		return "", ""
	}
}

func (p *Proto) constantName(k int) string { return cutZero(p.consts[k].Text()) }

// localName returns the name of the local that lives in a register.
func (p *Proto) localName(pc, register int) (string, bool) {
	for i := range p.locals {
		l := &p.locals[i]
		if l.start > pc {
			break
		}
		if pc < l.end {
			if register == 0 {
				return l.name, true
			}
			register--
		}
	}
	return "", false
}

// lastWrite returns the last instruction before end that writes a register.
func (p *Proto) lastWrite(end, register int) instr {
	last := instr{op: opReturn}
	for pc := 0; pc < end; pc++ {
		i := p.code[pc]
		a := int(i.a)
		writes := a == register && i.op.writesA()
		switch i.op {
		case opNil:
			writes = a <= register && register <= int(i.b)
		case opSelf:
			writes = writes || a+1 == register
		case opForEach:
			writes = register >= a+2
		case opCall, opTailCall:
			writes = register >= a
		case opJump, opForLoop, opForPrep:
			if to := pc + 1 + int(i.c); to > pc && to <= end {
				if writes {
					last = i
				}
				pc = to - 1
				continue
			}
		}
		if writes {
			last = i
		}
	}
	return last
}

// isTest reports whether an operation decides whether the jump after it is taken.
func (op opcode) isTest() bool {
	switch op {
	case opEqual, opLess, opLessEqual, opTest, opTestSet, opForEach:
		return true
	}
	return false
}

// writesA reports whether an operation counts as one that writes R[a].
func (op opcode) writesA() bool {
	switch op {
	case opSetUpvalue, opSetGlobal, opSetIndex, opSetList, opJump, opEqual, opLess, opLessEqual, opReturn, opForEach, opClose:
		return false
	}
	return true
}
