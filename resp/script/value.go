package script

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/script/lua"
	"github.com/ringside-kv/ringside/resp/wire"
)

var errReply = errors.New("malformed reply")

// value pushes the value that a reply becomes, and returns what is behind the reply. After an
// error, anything may be on the stack.
func value(t *lua.Thread, b []byte, depth int) (rest []byte, err error) {
	h, size, err := wire.ParseValue(b)
	if err != nil || size == 0 || depth > maxNested {
		return nil, errReply
	}
	rest = b[size:]
	if h.Null {
		if h.Kind == wire.KindNull {
			t.Push(lua.Nil)
		} else {
			t.Push(lua.False)
		}
		return rest, nil
	}
	switch h.Kind {
	case wire.KindStatus:
		single(t, "ok", string(h.Text))
	case wire.KindError, wire.KindBulkError:
		single(t, "err", string(h.Text))
	case wire.KindNumber:
		t.Push(lua.Number(float64(h.N)))
	case wire.KindDouble:
		pushField(t, "double", func() { t.Push(lua.Number(double(string(h.Text)))) })
	case wire.KindBool:
		t.Push(lua.Bool(h.N == 1))
	case wire.KindBigNumber:
		single(t, "big_number", string(h.Text))
	case wire.KindString:
		t.PushBytes(h.Text)
	case wire.KindVerbatim:
		if len(h.Text) < 4 {
			return nil, errReply
		}
		pushField(t, "verbatim_string", func() {
			table := t.NewTable(0, 2)
			t.Push(table.Value())
			t.SetField(table, "format", t.String(string(h.Text[:3])))
			t.SetField(table, "string", t.String(string(h.Text[4:])))
		})
	case wire.KindMap:
		pushField(t, "map", func() { rest, err = pairs(t, rest, h.N, depth) })
	case wire.KindSet:
		pushField(t, "set", func() { rest, err = members(t, rest, h.N, depth) })
	default:
		return elements(t, rest, h.N, depth)
	}
	return rest, err
}

// elements pushes a table of the values that follow.
func elements(t *lua.Thread, b []byte, n int64, depth int) (rest []byte, err error) {
	table := t.NewTable(int(min(n, int64(len(b)/3))), 0)
	t.Push(table.Value())
	for i := range int(n) {
		if b, err = value(t, b, depth+1); err != nil {
			return nil, err
		}
		t.SetInt(table, i+1, t.Top(1))
		t.Pop()
	}
	return b, nil
}

// pairs pushes a table of the pairs that follow.
func pairs(t *lua.Thread, b []byte, n int64, depth int) (rest []byte, err error) {
	table := t.NewTable(0, 0)
	t.Push(table.Value())
	for range n {
		if b, err = value(t, b, depth+1); err != nil {
			return nil, err
		}
		if b, err = value(t, b, depth+1); err != nil {
			return nil, err
		}
		setPair(t, table)
	}
	return b, nil
}

// members pushes a table that has the values that follow as keys.
func members(t *lua.Thread, b []byte, n int64, depth int) (rest []byte, err error) {
	table := t.NewTable(0, 0)
	t.Push(table.Value())
	for range n {
		if b, err = value(t, b, depth+1); err != nil {
			return nil, err
		}
		t.Push(lua.True)
		setPair(t, table)
	}
	return b, nil
}

// setPair takes a key and a value from the stack into a table, unless the key is nil.
func setPair(t *lua.Thread, table *lua.Table) {
	if key := t.Top(2); !key.IsNil() {
		t.Set(table, key, t.Top(1))
	}
	t.Pop()
	t.Pop()
}

// pushField pushes a table with one field, whose value is what push pushes.
func pushField(t *lua.Thread, name string, push func()) {
	table := t.NewTable(0, 1)
	t.Push(table.Value())
	push()
	t.SetField(table, name, t.Top(1))
	t.Pop()
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
