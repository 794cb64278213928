package lua

// exits are the jumps out of the operands of "and" and "or".
type exits struct {
	valued  []int // the value is where it belongs
	yes, no []int // the value is that of a comparison, and not stored yet
}

// shortcut evaluates "and" or "or" into a register.
func (f *funcState) shortcut(e *expr, r int) {
	var x exits
	for {
		f.leave(e.left, r, e.kind == exprOr, &x)
		right := e.right.strip()
		if right.kind != exprAnd && right.kind != exprOr {
			f.to(right, r)
			break
		}
		e = right // its exits lead to the same end
	}
	if len(x.yes)+len(x.no) > 0 {
		x.valued = append(x.valued, f.jump()...)
		f.patchHere(x.no)
		f.emit(opBool, r, 0, 1)
		f.patchHere(x.yes)
		f.emit(opBool, r, 1, 0)
	}
	f.patchHere(x.valued)
}

// leave evaluates an operand of "and" or "or". Its truth want decides: then the operand is the
// value, which goes to register r, and the rest is jumped over.
func (f *funcState) leave(e *expr, r int, want bool, x *exits) {
	switch e = e.strip(); e.kind {
	case exprAnd, exprOr:
		if (e.kind == exprOr) == want {
			f.leave(e.left, r, want, x)
			f.leave(e.right, r, want, x)
			return
		}
		var skip exits // to what follows, which sets the register
		f.leave(e.left, r, !want, &skip)
		f.leave(e.right, r, want, x)
		for _, at := range skip.valued {
			if i := &f.proto.code[at-1]; i.op == opTestMove {
				i.op, i.c = opTest, 0
			}
		}
		f.patchHere(skip.valued)
		f.patchHere(skip.yes)
		f.patchHere(skip.no)
		return
	case exprNot, exprCompare:
		free := f.free
		f.release(r)
		if want {
			x.yes = append(x.yes, f.jumpIf(e, want)...)
		} else {
			x.no = append(x.no, f.jumpIf(e, want)...)
		}
		f.free = free
		return
	case exprConst:
		if e.value.Truth() != want {
			return
		}
	}
	free := f.free
	f.release(r)
	if from := f.anyRegister(e); from == r {
		f.emit(opTest, truth(want), r, 0)
	} else {
		f.emit(opTestMove, truth(want), from, r)
	}
	f.free = free
	x.valued = append(x.valued, f.jump()...)
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
