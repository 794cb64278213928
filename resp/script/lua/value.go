package lua

import "unsafe"

// A Kind is the type of a value.
type Kind uint8

// The types of Lua.
const (
	KindNil Kind = iota
	KindBool
	KindNumber
	KindString
	KindTable
	KindFunction
	KindThread
	KindUserdata
)

var kindNames = [...]string{"nil", "boolean", "number", "string", "table", "function", "thread", "userdata"}

// String returns the name of a type as the function type does.
func (k Kind) String() string { return kindNames[k] }

// A Value is a value of Lua. The zero Value is nil.
//
// A value takes two words, so that numbers need no memory of their own. ref points to an
// object, whose first field is its header; numbers and booleans point to a header that all of
// them share and keep their bits in num. Objects leave num zero.
type Value struct {
	ref *header
	num uint64
}

// A header is the first field of each object.
type header struct {
	kind Kind
	mark uint8  // of the last trace that reached the object, or uncounted
	id   uint32 // see Thread.identify
}

var (
	numberMark = header{kind: KindNumber}
	boolMark   = header{kind: KindBool}
)

// Nil, True and False are the values of these names.
var (
	Nil   = Value{}
	False = Value{ref: &boolMark}
	True  = Value{ref: &boolMark, num: 1}
)

// str is an immutable text of bytes.
type str struct {
	header
	hashed bool
	hash   uint32
	s      string
}

// A userdata is an opaque value; only light ones exist, which are equal if their ids are.
type userdata struct {
	header
	name string
}

// Null is the userdata that stands for no pointer, as cjson.null does.
var Null = Value{ref: &(&userdata{header: header{kind: KindUserdata, mark: uncounted, id: 1 << 31}, name: "userdata: (nil)"}).header}

// Number returns a number.
func Number(f float64) Value { return Value{&numberMark, floatBits(f)} }

// Bool returns a boolean.
func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// String returns a string that is not counted, for constants of the host. See Thread.String.
func String(s string) Value {
	return Value{ref: &(&str{header: header{kind: KindString}, s: s}).header}
}

// Kind returns the type of v.
func (v Value) Kind() Kind {
	if v.ref == nil {
		return KindNil
	}
	return v.ref.kind
}

// IsNil reports whether v is nil.
func (v Value) IsNil() bool { return v.ref == nil }

// IsNumber reports whether v is a number; a string is none.
func (v Value) IsNumber() bool { return v.ref == &numberMark }

// IsString reports whether v is a string; a number is none.
func (v Value) IsString() bool { return v.ref != nil && v.ref.kind == KindString }

// IsTable reports whether v is a table.
func (v Value) IsTable() bool { return v.ref != nil && v.ref.kind == KindTable }

// Truth reports whether v counts as true.
func (v Value) Truth() bool { return v.ref != nil && v != False }

func (v *Value) setNumber(f float64) {
	v.num = floatBits(f)
	if v.ref != &numberMark {
		v.ref = &numberMark
	}
}

// Float returns the number v is; v must be one.
func (v Value) Float() float64 { return floatFrom(v.num) }

// Text returns the bytes of the string v is; v must be one.
func (v Value) Text() string { return (*str)(unsafe.Pointer(v.ref)).s }

// Table returns the table v is, or nil.
func (v Value) Table() *Table {
	if v.IsTable() {
		return (*Table)(unsafe.Pointer(v.ref))
	}
	return nil
}

func (v Value) str() *str           { return (*str)(unsafe.Pointer(v.ref)) }
func (v Value) table() *Table       { return (*Table)(unsafe.Pointer(v.ref)) }
func (v Value) function() *function { return (*function)(unsafe.Pointer(v.ref)) }
func (v Value) thread() *Thread     { return (*Thread)(unsafe.Pointer(v.ref)) }
func (v Value) isKind(k Kind) bool  { return v.ref != nil && v.ref.kind == k }
func (f *function) value() Value    { return Value{ref: &f.header} }
func (t *Thread) value() Value      { return Value{ref: &t.header} }
func floatBits(f float64) uint64    { return *(*uint64)(unsafe.Pointer(&f)) }
func floatFrom(bits uint64) float64 { return *(*float64)(unsafe.Pointer(&bits)) }

// Value returns t as a value.
func (t *Table) Value() Value { return Value{ref: &t.header} }

// Equal reports whether two values are equal without metamethods.
func Equal(a, b Value) bool {
	if a.ref == b.ref {
		if a.ref == &numberMark {
			return a.Float() == b.Float()
		}
		return a.num == b.num
	}
	return a.ref != nil && b.ref != nil && a.ref.kind == KindString && b.ref.kind == KindString && a.Text() == b.Text()
}
