package lua

import "strings"

var metaNames = []string{
	"__index", "__newindex", "__call", "__eq", "__lt", "__le", "__concat", "__len", "__unm", "__add", "__sub", "__mul",
	"__div", "__mod", "__pow", "__metatable", "__tostring", "n",
}

// maxMetaLoop is how many metamethods that are tables an access goes through.
const maxMetaLoop = 100

// name returns a text that the state has ready as a key.
func (s *State) name(name string) Value { return Value{ref: &s.names[name].header} }

// metatable returns the metatable of a value, or nil.
func (s *State) metatable(v Value) *Table {
	switch v.Kind() {
	case KindTable:
		return v.table().meta
	case KindString:
		return s.stringMeta
	}
	return nil
}

// metaValue returns a metamethod of a value, or nil.
func (s *State) metaValue(v Value, name string) Value {
	meta := s.metatable(v)
	if meta == nil {
		return Nil
	}
	return meta.getString(s.names[name])
}

// index is v[key]. operand is that of v in the instruction at hand, or 0.
func (t *Thread) index(v, key Value, operand byte) Value {
	s := t.state
	for range maxMetaLoop {
		var handler Value
		if v.IsTable() {
			table := v.table()
			found := table.Get(key)
			if found.ref != nil || table.meta == nil {
				return found
			}
			if handler = table.meta.getString(s.indexName); handler.ref == nil {
				return Nil
			}
		} else if handler = s.metaValue(v, "__index"); handler.ref == nil {
			t.typeError("index", v, operand)
		}
		if handler.isKind(KindFunction) {
			return t.callMeta(handler, v, key)
		}
		v, operand = handler, 0
	}
	t.runError("loop in gettable")
	return Nil
}

// setIndex is v[key] = value.
func (t *Thread) setIndex(v, key, value Value, operand byte) {
	s := t.state
	for range maxMetaLoop {
		var handler Value
		if v.IsTable() {
			table := v.table()
			if table.readonly {
				t.readonlyError()
			}
			// The key is there from now on, also if a metamethod takes the value.
			slot := t.slot(table, key)
			if slot.ref == nil && table.meta != nil {
				handler = table.meta.getString(s.newindexName)
			}
			if handler.ref == nil {
				*slot = value
				return
			}
		} else if handler = s.metaValue(v, "__newindex"); handler.ref == nil {
			t.typeError("index", v, operand)
		}
		if handler.isKind(KindFunction) {
			t.callMeta(handler, v, key, value)
			return
		}
		v, operand = handler, 0
	}
	t.runError("loop in settable")
}

func (t *Thread) readonlyError() { t.runError("Attempt to modify a readonly table") }

// slot returns where the value of a key is, which may be new. It raises an error for a key
// that tables cannot have.
func (t *Thread) slot(table *Table, key Value) *Value {
	switch {
	case key.ref == nil:
		t.runError("table index is nil")
	case key.ref == &numberMark && key.Float() != key.Float():
		t.runError("table index is NaN")
	}
	if p := table.slot(key); p != nil {
		return p
	}
	return t.state.insert(table, key)
}

var arithNames = map[opcode]string{
	opAdd: "__add", opSub: "__sub", opMul: "__mul", opDiv: "__div", opMod: "__mod", opPow: "__pow", opMinus: "__unm",
}

// arith is an arithmetic operator on values that are not both numbers.
func (t *Thread) arith(op opcode, a, b Value) Value {
	x, ok1 := ToNumber(a)
	y, ok2 := ToNumber(b)
	if ok1 && ok2 {
		return Number(arith(op, x, y))
	}
	if v, ok := t.binaryMeta(a, b, arithNames[op]); ok {
		return v
	}
	if !ok1 {
		t.typeError("perform arithmetic on", a, 'b')
	}
	t.typeError("perform arithmetic on", b, 'c')
	return Nil
}

// binaryMeta calls the metamethod of the first operand that has it.
func (t *Thread) binaryMeta(a, b Value, name string) (Value, bool) {
	handler := t.state.metaValue(a, name)
	if handler.ref == nil {
		if handler = t.state.metaValue(b, name); handler.ref == nil {
			return Nil, false
		}
	}
	if !handler.isKind(KindFunction) {
		t.typeError("call", handler, 0)
	}
	return t.callMeta(handler, a, b), true
}

// length is #v for what is neither a table nor a string.
func (t *Thread) length(v Value) Value {
	n, ok := t.binaryMeta(v, Nil, "__len")
	if !ok {
		t.typeError("get length of", v, 'b')
	}
	return n
}

// equal is a == b.
func (t *Thread) equal(a, b Value) bool {
	if Equal(a, b) {
		return true
	}
	if !a.IsTable() || !b.IsTable() {
		return false
	}
	handler, ok := t.sameMeta(a, b, "__eq")
	return ok && t.callMeta(handler, a, b).Truth()
}

// sameMeta returns the metamethod that two values share.
func (t *Thread) sameMeta(a, b Value, name string) (Value, bool) {
	s := t.state
	handler := s.metaValue(a, name)
	if handler.ref == nil {
		return Nil, false
	}
	return handler, Equal(handler, s.metaValue(b, name))
}

// Less is a < b.
func (t *Thread) Less(a, b Value) bool {
	if a.Kind() == b.Kind() {
		switch a.Kind() {
		case KindNumber:
			return a.Float() < b.Float()
		case KindString:
			return a.Text() < b.Text()
		}
		if handler, ok := t.sameMeta(a, b, "__lt"); ok {
			return t.callMeta(handler, a, b).Truth()
		}
	}
	t.compareError(a, b)
	return false
}

// lessEqual is a <= b.
func (t *Thread) lessEqual(a, b Value) bool {
	if a.Kind() == b.Kind() {
		switch a.Kind() {
		case KindNumber:
			return a.Float() <= b.Float()
		case KindString:
			return a.Text() <= b.Text()
		}
		if handler, ok := t.sameMeta(a, b, "__le"); ok {
			return t.callMeta(handler, a, b).Truth()
		}
		if handler, ok := t.sameMeta(b, a, "__lt"); ok {
			return !t.callMeta(handler, b, a).Truth()
		}
	}
	t.compareError(a, b)
	return false
}

// concat joins the values from one register to another, from the right to the left.
func (t *Thread) concat(first, last int) Value {
	s := t.state
	for last > first {
		a, b := t.stack[last-1], t.stack[last]
		_, ok1 := textLength(a)
		n, ok2 := textLength(b)
		if !ok1 || !ok2 {
			v, ok := t.binaryMeta(a, b, "__concat")
			if !ok {
				t.concatError(first, last, ok1)
			}
			last--
			t.stack[last] = v
			continue
		}
		// As many as are texts are joined at once.
		from := last
		for from > first {
			more, ok := textLength(t.stack[from-1])
			if !ok {
				break
			}
			n += more
			from--
		}
		s.alloc(stringBytes + n)
		s.step(n)
		var text strings.Builder
		text.Grow(n)
		for _, v := range t.stack[from : last+1] {
			piece, _ := ToText(v)
			text.WriteString(piece)
		}
		last = from
		t.stack[last] = String(text.String())
	}
	return t.stack[first]
}

// concatError says which of two values cannot be joined.
func (t *Thread) concatError(first, last int, firstIsText bool) {
	bad := last - 1
	if firstIsText {
		bad = last
	}
	f := &t.frames[len(t.frames)-1]
	i := f.fn.proto.code[f.pc-1]
	operand := byte(bad - first)
	if int(i.c)-int(i.b) == 1 {
		operand = 'b' + operand
	}
	t.typeError("concatenate", t.stack[bad], operand)
}

// textLength returns how many bytes a string or number has as a text, or about that.
func textLength(v Value) (int, bool) {
	switch {
	case v.IsString():
		return len(v.Text()), true
	case v.IsNumber():
		return 24, true
	}
	return 0, false
}
