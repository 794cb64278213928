package luaext

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// A token is a piece of JSON.
type token uint8

const (
	tokenEnd token = iota
	tokenError
	tokenObject
	tokenObjectEnd
	tokenArray
	tokenArrayEnd
	tokenString
	tokenNumber
	tokenTrue
	tokenFalse
	tokenNull
	tokenColon
	tokenComma
)

// tokenNames are how errors call tokens.
var tokenNames = [...]string{
	"T_END", "T_ERROR", "T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER",
	"T_BOOLEAN", "T_BOOLEAN", "T_NULL", "T_COLON", "T_COMMA",
}

// singleTokens are those of one byte.
var singleTokens = [256]token{
	'{': tokenObject, '}': tokenObjectEnd, '[': tokenArray, ']': tokenArrayEnd, ':': tokenColon, ',': tokenComma,
}

// A jsonDecoder reads JSON as lua-cjson does: a token at a time.
type jsonDecoder struct {
	t     *lua.Thread
	set   *JSONSettings
	text  string
	pos   int // behind the token
	depth int32
	slots int // what the stack of C holds

	kind   token
	at     int    // where the token begins, or its fault is
	fault  string // of tokenError
	number float64
	word   string // the text of tokenString, valid until the next token
	tmp    []byte // room for it
}

// decodeJSON pushes the value of a text.
func decodeJSON(t *lua.Thread, set *JSONSettings, text string) int {
	if len(text) >= 2 && (text[0] == 0 || text[1] == 0) {
		t.Errorf("JSON parser does not support UTF-16 or UTF-32")
	}
	if end := strings.IndexByte(text, 0); end >= 0 { // a text of C ends there
		text = text[:end]
	}
	d := jsonDecoder{t: t, set: set, text: text, slots: 1}
	d.next()
	d.value()
	if d.next(); d.kind != tokenEnd {
		d.expected("the end")
	}
	return 1
}

func (d *jsonDecoder) expected(what string) {
	found := tokenNames[d.kind]
	if d.kind == tokenError {
		found = d.fault
	}
	d.t.Errorf("Expected %s but found %s at character %d", what, found, d.at+1)
}

// value pushes the value that the present token begins.
func (d *jsonDecoder) value() {
	switch d.kind {
	case tokenString:
		d.t.PushCopy(d.word)
	case tokenNumber:
		d.t.Push(lua.Number(d.number))
	case tokenTrue, tokenFalse:
		d.t.Push(lua.Bool(d.kind == tokenTrue))
	case tokenNull:
		d.t.Push(lua.Null)
	case tokenObject:
		d.descend(3)
		d.object()
		d.depth--
		d.slots--
	case tokenArray:
		d.descend(2)
		d.array()
		d.depth--
		d.slots--
	default:
		d.expected("value")
	}
}

func (d *jsonDecoder) descend(slots int) {
	if d.depth++; d.depth > d.set.decodeDepth || d.slots+slots > maxStack {
		d.t.Errorf("Found too many nested data structures (%d) at character %d", d.depth, d.pos)
	}
	d.slots++
}

func (d *jsonDecoder) object() {
	t := d.t.NewTable(0, 0)
	d.t.Push(t.Value())
	if d.next(); d.kind == tokenObjectEnd {
		return
	}
	for {
		if d.kind != tokenString {
			d.expected("object key string")
		}
		d.t.PushCopy(d.word)
		if d.next(); d.kind != tokenColon {
			d.expected("colon")
		}
		d.next()
		d.slots++
		d.value()
		d.slots--
		d.t.Set(t, d.t.Top(2), d.t.Top(1))
		d.t.Pop()
		d.t.Pop()
		switch d.next(); d.kind {
		case tokenObjectEnd:
			return
		case tokenComma:
			d.next()
		default:
			d.expected("comma or object end")
		}
	}
}

func (d *jsonDecoder) array() {
	t := d.t.NewTable(0, 0)
	d.t.Push(t.Value())
	if d.next(); d.kind == tokenArrayEnd {
		return
	}
	for n := 1; ; n++ {
		d.value()
		d.t.SetInt(t, n, d.t.Top(1))
		d.t.Pop()
		switch d.next(); d.kind {
		case tokenArrayEnd:
			return
		case tokenComma:
			d.next()
		default:
			d.expected("comma or array end")
		}
	}
}

func (d *jsonDecoder) bad(fault string, at int) { d.kind, d.fault, d.at = tokenError, fault, at }

// take makes a token of the next n bytes.
func (d *jsonDecoder) take(kind token, n int) {
	d.kind = kind
	d.pos += n
}

// next reads a token.
func (d *jsonDecoder) next() {
	for d.pos < len(d.text) && (d.text[d.pos] == ' ' || d.text[d.pos]-'\t' < 2 || d.text[d.pos] == '\r') {
		if d.pos++; d.pos%stepSlice == 0 {
			d.t.Step(stepSlice)
		}
	}
	d.t.Step(1)
	d.at = d.pos
	if d.pos == len(d.text) {
		d.kind = tokenEnd
		return
	}
	rest := d.text[d.pos:]
	if kind := singleTokens[rest[0]]; kind != 0 {
		d.take(kind, 1)
		return
	}
	switch rest[0] {
	case '"':
		d.str()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if d.set.decodeInvalid == off && isInvalidNumber(rest) {
			d.bad("invalid number", d.pos)
			return
		}
		d.num(rest)
	case 't', 'f', 'n', 'N', 'i', 'I', '+':
		switch {
		case strings.HasPrefix(rest, "true"):
			d.take(tokenTrue, 4)
		case strings.HasPrefix(rest, "false"):
			d.take(tokenFalse, 5)
		case strings.HasPrefix(rest, "null"):
			d.take(tokenNull, 4)
		case d.set.decodeInvalid == on && isInvalidNumber(rest):
			d.num(rest)
		default:
			d.bad("invalid token", d.pos)
		}
	default:
		d.bad("invalid token", d.pos)
	}
}

// str reads a string.
func (d *jsonDecoder) str() {
	from := d.pos + 1
	i := from
	d.tmp = d.tmp[:0]
	for escaped := false; ; {
		plain := i
		for i < len(d.text) && d.text[i] != '"' && d.text[i] != '\\' {
			if i++; i%jsonSlice == 0 {
				d.t.Step(jsonSlice)
			}
		}
		if i == len(d.text) {
			d.bad("unexpected end of string", i)
			return
		}
		if d.text[i] == '"' && !escaped {
			d.word = d.text[from:i]
			break
		}
		d.add(d.text[plain:i])
		if d.text[i] == '"' {
			d.word = string(d.tmp)
			break
		}
		escaped = true
		if i = d.escape(i); i < 0 {
			return
		}
	}
	d.take(tokenString, i+1-d.pos)
}

// add appends to the text of a string.
func (d *jsonDecoder) add(s string) {
	if need := len(d.tmp) + len(s); need > cap(d.tmp) {
		d.t.Hold(2 * need)
		d.tmp = append(make([]byte, 0, 2*need), d.tmp...)
	}
	d.tmp = append(d.tmp, s...)
}

// escape reads the escape at i, and returns what is behind it, or -1 if it is bad.
func (d *jsonDecoder) escape(i int) int {
	c := byte(0)
	if i+1 < len(d.text) {
		c = d.text[i+1]
	}
	if c == 'u' {
		char, n := unicodeEscape(d.text[i+2:])
		if n == 0 {
			d.bad("invalid unicode escape code", i)
			return -1
		}
		d.add(string(char))
		return i + 2 + n
	}
	if c = jsonUnescapes[c]; c == 0 {
		d.bad("invalid escape code", i)
		return -1
	}
	d.add(string([]byte{c}))
	return i + 2
}

// jsonUnescapes are what bytes behind a backslash stand for.
var jsonUnescapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r',
}

// unicodeEscape reads what follows \u, and returns how long that is: 0 if it is wrong.
func unicodeEscape(s string) (char rune, n int) {
	unit := func(s string) (n rune, ok bool) {
		if len(s) < 4 {
			return 0, false
		}
		for i := range 4 {
			switch c := s[i]; {
			case isDigit(c):
				n = n<<4 | rune(c-'0')
			case c|0x20 >= 'a' && c|0x20 <= 'f':
				n = n<<4 | rune(c|0x20-'a'+10)
			default:
				return 0, false
			}
		}
		return n, true
	}
	high, ok := unit(s)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(high):
		return high, 4
	case len(s) < 10 || s[4] != '\\' || s[5] != 'u':
		return 0, 0
	}
	low, ok := unit(s[6:])
	if char = utf16.DecodeRune(high, low); !ok || char == utf8.RuneError {
		return 0, 0
	}
	return char, 10
}
