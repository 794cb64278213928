package lua

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
