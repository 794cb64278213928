package script

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// A jsonDecoder reads JSON as lua-cjson does: a token at a time.
type jsonDecoder struct {
	l     *lua.LState
	set   *jsonSettings
	null  lua.LValue
	text  string
	pos   int // behind the token
	depth int

	kind  string // of the token, by the names that errors have
	at    int    // where it begins
	value lua.LValue
	fault string // of an invalid one
}

// A libraryError is in the words of the library that scripts know.
type libraryError string

func (e libraryError) Error() string { return string(e) }

func decodeJSON(l *lua.LState, text string, set *jsonSettings, null lua.LValue) (v lua.LValue, err error) {
	d := jsonDecoder{l: l, set: set, null: null, text: text}
	if len(text) >= 2 && (text[0] == 0 || text[1] == 0) {
		return nil, libraryError("JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	if v, err = d.parse(); err != nil {
		return nil, err
	}
	if d.next(); d.kind != "T_END" {
		return nil, d.expected("the end")
	}
	return v, nil
}

func (d *jsonDecoder) expected(what string) error {
	found := d.kind
	if d.kind == "T_ERROR" {
		found = d.fault
	}
	return libraryError(fmt.Sprintf("Expected %s but found %s at character %d", what, found, d.at+1))
}

// parse returns the value that the present token begins.
func (d *jsonDecoder) parse() (lua.LValue, error) {
	switch d.kind {
	case "T_STRING", "T_NUMBER", "T_BOOLEAN":
		return d.value, nil
	case "T_NULL":
		return d.null, nil
	case "T_OBJ_BEGIN":
		return d.nested(d.object)
	case "T_ARR_BEGIN":
		return d.nested(d.array)
	}
	return nil, d.expected("value")
}

func (d *jsonDecoder) nested(parse func(*lua.LTable) error) (lua.LValue, error) {
	if d.depth++; d.depth > min(d.set.decodeDepth, maxNested*10) {
		return nil, libraryError(fmt.Sprintf("Found too many nested data structures (%d) at character %d", d.depth, d.at+1))
	}
	t := d.l.NewTable()
	err := parse(t)
	d.depth--
	return t, err
}

func (d *jsonDecoder) object(t *lua.LTable) error {
	if d.next(); d.kind == "T_OBJ_END" {
		return nil
	}
	for {
		if d.kind != "T_STRING" {
			return d.expected("object key string")
		}
		key := d.value
		if d.next(); d.kind != "T_COLON" {
			return d.expected("colon")
		}
		d.next()
		v, err := d.parse()
		if err != nil {
			return err
		}
		t.RawSet(key, v)
		switch d.next(); d.kind {
		case "T_OBJ_END":
			return nil
		case "T_COMMA":
			d.next()
		default:
			return d.expected("comma or object end")
		}
	}
}

func (d *jsonDecoder) array(t *lua.LTable) error {
	if d.next(); d.kind == "T_ARR_END" {
		return nil
	}
	for n := 1; ; n++ {
		v, err := d.parse()
		if err != nil {
			return err
		}
		t.RawSetInt(n, v)
		switch d.next(); d.kind {
		case "T_ARR_END":
			return nil
		case "T_COMMA":
			d.next()
		default:
			return d.expected("comma or array end")
		}
	}
}

// next reads a token.
func (d *jsonDecoder) next() {
	for d.pos < len(d.text) && strings.IndexByte(" \t\n\r", d.text[d.pos]) >= 0 {
		d.pos++
	}
	d.at = d.pos
	if d.pos == len(d.text) {
		d.kind = "T_END"
		return
	}
	single := map[byte]string{'{': "T_OBJ_BEGIN", '}': "T_OBJ_END", '[': "T_ARR_BEGIN", ']': "T_ARR_END", ':': "T_COLON", ',': "T_COMMA"}
	rest := d.text[d.pos:]
	c := rest[0]
	switch {
	case single[c] != "":
		d.kind = single[c]
		d.pos++
	case c == '"':
		d.str()
	case strings.HasPrefix(rest, "true"):
		d.kind, d.value = "T_BOOLEAN", lua.LTrue
		d.pos += 4
	case strings.HasPrefix(rest, "false"):
		d.kind, d.value = "T_BOOLEAN", lua.LFalse
		d.pos += 5
	case strings.HasPrefix(rest, "null"):
		d.kind = "T_NULL"
		d.pos += 4
	case c == '-' || c >= '0' && c <= '9' || strings.IndexByte("iInN+", c) >= 0:
		d.num(rest)
	default:
		d.bad("invalid token")
	}
}

func (d *jsonDecoder) bad(fault string) { d.kind, d.fault = "T_ERROR", fault }

// num reads a number, with what is no number in JSON but in C.
func (d *jsonDecoder) num(rest string) {
	n := 0
	for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || strings.IndexByte("+-.xXpPabcdefABCDEFinftyINFTY", rest[n]) >= 0) {
		n++
	}
	word := strings.ToLower(rest[:n])
	digits := strings.TrimLeft(word, "+-")
	odd := len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' ||
		strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "inf") || strings.HasPrefix(digits, "nan") || word == "" || word[0] == '+'
	if odd && d.set.decodeBad == "off" {
		d.bad("invalid number")
		return
	}
	for ; n > 0; n-- { // the longest that is one, as strtod takes it
		text := rest[:n]
		if strings.HasPrefix(strings.ToLower(strings.TrimLeft(text, "+-")), "0x") && !strings.ContainsAny(text, "pP") {
			text += "p0"
		}
		f, err := strconv.ParseFloat(text, 64)
		if err == nil || strings.Contains(err.Error(), "range") {
			d.kind, d.value = "T_NUMBER", lua.LNumber(f)
			d.pos += n
			return
		}
	}
	if strings.IndexByte("iInN+", rest[0]) >= 0 {
		d.bad("invalid token")
		return
	}
	d.bad("invalid number")
}

func (d *jsonDecoder) str() {
	var b []byte
	for i := d.pos + 1; i < len(d.text); i++ {
		c := d.text[i]
		switch {
		case c == '"':
			d.kind, d.value = "T_STRING", lua.LString(b)
			d.pos = i + 1
			return
		case c != '\\':
			b = append(b, c)
			continue
		}
		if i++; i == len(d.text) {
			break
		}
		switch c := d.text[i]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 't':
			b = append(b, '\t')
		case 'n':
			b = append(b, '\n')
		case 'f':
			b = append(b, '\f')
		case 'r':
			b = append(b, '\r')
		case 'u':
			char, n := unicode(d.text[i+1:])
			if n == 0 {
				d.at = i - 1
				d.bad("invalid unicode escape code")
				return
			}
			b = utf8.AppendRune(b, char)
			i += n
		default:
			d.at = i - 1
			d.bad("invalid escape code")
			return
		}
	}
	d.at = len(d.text)
	d.bad("unexpected end of string")
}

// unicode reads what follows \u, and how long that is; 0 if it is wrong.
func unicode(s string) (rune, int) {
	unit := func(s string) (rune, bool) {
		if len(s) < 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(s[:4], 16, 32)
		return rune(n), err == nil && s[0] != '+'
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
	r := utf16.DecodeRune(high, low)
	if !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 10
}
