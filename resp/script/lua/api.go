package lua

import (
	"fmt"
	"maps"
	"slices"
)

// What functions of the host work with.

// State returns the state of t.
func (t *Thread) State() *State { return t.state }

func (t *Thread) frame() *frame { return &t.frames[len(t.frames)-1] }

// NArgs returns how many arguments the function was called with.
func (t *Thread) NArgs() int { return t.frame().args }

// Arg returns an argument, counted from 1; nil beyond the last one.
func (t *Thread) Arg(i int) Value {
	if f := t.frame(); uint(i-1) < uint(f.args) {
		return t.stack[f.base+i-1]
	}
	return Nil
}

// SetArg replaces an argument.
func (t *Thread) SetArg(i int, v Value) { t.stack[t.frame().base+i-1] = v }

// Push puts a value on top of the stack.
func (t *Thread) Push(v Value) {
	if t.top == len(t.stack) {
		t.need(t.top + 1)
	}
	t.stack[t.top] = v
	t.top++
}

// Pop takes the topmost value off the stack.
func (t *Thread) Pop() Value {
	t.top--
	return t.stack[t.top]
}

// Top returns the n-th value from the top of the stack; 1 is the topmost.
func (t *Thread) Top(n int) Value { return t.stack[t.top-n] }

// String returns a string, which counts.
func (t *Thread) String(s string) Value {
	t.state.alloc(stringBytes + len(s))
	return String(s)
}

// PushString pushes a string, which counts.
func (t *Thread) PushString(s string) { t.Push(t.String(s)) }

// NewTable returns a table with room for some elements and keys.
func (t *Thread) NewTable(array, hash int) *Table { return t.state.NewTable(array, hash) }

// NewFunction returns a function of the host.
func (t *Thread) NewFunction(fn GoFunction) Value {
	t.state.alloc(functionBytes)
	return (&function{header: header{kind: KindFunction}, goFn: fn}).value()
}

// Closure returns a function of compiled code.
func (s *State) Closure(p *Proto) Value {
	s.alloc(functionBytes)
	return (&function{header: header{kind: KindFunction}, proto: p}).value()
}

// Register adds functions to a table, in the order of their names: pairs shows it.
func (t *Thread) Register(table *Table, functions map[string]GoFunction) {
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		t.SetField(table, name, t.NewFunction(functions[name]))
	}
}

// A libraryFunction is a function by its name. Libraries keep them in the order of the C library,
// since pairs shows it.
type libraryFunction struct {
	name string
	fn   GoFunction
}

// libraryOf returns a table of functions.
func (t *Thread) libraryOf(functions []libraryFunction) *Table {
	lib := t.NewTable(0, len(functions))
	for _, f := range functions {
		t.SetField(lib, f.name, t.NewFunction(f.fn))
	}
	return lib
}

// Set gives a key of a table a value, without metamethods.
func (t *Thread) Set(table *Table, key, value Value) {
	if table.readonly {
		t.readonlyError()
	}
	*t.slot(table, key) = value
}

// SetInt is Set for an integer.
func (t *Thread) SetInt(table *Table, i int, value Value) {
	if table.readonly {
		t.readonlyError()
	}
	t.state.setInt(table, i, value)
}

// SetField is Set for a string.
func (t *Thread) SetField(table *Table, name string, value Value) {
	t.Set(table, t.String(name), value)
}

// Step notes n units of work, about one a byte or element. It ends the function, and the
// script, if the state is to stop.
func (t *Thread) Step(n int) { t.state.step(n) }

// Hold notes that the function that runs holds n more bytes of memory, until it returns.
func (t *Thread) Hold(n int) {
	t.state.alloc(n)
	t.state.held += n
}

// IsNone reports whether there is no such argument.
func (t *Thread) IsNone(i int) bool { return i > t.NArgs() }

// CheckAny raises an error if there is no such argument.
func (t *Thread) CheckAny(i int) Value {
	if t.IsNone(i) {
		t.ArgError(i, "value expected")
	}
	return t.Arg(i)
}

// CheckNumber returns an argument that is a number, or a string that says one.
func (t *Thread) CheckNumber(i int) float64 {
	v := t.Arg(i)
	if v.IsNumber() {
		return v.Float()
	}
	f, ok := ToNumber(v)
	if !ok {
		t.TypeError(i, "number")
	}
	return f
}

// CheckInt is CheckNumber, converted as Integer does.
func (t *Thread) CheckInt(i int) int { return Integer(t.CheckNumber(i)) }

// CheckInt32 is an argument that C takes as an int.
func (t *Thread) CheckInt32(i int) int { return int(int32(t.CheckInt(i))) }

func (t *Thread) optInt32(i, otherwise int) int { return int(int32(t.OptInt(i, otherwise))) }

// CheckString returns an argument that is a string or number; a number becomes a string.
func (t *Thread) CheckString(i int) string {
	v := t.Arg(i)
	if v.IsString() {
		return v.Text()
	}
	s, ok := ToText(v)
	if !ok {
		t.TypeError(i, "string")
	}
	t.SetArg(i, t.String(s))
	return s
}

// CheckTable returns an argument that is a table.
func (t *Thread) CheckTable(i int) *Table {
	v := t.Arg(i)
	if !v.IsTable() {
		t.TypeError(i, "table")
	}
	return v.table()
}

// CheckFunction returns an argument that is a function.
func (t *Thread) CheckFunction(i int) Value {
	v := t.Arg(i)
	if !v.isKind(KindFunction) {
		t.TypeError(i, "function")
	}
	return v
}

// OptInt is CheckInt, with a default for nil.
func (t *Thread) OptInt(i, d int) int {
	if t.Arg(i).IsNil() {
		return d
	}
	return t.CheckInt(i)
}

// OptString is CheckString, with a default for nil.
func (t *Thread) OptString(i int, d string) string {
	if t.Arg(i).IsNil() {
		return d
	}
	return t.CheckString(i)
}

// ToText returns the text of any value as tostring does, without metamethods.
func (t *Thread) ToText(v Value) string {
	switch v.Kind() {
	case KindNil:
		return "nil"
	case KindBool:
		if v == True {
			return "true"
		}
		return "false"
	case KindUserdata:
		return "userdata: (nil)"
	}
	if s, ok := ToText(v); ok {
		return s
	}
	// No address tells anything of the host: objects are numbered as they are shown.
	t.state.identify(v)
	return fmt.Sprintf("%s: 0x%012x", v.Kind(), 0x555500000000+0x20*int(v.ref.id))
}

// ToStringMeta returns what tostring returns.
func (t *Thread) ToStringMeta(v Value) Value {
	if handler := t.state.metaValue(v, "__tostring"); handler.ref != nil {
		if !handler.isKind(KindFunction) {
			t.typeError("call", handler, 0)
		}
		return t.callMeta(handler, v)
	}
	if v.IsString() {
		return v
	}
	return t.String(t.ToText(v))
}
