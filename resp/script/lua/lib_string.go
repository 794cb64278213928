package lua

import "strings"

// A stringLibrary is the library string of a state.
type stringLibrary struct {
	bytes [256]Value // strings of one byte, made when they are needed
}

// OpenString returns the library string, and lets strings find their methods in it.
func OpenString(t *Thread) *Table {
	l := &stringLibrary{}
	lib := t.libraryOf([]libraryFunction{
		{"byte", stringByte}, {"char", l.char}, {"dump", stringDump}, {"find", l.find}, {"format", stringFormat},
		{"gfind", l.gmatch}, {"gmatch", l.gmatch}, {"gsub", l.gsub}, {"len", stringLen}, {"lower", stringLower},
		{"match", l.match}, {"rep", stringRep}, {"reverse", stringReverse}, {"sub", l.sub}, {"upper", stringUpper},
	})
	t.SetField(lib, "gfind", lib.GetField("gmatch"))
	meta := t.NewTable(0, 1)
	t.SetField(meta, "__index", lib.Value())
	t.State().SetStringMetatable(meta)
	return lib
}

// position returns a position from the start of n bytes; a negative one counts from their end.
func position(i, n int) int {
	if i < 0 {
		i += n + 1
	}
	return max(i, 0)
}

// pushPart pushes a part of the text of v.
func (l *stringLibrary) pushPart(t *Thread, v Value, from, to int) {
	s := v.Text()
	switch to - from {
	case len(s):
		t.Push(v)
	case 1:
		t.Push(l.single(s[from]))
	default:
		t.PushCopy(s[from:to])
	}
}

// single returns the string of one byte.
func (l *stringLibrary) single(c byte) Value {
	v := &l.bytes[c]
	if v.IsNil() {
		*v = String(string([]byte{c}))
	}
	return *v
}

func stringLen(t *Thread) int { return t.push1(Number(float64(len(t.CheckString(1))))) }

func (l *stringLibrary) sub(t *Thread) int {
	n := len(t.CheckString(1))
	from := max(position(t.CheckInt(2), n), 1)
	to := min(position(t.OptInt(3, -1), n), n)
	if from > to {
		return t.push1(t.String(""))
	}
	l.pushPart(t, t.Arg(1), from-1, to)
	return 1
}

// maxStack is LUAI_MAXCSTACK: the values that a function may have on its stack.
const maxStack = 8000

// checkStack raises an error unless n more values fit on the stack, beside used ones.
func (t *Thread) checkStack(used, n int, what string) {
	if n > maxStack || used+n > maxStack {
		t.Errorf("stack overflow (%s)", what)
	}
}

func stringByte(t *Thread) int {
	s := t.CheckString(1)
	from := position(t.OptInt(2, 1), len(s))
	to := min(position(t.OptInt(3, from), len(s)), len(s))
	from = max(from, 1)
	if from > to {
		return 0
	}
	n := to - from + 1
	t.checkStack(t.NArgs(), n, "string slice too long")
	for i := range n {
		t.Push(Number(float64(s[from-1+i])))
	}
	return n
}

func (l *stringLibrary) char(t *Thread) int {
	n := t.NArgs()
	var small [64]byte
	b := small[:0]
	for i := 1; i <= n; i++ {
		c := t.CheckInt32(i)
		if c != int(byte(c)) {
			t.ArgError(i, "invalid value")
		}
		b = append(b, byte(c))
	}
	if n == 1 {
		return t.push1(l.single(b[0]))
	}
	t.PushCopy(stringOf(b))
	return 1
}

// stringDump returns the head of bytecode. As in Redis, nothing loads bytecode, so no more of it
// has a use.
func stringDump(t *Thread) int {
	if t.CheckFunction(1).function().proto == nil {
		t.Errorf("unable to dump given function")
	}
	return t.push1(t.String("\x1bLuaQ\x00\x01\x04\x08\x04\x08\x00"))
}

func stringRep(t *Thread) int {
	s, n := t.CheckString(1), t.CheckInt32(2)
	if n <= 0 || s == "" {
		return t.push1(t.String(""))
	}
	return t.fill(len(s)*n, func(b []byte, at, to int) {
		for at < to {
			if at < len(s) {
				at += copy(b[at:to], s[at:])
			} else {
				at += copy(b[at:to], b[at%len(s):at])
			}
		}
	})
}

func stringReverse(t *Thread) int {
	s := t.CheckString(1)
	return t.fill(len(s), func(b []byte, from, to int) {
		for i := from; i < to; i++ {
			b[i] = s[len(s)-1-i]
		}
	})
}

func stringLower(t *Thread) int { return changeCase(t, 'A') }
func stringUpper(t *Thread) int { return changeCase(t, 'a') }

// changeCase changes the letters that first and the 25 bytes behind it are.
func changeCase(t *Thread, first byte) int {
	s := t.CheckString(1)
	return t.fill(len(s), func(b []byte, from, to int) {
		for i := from; i < to; i++ {
			c := s[i]
			if c-first < 26 {
				c ^= 0x20
			}
			b[i] = c
		}
	})
}

func (l *stringLibrary) find(t *Thread) int  { return l.search(t, true) }
func (l *stringLibrary) match(t *Thread) int { return l.search(t, false) }

func (l *stringLibrary) search(t *Thread, find bool) int {
	s, pat := t.CheckString(1), t.CheckString(2)
	from := min(max(position(t.OptInt(3, 1), len(s))-1, 0), len(s))
	if find && (t.Arg(4).Truth() || isPlain(pat)) {
		at := t.find(s, pat, from)
		if at < 0 {
			return t.push1(Nil)
		}
		t.Push(Number(float64(at + 1)))
		return 1 + t.push1(Number(float64(at+len(pat))))
	}
	var m matcher
	m.init(t, s, pat, true)
	start, end := m.search(from)
	switch {
	case start < 0:
		return t.push1(Nil)
	case find:
		t.Push(Number(float64(start + 1)))
		t.Push(Number(float64(end)))
		if m.level == 0 {
			return 2
		}
		return 2 + l.pushCaptures(&m, t.Arg(1), start, end)
	}
	return l.pushCaptures(&m, t.Arg(1), start, end)
}

// find returns where a text is in s, from a position on, or -1.
func (t *Thread) find(s, text string, from int) int {
	for {
		to := min(from+len(text)+copySlice, len(s))
		if at := strings.Index(s[from:to], text); at >= 0 {
			return from + at
		}
		if t.Step((to - from) / 16); to == len(s) {
			return -1
		}
		from = to - len(text) + 1
	}
}

// isPlain reports whether a pattern matches its own text alone.
func isPlain(pat string) bool {
	for i := range len(pat) {
		if isMagic[pat[i]] {
			return false
		}
		if pat[i] == 0 { // where a text of C ends
			break
		}
	}
	return true
}

// pushCaptures pushes all captures, or the whole match if the pattern has none, and returns
// their number.
func (l *stringLibrary) pushCaptures(m *matcher, src Value, start, end int) int {
	n := max(m.level, 1)
	for i := range n {
		l.pushCapture(m, i, src, start, end)
	}
	return n
}

func (l *stringLibrary) pushCapture(m *matcher, i int, src Value, start, end int) {
	if i >= m.level {
		if i > 0 {
			m.t.Errorf("invalid capture index")
		}
		l.pushPart(m.t, src, start, end)
		return
	}
	switch c := m.captures[i]; c.len {
	case captureOpen:
		m.t.Errorf("unfinished capture")
	case capturePosition:
		m.t.Push(Number(float64(c.at + 1)))
	default:
		l.pushPart(m.t, src, c.at, c.at+c.len)
	}
}

func (l *stringLibrary) gmatch(t *Thread) int {
	s, pat := t.CheckString(1), t.CheckString(2)
	src := &upvalue{own: t.Arg(1)}
	src.at = &src.own
	t.Hold(matcherBytes)
	m := new(matcher)
	m.init(t, s, pat, false)
	from := 0
	fn := t.NewFunction(func(t *Thread) int {
		m.t, m.held = t, depthSlice
		start, end := m.search(from)
		if start < 0 {
			return 0
		}
		if from = end; end == start {
			from++
		}
		return l.pushCaptures(m, src.own, start, end)
	})
	fn.function().upvalues = []*upvalue{src} // so that the text counts
	return t.push1(fn)
}

func (l *stringLibrary) gsub(t *Thread) int {
	s, pat := t.CheckString(1), t.CheckString(2)
	kind := t.Arg(3).Kind()
	limit := t.optInt32(4, len(s)+1)
	switch kind {
	case KindNumber, KindString:
		t.CheckString(3)
	case KindFunction, KindTable:
	default:
		t.ArgError(3, "string/function/table expected")
	}
	src, with := t.Arg(1), t.Arg(3)
	var m matcher
	m.init(t, s, pat, true)
	b := t.NewBuffer()
	n, copied := 0, 0
	for at := 0; n < limit; {
		start, end := m.search(at)
		if start < 0 {
			break
		}
		n++
		b.Append(s[copied:start])
		l.replace(&m, b, with, src, start, end)
		copied = end
		if at = end; end == start {
			at++
		}
		if m.anchored || at > len(s) {
			break
		}
	}
	if n == 0 {
		t.Push(src)
	} else {
		b.Append(s[copied:])
		b.Push()
	}
	t.Push(Number(float64(n)))
	return 2
}

// replace appends what replaces a match.
func (l *stringLibrary) replace(m *matcher, b *Buffer, with, src Value, start, end int) {
	t := m.t
	switch with.Kind() {
	case KindString:
		l.expand(m, b, with.Text(), src, start, end)
		return
	case KindFunction:
		t.Push(with)
		t.Call(l.pushCaptures(m, src, start, end), 1)
	default:
		l.pushCapture(m, 0, src, start, end)
		t.Push(t.index(with, t.Pop(), 0))
	}
	v := t.Pop()
	if !v.Truth() {
		b.Append(src.Text()[start:end])
		return
	}
	text, ok := ToText(v)
	if !ok {
		t.Errorf("invalid replacement value (a %s)", v.Kind())
	}
	b.Append(text)
}

// expand appends a replacement in which %0 to %9 stand for captures.
func (l *stringLibrary) expand(m *matcher, b *Buffer, with string, src Value, start, end int) {
	for {
		i := strings.IndexByte(with, '%')
		if i < 0 {
			b.Append(with)
			return
		}
		b.Append(with[:i])
		var c byte // a text of C ends with a zero byte
		if with = with[i+1:]; with != "" {
			c, with = with[0], with[1:]
		}
		switch {
		case c == '0':
			b.Append(src.Text()[start:end])
		case c >= '1' && c <= '9':
			l.appendCapture(m, b, int(c-'1'), src, start, end)
		default:
			b.AppendByte(c)
		}
	}
}

func (l *stringLibrary) appendCapture(m *matcher, b *Buffer, i int, src Value, start, end int) {
	switch {
	case i < m.level && m.captures[i].len >= 0:
		c := m.captures[i]
		b.Append(src.Text()[c.at : c.at+c.len])
		return
	case i == 0 && m.level == 0:
		b.Append(src.Text()[start:end])
		return
	}
	l.pushCapture(m, i, src, start, end)
	text, _ := ToText(m.t.Pop())
	b.Append(text)
}
