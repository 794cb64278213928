package script

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

var errReply = errors.New("malformed reply")

// value pushes the value that a reply becomes, and returns what is behind the reply. After an
// error, anything may be on the stack.
func value(t *lua.Thread, b []byte, depth int) (rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 2 || depth > maxNested {
		return nil, errReply
	}
	line, rest := b[1:i-1], b[i+1:]
	n := 0
	switch b[0] {
	case '$', '=', '*', '%', '~', '>':
		if n, err = atoi(line); err != nil {
			return nil, errReply
		}
		if n < 0 {
			t.Push(lua.False)
			return rest, nil
		}
	}
	switch b[0] {
	case '+':
		single(t, "ok", string(line))
	case '-':
		single(t, "err", string(line))
	case ':':
		i, err := atoi(line)
		if err != nil {
			return nil, errReply
		}
		t.Push(lua.Number(float64(i)))
	case ',':
		pushField(t, "double", func() { t.Push(lua.Number(double(string(line)))) })
	case '#':
		t.Push(lua.Bool(string(line) == "t"))
	case '_':
		t.Push(lua.Nil)
	case '(':
		single(t, "big_number", string(line))
	case '$', '=':
		if n+2 > len(rest) {
			return nil, errReply
		}
		text := rest[:n]
		if rest = rest[n+2:]; b[0] == '=' && n >= 4 {
			pushField(t, "verbatim_string", func() {
				table := t.NewTable(0, 2)
				t.Push(table.Value())
				t.SetField(table, "format", t.String(string(text[:3])))
				t.SetField(table, "string", t.String(string(text[4:])))
			})
		} else {
			t.PushBytes(text)
		}
	case '*', '>':
		table := t.NewTable(min(n, len(rest)/3), 0)
		t.Push(table.Value())
		for i := range n {
			if rest, err = value(t, rest, depth+1); err != nil {
				return nil, err
			}
			t.SetInt(table, i+1, t.Top(1))
			t.Pop()
		}
	case '%', '~':
		name := "map"
		if b[0] == '~' {
			name = "set"
		}
		pushField(t, name, func() {
			table := t.NewTable(0, 0)
			t.Push(table.Value())
			for i := 0; i < n && err == nil; i++ {
				if rest, err = value(t, rest, depth+1); err != nil {
					return
				}
				if b[0] == '~' {
					t.Push(lua.True)
				} else if rest, err = value(t, rest, depth+1); err != nil {
					return
				}
				if key := t.Top(2); !key.IsNil() {
					t.Set(table, key, t.Top(1))
				}
				t.Pop()
				t.Pop()
			}
		})
	default:
		return nil, errReply
	}
	return rest, err
}

// pushField pushes a table with one field, whose value is what push pushes.
func pushField(t *lua.Thread, name string, push func()) {
	table := t.NewTable(0, 1)
	t.Push(table.Value())
	push()
	t.SetField(table, name, t.Top(1))
	t.Pop()
}

func atoi(b []byte) (int, error) { return strconv.Atoi(string(b)) }

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
