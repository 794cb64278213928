package document

import (
	"errors"
	"strconv"
	"strings"
)

// MaxDepth is how many arrays and objects may lie within each other.
const MaxDepth = 127

// Errors of limits.
var (
	// ErrDepth says that a value would be deeper than MaxDepth.
	ErrDepth = errors.New("recursion limit exceeded")
	// ErrMemory says that there is no memory for a tree, or for its text.
	ErrMemory = errors.New("no memory for the JSON value")
	// ErrTooLarge says that a text would be longer than it may be.
	ErrTooLarge = errors.New("the JSON text is too long")
)

// A Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	False
	True
	Integer
	Double
	String
	Array
	Object
)

// A Value is a node of a tree, with all below it.
type Value struct {
	kind Kind
	// text is that of a number, as it is written, or a string.
	text string
	// items are those of an array, or the values of an object's members.
	items []*Value
	// keys are the names of an object's members, each once. len(keys) == len(items).
	keys []string
}

// nodeBytes is about what a node takes beside its text.
const nodeBytes = 96

// Kind returns what the value is.
func (v *Value) Kind() Kind { return v.kind }

// TypeName returns the name of the value's type.
func (v *Value) TypeName() string {
	switch v.kind {
	case Null:
		return "null"
	case False, True:
		return "boolean"
	case Integer:
		return "integer"
	case Double:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	}
	return "object"
}

// IsNumber reports whether the value is an integer or a double.
func (v *Value) IsNumber() bool { return v.kind == Integer || v.kind == Double }

// IsContainer reports whether the value is an array or an object.
func (v *Value) IsContainer() bool { return v.kind >= Array }

// Text returns a string, or a number as it is written.
func (v *Value) Text() string { return v.text }

// Len returns how many elements an array has, or members an object.
func (v *Value) Len() int { return len(v.items) }

// At returns an element of an array, or the value of a member.
func (v *Value) At(i int) *Value { return v.items[i] }

// Key returns the name of a member.
func (v *Value) Key(i int) string { return v.keys[i] }

// Find returns the number of the member of a name, or -1.
func (v *Value) Find(key string) int {
	for i, k := range v.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// Int returns an integer; ok is false if the value is none, or none of 64 bits with a sign.
func (v *Value) Int() (n int64, ok bool) {
	if v.kind != Integer {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}

// Float returns a number; 0 if the value is none.
func (v *Value) Float() float64 {
	if !v.IsNumber() {
		return 0
	}
	f, _ := strconv.ParseFloat(v.text, 64)
	return f
}

// NewInt returns an integer.
func NewInt(n int64) *Value { return &Value{kind: Integer, text: strconv.FormatInt(n, 10)} }

// NewDouble returns a number, which must be finite.
func NewDouble(f float64) *Value { return &Value{kind: Double, text: string(appendDouble(nil, f))} }

// NewString returns a string.
func NewString(s string) *Value { return &Value{kind: String, text: s} }

// Set makes v what another value is. Both share all below them, so only one of them may be changed from then on.
func (v *Value) Set(to *Value) { *v = *to }

// SetBool makes v true or false.
func (v *Value) SetBool(b bool) {
	*v = Value{kind: False}
	if b {
		v.kind = True
	}
}

// Clear empties an array or an object.
func (v *Value) Clear() { v.items, v.keys = nil, nil }

// Add adds a member to an object that has none of the name.
func (v *Value) Add(key string, value *Value) {
	v.keys, v.items = append(v.keys, key), append(v.items, value)
}

// Insert inserts elements into an array, before the one of a number.
func (v *Value) Insert(at int, values []*Value) {
	items := make([]*Value, 0, len(v.items)+len(values))
	items = append(append(items, v.items[:at]...), values...)
	v.items = append(items, v.items[at:]...)
}

// Pop removes an element of an array and returns it.
func (v *Value) Pop(at int) *Value {
	popped := v.items[at]
	items := make([]*Value, 0, len(v.items)-1)
	v.items = append(append(items, v.items[:at]...), v.items[at+1:]...)
	return popped
}

// Trim leaves the elements of an array from one up to, not including, another.
func (v *Value) Trim(from, to int) { v.items = v.items[from:to] }

// Remove removes what a function says from all below v, and nothing within what it has removed. It returns how many
// values are gone.
func (v *Value) Remove(goes func(*Value) bool) (removed int) {
	kept := 0
	for i, item := range v.items {
		if goes(item) {
			removed++
			continue
		}
		removed += item.Remove(goes)
		v.items[kept] = item
		if v.kind == Object {
			v.keys[kept] = v.keys[i]
		}
		kept++
	}
	clear(v.items[kept:])
	v.items = v.items[:kept]
	if v.kind == Object {
		v.keys = v.keys[:kept]
	}
	return removed
}

// Count returns how many values there are in a tree.
func (v *Value) Count() int64 {
	n := int64(1)
	for _, item := range v.items {
		n += item.Count()
	}
	return n
}

// equalBytes is how many bytes of equal strings count as one step.
const equalBytes = 512

// Equal reports whether two values are the same: members of objects may be in any order, and an integer is no double. It
// calls step with how many values it compares, unless step is nil, and returns false when step does.
func (v *Value) Equal(other *Value, step func(n int64) bool) bool {
	if v.kind != other.kind || len(v.items) != len(other.items) || len(v.text) != len(other.text) && v.kind != Double {
		return false
	}
	if step != nil && !step(1+int64(len(v.items)+len(v.text)/equalBytes)) {
		return false
	}
	switch v.kind {
	case Integer, String:
		return v.text == other.text
	case Double:
		return v.Float() == other.Float()
	case Array:
		for i, item := range v.items {
			if !item.Equal(other.items[i], step) {
				return false
			}
		}
	case Object:
		index := other.index()
		for i, item := range v.items {
			n, ok := index.find(v.keys[i])
			if !ok || !item.Equal(other.items[n], step) {
				return false
			}
		}
	}
	return true
}

// Compare compares numbers, or strings; ok is false for all else.
func (v *Value) Compare(other *Value) (c int, ok bool) {
	switch {
	case v.kind == String && other.kind == String:
		return strings.Compare(v.text, other.text), true
	case !v.IsNumber() || !other.IsNumber():
		return 0, false
	}
	if a, ok := v.Int(); ok {
		if b, ok := other.Int(); ok {
			return order(a, b), true
		}
	}
	return order(v.Float(), other.Float()), true
}

func order[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// An index finds members by their names.
type index struct {
	of    *Value
	large map[string]int // nil: there are few
}

// fewMembers is up to how many members are looked through one by one.
const fewMembers = 16

// index returns an index of the members as they are.
func (v *Value) index() *index {
	x := &index{of: v}
	if len(v.keys) > fewMembers {
		x.grow()
	}
	return x
}

func (x *index) grow() {
	x.large = make(map[string]int, 2*len(x.of.keys))
	for i, key := range x.of.keys {
		x.large[key] = i
	}
}

func (x *index) find(key string) (int, bool) {
	if x.large != nil {
		i, ok := x.large[key]
		return i, ok
	}
	i := x.of.Find(key)
	return i, i >= 0
}

// add adds a member whose name is new.
func (x *index) add(key string, value *Value) {
	x.of.Add(key, value)
	switch {
	case x.large != nil:
		x.large[key] = len(x.of.keys) - 1
	case len(x.of.keys) > fewMembers:
		x.grow()
	}
}
