package json

import (
	"math/big"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
	"github.com/ringside-kv/ringside/resp/internal/types/json/path"
)

// openFound reads the value at args[1], which must exist, and finds values in it. It has replied if it returns false.
func openFound(x *command.Call, q *path.Query) (*key, []path.Match, bool) {
	k, ok := open(x)
	if !ok {
		return nil, nil, false
	}
	if k.root == nil {
		x.Error(msgNoKey)
		return nil, nil, false
	}
	found, ok := k.find(q)
	return k, found, ok
}

// An edit changes the values of one kind that a path finds.
type edit struct {
	event string
	fits  func(*document.Value) bool
	// otherwise is what a path has found instead, for the error of a legacy path: "not an array".
	otherwise string
	// change changes a value and returns the result of it, nil if there is none. Values within others come first.
	change func(*document.Value) (result *document.Value, err error)
	// reply replies with all results: nil for what does not fit. Of a legacy path it is the last one alone. It returns
	// false if there is no room for the reply, and nothing is written then.
	reply func(results []*document.Value) bool
	// keeps: a change without a result changes nothing.
	keeps bool
}

// run edits what a path finds in the value at args[1].
func (e *edit) run(x *command.Call, q *path.Query) {
	k, found, ok := openFound(x, q)
	if !ok {
		return
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return found[b].Depth - found[a].Depth })
	results, fitted, changed := make([]*document.Value, len(found)), 0, false
	for _, i := range order {
		if !e.fits(found[i].Value) {
			continue
		}
		fitted++
		result, err := e.change(found[i].Value)
		if err != nil {
			fail(x, err)
			return
		}
		results[i] = result
		changed = changed || result != nil || !e.keeps
	}
	if q.Legacy {
		if fitted == 0 {
			x.Error(noPathOr(e.otherwise))
			return
		}
		last := len(found) - 1
		for !e.fits(found[last].Value) {
			last--
		}
		results = results[last : last+1]
	}
	at := len(x.Buf)
	if !e.reply(results) {
		x.Buf = x.Buf[:at]
		x.ReplyTooLarge()
		return
	}
	made := len(x.Buf)
	if !changed || k.put(e.event) {
		return
	}
	x.Buf = append(x.Buf[:at], x.Buf[made:]...) // the error of put takes the reply's place
}

// numbers replies with results that are integers, an array of them unless the path is a legacy one.
func numbers(x *command.Call, q *path.Query) func([]*document.Value) bool {
	return func(results []*document.Value) bool {
		if !x.FitsReply(int64(len(results)) * command.ElementReply) {
			return false
		}
		if !q.Legacy {
			x.Array(len(results))
		}
		for _, r := range results {
			if r == nil {
				x.Null()
			} else {
				replyNumber(x, r)
			}
		}
		return true
	}
}

func isArray(v *document.Value) bool { return v.Kind() == document.Array }

func isString(v *document.Value) bool { return v.Kind() == document.String }

func isBool(v *document.Value) bool {
	return v.Kind() == document.True || v.Kind() == document.False
}

func length(n int) (*document.Value, error) { return document.NewInt(int64(n)), nil }

func cmdNumincrby(x *command.Call) {
	calculate(x, "json.numincrby", (*big.Int).Add, func(a, b float64) float64 { return a + b })
}

func cmdNummultby(x *command.Call) {
	calculate(x, "json.nummultby", (*big.Int).Mul, func(a, b float64) float64 { return a * b })
}

// calculate changes numbers: integers by integers to integers of 64 bits, all others to doubles.
func calculate(x *command.Call, event string, ofInts func(z, a, b *big.Int) *big.Int, ofDoubles func(a, b float64) float64) {
	q, ok := compile(x, x.Args[2])
	if !ok {
		return
	}
	by, ok := argument(x, x.Args[3])
	if !ok {
		return
	}
	if !by.IsNumber() {
		x.Error("ERR bad input number")
		return
	}
	e := edit{event: event, fits: (*document.Value).IsNumber, otherwise: "does not contains a number"}
	e.change = func(v *document.Value) (*document.Value, error) {
		a, isInt := v.Int()
		b, byInt := by.Int()
		if !isInt || !byInt {
			f := ofDoubles(v.Float(), by.Float())
			if f-f != 0 { // infinite, or not a number
				return nil, command.ReplyError("ERR result is not a number")
			}
			v.Set(document.NewDouble(f))
			return document.NewDouble(f), nil
		}
		n := ofInts(new(big.Int), big.NewInt(a), big.NewInt(b))
		if !n.IsInt64() {
			return nil, command.ReplyError("ERR numeric overflow")
		}
		v.Set(document.NewInt(n.Int64()))
		return document.NewInt(n.Int64()), nil
	}
	e.reply = func(results []*document.Value) bool { return replyCalculated(x, q, results) }
	e.run(x, q)
}

// replyCalculated replies with numbers: in RESP3 as an array of them, in RESP2 as text.
func replyCalculated(x *command.Call, q *path.Query, results []*document.Value) bool {
	if x.Proto >= 3 {
		return numbers(x, &path.Query{})(results)
	}
	enc := document.Encoder{Limit: x.Limits.OutputBuffer.Load(), Grow: x.Take}
	if q.Legacy {
		enc.Value(results[0], 0)
	} else {
		enc.Open('[', 0)
		for i, r := range results {
			enc.Element(i, 0)
			if r == nil {
				r = new(document.Value)
			}
			enc.Value(r, 1)
		}
		enc.Close(']', len(results), 0)
	}
	if enc.Err() != nil || !x.FitsReply(int64(len(enc.Buf))) {
		return false
	}
	x.Bulk(enc.Buf)
	return true
}

func cmdToggle(x *command.Call) {
	q, ok := compile(x, x.Args[2])
	if !ok {
		return
	}
	e := edit{event: "json.toggle", fits: isBool, otherwise: "not a bool"}
	e.change = func(v *document.Value) (*document.Value, error) {
		v.SetBool(v.Kind() == document.False)
		if v.Kind() == document.True {
			return document.NewInt(1), nil
		}
		return document.NewInt(0), nil
	}
	e.reply = numbers(x, q)
	if q.Legacy {
		e.reply = func(results []*document.Value) bool {
			if n, _ := results[0].Int(); n == 1 {
				x.BulkString("true")
			} else {
				x.BulkString("false")
			}
			return true
		}
	}
	e.run(x, q)
}

func cmdStrappend(x *command.Call) {
	text := x.Args[len(x.Args)-1]
	q, ok := pathArg(x, map[bool]int{true: 2, false: len(x.Args)}[len(x.Args) > 3])
	if !ok {
		return
	}
	more, ok := argument(x, text)
	if !ok {
		return
	}
	if !isString(more) {
		x.Error(expected("string"))
		return
	}
	e := edit{event: "json.strappend", fits: isString, otherwise: "not a string"}
	e.change = func(v *document.Value) (*document.Value, error) {
		n := len(v.Text()) + len(more.Text())
		if int64(n) > x.Limits.MaxValue.Load() {
			return nil, document.ErrTooLarge
		}
		if !x.Take(int64(n)) {
			return nil, document.ErrMemory
		}
		v.Set(document.NewString(v.Text() + more.Text()))
		return length(n)
	}
	e.reply = numbers(x, q)
	e.run(x, q)
}
