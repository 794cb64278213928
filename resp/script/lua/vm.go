package lua

import "unsafe"

// execute runs the topmost frame, and those of Lua functions that it calls, until the frame
// with its boundary returns, or the thread yields.
//
// Values of the frame are reached through r, a window on the stack that is as long as an
// instruction can reach. So whatever can move the stack, or the frames, is followed by a jump
// to reload. Before it, the frame's pc is saved: errors and callers read it.
func (t *Thread) execute() {
	var (
		s    = t.state
		fr   *frame
		r    *[window]Value
		code []instr
		k    []Value
		pc   int
	)
enter:
	fr = &t.frames[len(t.frames)-1]
	code, k, pc = fr.fn.proto.code, fr.fn.proto.consts, fr.pc
reload:
	fr = &t.frames[len(t.frames)-1]
	r = (*[window]Value)(unsafe.Pointer(&t.stack[fr.base]))
	for {
		i := code[pc]
		pc++
		switch i.op {
		case opMove:
			r[i.a] = r[uint8(i.b)]
		case opConst:
			r[i.a] = k[i.c]
		case opBool:
			r[i.a] = Bool(i.b != 0)
			if i.c != 0 {
				pc++
			}
		case opNil:
			clear(r[i.a : i.b+1])
		case opUpvalue:
			r[i.a] = *fr.fn.upvalues[i.b].at
		case opSetUpvalue:
			*fr.fn.upvalues[i.b].at = r[i.a]
		case opGlobal:
			if n := s.globals.findString(k[i.c].str()); n != nil && n.value.ref != nil {
				r[i.a] = n.value
				continue
			}
			fr.pc = pc
			v := t.index(s.globals.Value(), k[i.c], 0)
			t.stack[t.frames[len(t.frames)-1].base+int(i.a)] = v
			goto reload
		case opSetGlobal:
			fr.pc = pc
			t.setIndex(s.globals.Value(), k[i.c], r[i.a], 0)
			goto reload
		case opIndex:
			v, key := r[uint8(i.b)], rk(r, k, int(i.c))
			if v.ref != nil && v.ref.kind == KindTable {
				table := v.table()
				var found Value
				if key.ref == &numberMark {
					if n := int(key.Float()); uint(n-1) < uint(len(table.array)) && float64(n) == key.Float() {
						found = table.array[n-1]
					} else {
						found = table.Get(*key)
					}
				} else {
					found = table.Get(*key)
				}
				if found.ref != nil || table.meta == nil {
					r[i.a] = found
					continue
				}
			}
			fr.pc = pc
			v = t.index(v, *key, 'b')
			t.stack[t.frames[len(t.frames)-1].base+int(i.a)] = v
			goto reload
		case opField:
			v := r[uint8(i.b)]
			if v.ref != nil && v.ref.kind == KindTable {
				if n := v.table().findString(k[i.c].str()); n != nil && n.value.ref != nil {
					r[i.a] = n.value
					continue
				}
			}
			fr.pc = pc
			v = t.index(v, k[i.c], 'b')
			t.stack[t.frames[len(t.frames)-1].base+int(i.a)] = v
			goto reload
		case opSetIndex:
			v, key := r[i.a], rk(r, k, int(i.b))
			if v.ref != nil && v.ref.kind == KindTable && !v.table().readonly {
				table := v.table()
				var slot *Value
				if key.ref == &numberMark {
					if n := int(key.Float()); uint(n-1) < uint(len(table.array)) && float64(n) == key.Float() {
						slot = &table.array[n-1]
					}
				} else if key.ref != nil && key.ref.kind == KindString {
					if n := table.findString(key.str()); n != nil {
						slot = &n.value
					}
				}
				if slot != nil && (slot.ref != nil || table.meta == nil) {
					*slot = *rk(r, k, int(i.c))
					continue
				}
			}
			fr.pc = pc
			t.setIndex(v, *key, *rk(r, k, int(i.c)), 'b')
			goto reload
		case opTable:
			r[i.a] = s.NewTable(hintedSize(int(i.b)), hintedSize(int(i.c))).Value()
		case opSetList:
			n := int(i.b)
			if n == 0 {
				n = t.top - fr.base - int(i.a) - 1
			}
			table, last := r[i.a].table(), int(i.c)+n
			if last > len(table.array) {
				s.resize(table, last, len(table.nodes))
			}
			first := fr.base + int(i.a) + 1
			for j := n; j > 0; j-- {
				s.setInt(table, int(i.c)+j, t.stack[first+j-1])
			}
			t.top = fr.base + fr.fn.proto.registers
		case opSelf:
			v := r[uint8(i.b)]
			r[i.a+1] = v
			if v.ref != nil && v.ref.kind == KindTable {
				if n := v.table().findString(k[i.c].str()); n != nil && n.value.ref != nil {
					r[i.a] = n.value
					continue
				}
			}
			fr.pc = pc
			v = t.index(v, k[i.c], 'b')
			t.stack[t.frames[len(t.frames)-1].base+int(i.a)] = v
			goto reload
		case opAdd:
			if a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c)); a.ref == &numberMark && b.ref == &numberMark {
				r[i.a].setNumber(a.Float() + b.Float())
				continue
			}
			goto arithmetic
		case opSub:
			if a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c)); a.ref == &numberMark && b.ref == &numberMark {
				r[i.a].setNumber(a.Float() - b.Float())
				continue
			}
			goto arithmetic
		case opMul:
			if a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c)); a.ref == &numberMark && b.ref == &numberMark {
				r[i.a].setNumber(a.Float() * b.Float())
				continue
			}
			goto arithmetic
		case opDiv:
			if a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c)); a.ref == &numberMark && b.ref == &numberMark {
				r[i.a].setNumber(a.Float() / b.Float())
				continue
			}
			goto arithmetic
		case opMod:
			if a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c)); a.ref == &numberMark && b.ref == &numberMark {
				r[i.a].setNumber(modulo(a.Float(), b.Float()))
				continue
			}
			goto arithmetic
		case opPow:
			if a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c)); a.ref == &numberMark && b.ref == &numberMark {
				r[i.a].setNumber(power(a.Float(), b.Float()))
				continue
			}
			goto arithmetic
		case opMinus:
			if v := &r[uint8(i.b)]; v.ref == &numberMark {
				r[i.a].setNumber(-v.Float())
				continue
			}
			i.c = int32(i.b)
			goto arithmetic
		case opNot:
			r[i.a] = Bool(!r[uint8(i.b)].Truth())
		case opLen:
			v := r[uint8(i.b)]
			switch v.Kind() {
			case KindTable:
				r[i.a].setNumber(float64(v.table().Len()))
			case KindString:
				r[i.a].setNumber(float64(len(v.Text())))
			default:
				fr.pc = pc
				v = t.length(v)
				t.stack[t.frames[len(t.frames)-1].base+int(i.a)] = v
				goto reload
			}
		case opConcat:
			fr.pc = pc
			v := t.concat(fr.base+int(i.b), fr.base+int(i.c))
			t.stack[t.frames[len(t.frames)-1].base+int(i.a)] = v
			goto reload
		case opJump:
			if pc += int(i.c); i.c < 0 && s.stop.Load() != nil {
				s.stopped()
			}
		case opEqual:
			a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c))
			if a.ref == b.ref && a.ref != nil && a.ref.kind != KindNumber || !(a.isKind(KindTable) && b.isKind(KindTable)) {
				if Equal(*a, *b) == (i.a != 0) {
					goto jump
				}
				pc++
				continue
			}
			fr.pc = pc
			if t.equal(*a, *b) != (i.a != 0) {
				pc++
			}
			goto reload
		case opLess:
			a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c))
			if a.ref == &numberMark && b.ref == &numberMark {
				if (a.Float() < b.Float()) == (i.a != 0) {
					goto jump
				}
				pc++
				continue
			}
			fr.pc = pc
			if t.Less(*a, *b) != (i.a != 0) {
				pc++
			}
			goto reload
		case opLessEqual:
			a, b := rk(r, k, int(i.b)), rk(r, k, int(i.c))
			if a.ref == &numberMark && b.ref == &numberMark {
				if (a.Float() <= b.Float()) == (i.a != 0) {
					goto jump
				}
				pc++
				continue
			}
			fr.pc = pc
			if t.lessEqual(*a, *b) != (i.a != 0) {
				pc++
			}
			goto reload
		case opTest:
			if r[uint8(i.b)].Truth() == (i.a != 0) {
				goto jump
			}
			pc++
		case opTestMove:
			if r[uint8(i.b)].Truth() == (i.a != 0) {
				r[uint8(i.c)] = r[uint8(i.b)]
				goto jump
			}
			pc++
		case opCall, opTailCall:
			slot, args := fr.base+int(i.a), int(i.b)-1
			if args < 0 {
				args = t.top - slot - 1
			}
			fr.pc = pc
			if s.stop.Load() != nil {
				s.stopped()
			}
			if i.op == opTailCall {
				if t.tailCall(slot, args) {
					goto enter
				}
			} else if t.call(slot, args, int(i.c)-1, false) {
				goto enter
			}
			if t.yielded {
				return
			}
			if i.c != 0 {
				fr = &t.frames[len(t.frames)-1]
				t.top = fr.base + fr.fn.proto.registers
			}
			goto reload
		case opReturn:
			first, n := fr.base+int(i.a), int(i.b)-1
			if n < 0 {
				n = t.top - first
			}
			if len(t.open) > 0 {
				t.closeUpvalues(fr.base - fr.varargs)
			}
			slot, want, boundary := fr.slot, fr.want, fr.boundary
			t.frames = t.frames[:len(t.frames)-1]
			if want == 1 && n == 1 {
				t.stack[slot] = t.stack[first]
			} else {
				t.results(slot, first, n, want)
			}
			if boundary || len(t.frames) == 0 {
				return
			}
			if want >= 0 {
				fr = &t.frames[len(t.frames)-1]
				t.top = fr.base + fr.fn.proto.registers
			}
			goto enter
		case opForPrep:
			fr.pc = pc
			t.forPrep(fr.base + int(i.a))
			pc += int(i.c)
		case opForLoop:
			step := r[i.a+2].Float()
			at, limit := r[i.a].Float()+step, r[i.a+1].Float()
			if step > 0 && at <= limit || !(step > 0) && limit <= at {
				r[i.a].num = floatBits(at)
				r[i.a+3].setNumber(at)
				pc += int(i.c)
				if s.stop.Load() != nil {
					s.stopped()
				}
			}
		case opForEach:
			slot := fr.base + int(i.a) + 3
			fr.pc = pc
			if s.stop.Load() != nil {
				s.stopped()
			}
			if fn := r[i.a]; fn.ref == &s.nextFunction.header && r[i.a+1].IsTable() {
				// next, as pairs has it, without a call
				key, value, ok := r[i.a+1].table().Next(r[i.a+2])
				if !ok {
					t.throw(t.String("invalid key to 'next'")) // next has no line
				}
				if key.ref == nil {
					pc++
					continue
				}
				r[i.a+2], r[i.a+3], r[i.a+4] = key, key, value
				for j := uint16(2); j < i.b; j++ {
					r[i.a+3+uint8(j)] = Nil
				}
				goto jump
			}
			t.top = slot + 3
			copy(t.stack[slot:], t.stack[slot-3:slot])
			t.callWithin(slot, 2, int(i.b))
			fr = &t.frames[len(t.frames)-1]
			t.top = fr.base + fr.fn.proto.registers
			if v := t.stack[slot]; v.ref != nil {
				t.stack[slot-1] = v
			} else {
				pc++
			}
			goto reload
		case opClose:
			t.closeUpvalues(fr.base + int(i.a))
		case opClosure:
			r[i.a] = t.closure(fr.fn.proto.protos[i.c], fr)
		case opVarargs:
			first, n := fr.base+int(i.a), int(i.b)-1
			if n < 0 {
				n = fr.varargs
				t.need(first + n + window)
				t.top = first + n
			}
			have := min(n, fr.varargs)
			copy(t.stack[first:first+have], t.stack[fr.base-fr.varargs:fr.base])
			clear(t.stack[first+have : first+n])
			goto reload
		}
		continue
	jump:
		i = code[pc]
		if pc += int(i.c) + 1; i.c < 0 && s.stop.Load() != nil {
			s.stopped()
		}
		continue
	arithmetic:
		fr.pc = pc
		v := t.arith(i.op, *rk(r, k, int(i.b)), *rk(r, k, int(i.c)))
		t.stack[t.frames[len(t.frames)-1].base+int(i.a)] = v
		goto reload
	}
}

// rk returns an operand that is a register or a constant.
func rk(r *[window]Value, k []Value, x int) *Value {
	if x < constants {
		return &r[uint8(x)]
	}
	return &k[x-constants]
}

// tailCall calls a function in place of the one that runs. It reports whether that is one of
// Lua; the results of another are left for the instruction that follows.
func (t *Thread) tailCall(slot, args int) bool {
	v := t.stack[slot]
	if !v.isKind(KindFunction) {
		v = t.callable(slot)
		args++
	}
	fn := v.function()
	if fn.proto == nil {
		t.call(slot, args, -1, false)
		return false
	}
	old := t.frames[len(t.frames)-1]
	if len(t.open) > 0 {
		t.closeUpvalues(old.base - old.varargs)
	}
	copy(t.stack[old.slot:], t.stack[slot:slot+args+1])
	t.frames = t.frames[:len(t.frames)-1]
	t.pushFrame(fn, old.slot, args, old.want, old.boundary)
	t.frames[len(t.frames)-1].tails = old.tails + 1
	return true
}

// forPrep checks the values of a numeric loop.
func (t *Thread) forPrep(at int) {
	for j, what := range [...]string{"initial value", "limit", "step"} {
		f, ok := ToNumber(t.stack[at+j])
		if !ok {
			t.runError("'for' %s must be a number", what)
		}
		t.stack[at+j] = Number(f)
	}
	t.stack[at] = Number(t.stack[at].Float() - t.stack[at+2].Float())
}

// closure makes a function of its code.
func (t *Thread) closure(p *Proto, fr *frame) Value {
	t.state.alloc(functionBytes + 8*len(p.upvalues))
	fn := &function{header: header{kind: KindFunction}, proto: p}
	if len(p.upvalues) > 0 {
		fn.upvalues = make([]*upvalue, len(p.upvalues))
		for i, c := range p.upvalues {
			if c.local {
				fn.upvalues[i] = t.findUpvalue(fr.base + c.index)
			} else {
				fn.upvalues[i] = fr.fn.upvalues[c.index]
			}
		}
	}
	return fn.value()
}
