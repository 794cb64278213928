package document

// A Format is how a text is laid out. The zero Format has no space at all.
type Format struct {
	Indent, Newline, Space string
}

// An Encoder writes values as text. After an error it writes nothing more.
type Encoder struct {
	Format
	// Buf is the text so far.
	Buf []byte
	// Around is how many arrays and objects that are no part of values lie around them.
	Around int
	// Limit is how many bytes of text there may be.
	Limit int64
	// Grow, if set, is asked for memory.
	Grow func(bytes int64) bool

	charged int
	err     error
}

// encodeSlice is how much memory an Encoder asks for at once.
const encodeSlice = 16 << 10

// Err returns [ErrTooLarge], [ErrMemory] or [ErrDepth] if the text is not complete.
func (e *Encoder) Err() error { return e.err }

// room reports whether the text may go on.
func (e *Encoder) room() bool {
	switch {
	case e.err != nil:
	case int64(len(e.Buf)) > e.Limit:
		e.err = ErrTooLarge
	case e.Grow != nil && len(e.Buf) > e.charged:
		// A buffer that grows is twice as large, and the one before is still there.
		if more := max(encodeSlice, len(e.Buf)); e.Grow(2 * int64(more)) {
			e.charged += more
		} else {
			e.err = ErrMemory
		}
	}
	return e.err == nil
}

// Value writes a value at a depth.
func (e *Encoder) Value(v *Value, depth int) {
	if !e.room() {
		return
	}
	switch v.kind {
	case Null:
		e.Buf = append(e.Buf, "null"...)
	case False:
		e.Buf = append(e.Buf, "false"...)
	case True:
		e.Buf = append(e.Buf, "true"...)
	case Integer, Double:
		e.Buf = append(e.Buf, v.text...)
	case String:
		e.Buf = appendQuoted(e.Buf, v.text)
	case Array:
		if e.Open('[', depth) {
			for i, item := range v.items {
				e.Element(i, depth)
				if e.Value(item, depth+1); e.err != nil {
					return
				}
			}
			e.Close(']', len(v.items), depth)
		}
	case Object:
		if e.Open('{', depth) {
			for i, item := range v.items {
				e.Member(i, v.keys[i], depth)
				if e.Value(item, depth+1); e.err != nil {
					return
				}
			}
			e.Close('}', len(v.items), depth)
		}
	}
}

// Open begins an array or an object at a depth, and reports whether that is possible.
func (e *Encoder) Open(bracket byte, depth int) bool {
	if depth >= MaxDepth+e.Around {
		e.err = ErrDepth
	}
	e.Buf = append(e.Buf, bracket)
	return e.err == nil
}

// Element begins an element, of a number, of what is at a depth.
func (e *Encoder) Element(i, depth int) {
	if e.err != nil {
		return
	}
	if i > 0 {
		e.Buf = append(e.Buf, ',')
	}
	e.line(depth + 1)
}

// Member begins a member as Element does.
func (e *Encoder) Member(i int, key string, depth int) {
	if !e.room() {
		return
	}
	e.Element(i, depth)
	e.Buf = append(appendQuoted(e.Buf, key), ':')
	e.Buf = append(e.Buf, e.Space...)
}

// Close ends an array or an object with so many elements.
func (e *Encoder) Close(bracket byte, elements, depth int) {
	if elements > 0 {
		e.line(depth)
	}
	e.Buf = append(e.Buf, bracket)
}

func (e *Encoder) line(depth int) {
	e.Buf = append(e.Buf, e.Newline...)
	if e.Indent == "" {
		return
	}
	for range depth {
		if !e.room() {
			return
		}
		e.Buf = append(e.Buf, e.Indent...)
	}
}

const hex = "0123456789abcdef"

// appendQuoted appends a string with its quotes, and escapes what must be.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(append(dst, s[start:i]...), '\\')
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, c)
		case '\b':
			dst = append(dst, 'b')
		case '\f':
			dst = append(dst, 'f')
		case '\n':
			dst = append(dst, 'n')
		case '\r':
			dst = append(dst, 'r')
		case '\t':
			dst = append(dst, 't')
		default:
			dst = append(dst, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}
