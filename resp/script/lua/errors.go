package lua

import "fmt"

// throw raises an error.
func (t *Thread) throw(v Value) {
	if t.handler != nil {
		v = t.handler(t, v)
	}
	panic(&thrown{v})
}

func (s *State) errorInHandler() Value { return String("error in error handling") }

// Throw raises an error of any type.
func (t *Thread) Throw(v Value) { t.throw(v) }

// runError raises an error at the place in Lua code where t is, if it runs Lua code.
func (t *Thread) runError(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if n := len(t.frames); n > 0 && t.frames[n-1].fn.proto != nil {
		msg = t.frames[n-1].position() + msg
	}
	t.throw(t.String(msg))
}

func (f *frame) line() int { return int(f.fn.proto.lines[f.pc-1]) }

func (f *frame) position() string { return fmt.Sprintf("%s:%d: ", f.fn.proto.chunk, f.line()) }

// level returns the frame of a level: 0 is the function that runs, 1 the one that has called
// it. It is nil for a call that a tail call has replaced, and where there is none.
func (t *Thread) level(n int) (f *frame, exists bool) {
	i := len(t.frames) - 1
	for ; n > 0 && i >= 0; i-- {
		if n--; t.frames[i].fn.proto != nil {
			n -= t.frames[i].tails
		}
	}
	if n < 0 {
		return nil, true
	}
	if i < 0 {
		return nil, false
	}
	return &t.frames[i], true
}

// Where returns the source of a level, as the host named it, and the line where it is: -1 if
// it is no Lua code. exists reports whether there is such a level.
func (t *Thread) Where(level int) (source string, line int, exists bool) {
	switch f, exists := t.level(level); {
	case !exists:
		return "", -1, false
	case f == nil:
		return "=(tail call)", -1, true
	case f.fn.proto == nil:
		return "=[C]", -1, true
	default:
		return f.fn.proto.source, f.line(), true
	}
}

// at returns where a level is, as errors begin, or "".
func (t *Thread) at(level int) string {
	if f, _ := t.level(level); f != nil && f.fn.proto != nil {
		return f.position()
	}
	return ""
}

// Errorf raises an error at the place that called the function of the host that runs.
func (t *Thread) Errorf(format string, args ...any) {
	t.throw(t.String(t.at(1) + fmt.Sprintf(format, args...)))
}

// typeError raises an error about a value that an instruction cannot be done to. operand says
// which one of the instruction it is; 0: none.
func (t *Thread) typeError(what string, v Value, operand byte) {
	kind, name := "", ""
	if n := len(t.frames); operand != 0 && n > 0 && t.frames[n-1].fn.proto != nil {
		p, pc := t.frames[n-1].fn.proto, t.frames[n-1].pc-1
		if i := p.code[pc]; i.op == opForEach {
			kind, name = p.leftIn(i.a+3, pc)
		} else {
			kind, name = p.nameOf(pc, operand)
		}
	}
	if kind != "" {
		t.runError("attempt to %s %s '%s' (a %s value)", what, kind, name, v.Kind())
	}
	t.runError("attempt to %s a %s value", what, v.Kind())
}

// calledName returns how the function of the host that runs was called.
func (t *Thread) calledName() (kind, name string) {
	n := len(t.frames)
	if n < 2 || t.frames[n-2].fn.proto == nil || t.frames[n-1].boundary {
		return "", "?"
	}
	f := &t.frames[n-2]
	operand := byte('b')
	switch f.fn.proto.code[f.pc-1].op {
	case opCall, opTailCall:
	case opForEach:
		operand = 'g'
	default:
		return "", "?"
	}
	if kind, name = f.fn.proto.nameOf(f.pc-1, operand); kind == "" {
		name = "?"
	}
	return kind, name
}

// ArgError raises an error about an argument.
func (t *Thread) ArgError(i int, msg string) {
	kind, name := t.calledName()
	if kind == "method" {
		if i--; i == 0 {
			t.Errorf("calling '%s' on bad self (%s)", name, msg)
		}
	}
	t.Errorf("bad argument #%d to '%s' (%s)", i, name, msg)
}

// TypeError raises an error about an argument of the wrong type.
func (t *Thread) TypeError(i int, want string) {
	have := "no value"
	if i <= t.NArgs() {
		have = t.Arg(i).Kind().String()
	}
	t.ArgError(i, want+" expected, got "+have)
}

// compareError raises an error about two values that have no order.
func (t *Thread) compareError(a, b Value) {
	x, y := a.Kind().String(), b.Kind().String()
	if x[2] == y[2] { // as Lua 5.1 finds out whether they are the same
		t.runError("attempt to compare two %s values", x)
	}
	t.runError("attempt to compare %s with %s", x, y)
}
