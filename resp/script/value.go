package script

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

var errReply = errors.New("malformed reply")

// value makes a value of a reply, and returns what is behind it.
func (r *Runtime) value(b []byte, depth int) (v lua.LValue, rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 2 || depth > maxNested {
		return nil, nil, errReply
	}
	line, rest := string(b[1:i-1]), b[i+1:]
	field := func(name string, v lua.LValue) (lua.LValue, []byte, error) {
		t := r.l.CreateTable(0, 1)
		t.RawSetString(name, v)
		return t, rest, nil
	}
	n := 0
	switch b[0] {
	case '$', '=', '*', '%', '~', '>':
		if n, err = strconv.Atoi(line); err != nil {
			return nil, nil, errReply
		}
		if n < 0 {
			return lua.LFalse, rest, nil
		}
	}
	switch b[0] {
	case '+':
		return field("ok", lua.LString(line))
	case '-':
		return field("err", lua.LString(line))
	case ':':
		i, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return nil, nil, errReply
		}
		return lua.LNumber(i), rest, nil
	case ',':
		return field("double", lua.LNumber(double(line)))
	case '#':
		return lua.LBool(line == "t"), rest, nil
	case '_':
		return lua.LNil, rest, nil
	case '(':
		return field("big_number", lua.LString(line))
	case '$', '=':
		if n+2 > len(rest) {
			return nil, nil, errReply
		}
		s := string(rest[:n])
		verbatim := b[0] == '='
		rest = rest[n+2:]
		if verbatim && n >= 4 {
			t := r.l.CreateTable(0, 2)
			t.RawSetString("format", lua.LString(s[:3]))
			t.RawSetString("string", lua.LString(s[4:]))
			return field("verbatim_string", t)
		}
		return lua.LString(s), rest, nil
	case '*', '>':
		t := r.l.CreateTable(min(n, len(rest)/3), 0)
		for i := range n {
			if v, rest, err = r.value(rest, depth+1); err != nil {
				return nil, nil, err
			}
			t.RawSetInt(i+1, v)
		}
		return t, rest, nil
	case '%', '~':
		t := r.l.NewTable()
		for range n {
			var key lua.LValue
			if key, rest, err = r.value(rest, depth+1); err != nil {
				return nil, nil, err
			}
			v := lua.LValue(lua.LTrue)
			if b[0] == '%' {
				if v, rest, err = r.value(rest, depth+1); err != nil {
					return nil, nil, err
				}
			}
			if key != lua.LNil {
				t.RawSet(key, v)
			}
		}
		if b[0] == '%' {
			return field("map", t)
		}
		return field("set", t)
	}
	return nil, nil, errReply
}

// double reads a number as RESP3 writes it.
func double(line string) float64 {
	switch strings.ToLower(line) {
	case "inf":
		return math.Inf(1)
	case "-inf":
		return math.Inf(-1)
	case "nan":
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(line, 64)
	return f
}
