package json

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
	"github.com/ringside-kv/ringside/resp/internal/types/json/path"
	"github.com/ringside-kv/ringside/resp/wire"
)

// pointerBytes is what an element takes in its array.
const pointerBytes = 8

func notArray(event string) edit { return edit{event: event, fits: isArray, otherwise: "not an array"} }

func cmdArrappend(x *command.Call) {
	insert(x, "json.arrappend", x.Args[3:], func(n int) (int, bool) { return n, true })
}

func cmdArrinsert(x *command.Call) {
	index, ok := wire.ParseInt(x.Args[3])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	insert(x, "json.arrinsert", x.Args[4:], func(n int) (int, bool) {
		at := command.Numbered(index, int64(n))
		return int(at), at >= 0 && at <= int64(n)
	})
}

// insert inserts values into arrays, at the place that at tells for an array with n elements.
func insert(x *command.Call, event string, texts [][]byte, at func(n int) (int, bool)) {
	q, ok := compile(x, x.Args[2])
	if !ok {
		return
	}
	values, ok := arguments(x, texts)
	if !ok {
		return
	}
	e := notArray(event)
	e.change = func(v *document.Value) (*document.Value, error) {
		i, ok := at(v.Len())
		if !ok {
			return nil, command.ReplyError("ERR index out of bounds")
		}
		if !x.Take(int64(v.Len()+len(values)) * pointerBytes) {
			return nil, document.ErrMemory
		}
		v.Insert(i, values)
		return length(v.Len())
	}
	e.reply = numbers(x, q)
	e.run(x, q)
}

func cmdArrtrim(x *command.Call) {
	start, ok1 := wire.ParseInt(x.Args[3])
	stop, ok2 := wire.ParseInt(x.Args[4])
	if !ok1 || !ok2 {
		x.Error(command.MsgNotInteger)
		return
	}
	q, ok := compile(x, x.Args[2])
	if !ok {
		return
	}
	e := notArray("json.arrtrim")
	e.change = func(v *document.Value) (*document.Value, error) {
		n := int64(v.Len())
		from := max(command.Numbered(start, n), 0)
		to := min(max(command.Numbered(stop, n), 0), n-1) + 1
		if from >= to {
			v.Clear()
		} else {
			v.Trim(int(from), int(to))
		}
		return length(v.Len())
	}
	e.reply = numbers(x, q)
	e.run(x, q)
}

// popOptions are what JSON.ARRPOP is called with.
type popOptions struct {
	form  replyForm
	path  []byte
	index int64
}

// parsePop reads the arguments of JSON.ARRPOP behind the key. msg is an error reply.
func parsePop(args [][]byte, proto int) (o popOptions, msg string) {
	o.path, o.index = legacyRoot, -1
	if len(args) > 1 && wire.EqualFold(args[0], "format") {
		switch {
		case wire.EqualFold(args[1], "strings"):
		case wire.EqualFold(args[1], "string"):
			return o, "ERR wrong reply format"
		default:
			if o.form, msg = parseForm(args[1], proto); msg != "" {
				return o, msg
			}
		}
		args = args[2:]
	}
	if len(args) > 0 {
		o.path = args[0]
	}
	if len(args) > 1 {
		var ok bool
		if o.index, ok = wire.ParseInt(args[1]); !ok {
			return o, command.MsgNotInteger
		}
	}
	return o, ""
}

func cmdArrpop(x *command.Call) {
	o, msg := parsePop(x.Args[2:], x.Proto)
	if msg != "" {
		x.Error(msg)
		return
	}
	q, ok := compile(x, o.path)
	if !ok {
		return
	}
	if q.Legacy && o.form != formString {
		x.Error("ERR Legacy paths are supported only with FORMAT STRINGS")
		return
	}
	e := notArray("json.arrpop")
	e.keeps = true
	e.change = func(v *document.Value) (*document.Value, error) {
		n := int64(v.Len())
		if n == 0 {
			return nil, nil
		}
		if !x.Take(n * pointerBytes) {
			return nil, document.ErrMemory
		}
		return v.Pop(int(max(min(command.Numbered(o.index, n), n-1), 0))), nil
	}
	e.reply = func(results []*document.Value) bool {
		if !q.Legacy {
			x.Array(len(results))
		}
		for _, r := range results {
			if !replyPopped(x, r, o.form) {
				return false
			}
		}
		return true
	}
	e.run(x, q)
}

func replyPopped(x *command.Call, v *document.Value, form replyForm) bool {
	switch {
	case v == nil:
		x.Null()
		return true
	case form != formString:
		return reply(x, v, form, document.Format{})
	}
	enc := document.Encoder{Limit: x.Limits.OutputBuffer.Load(), Grow: x.Take}
	if enc.Value(v, 0); enc.Err() != nil || !x.FitsReply(int64(len(enc.Buf))+command.ElementReply) {
		return false
	}
	x.Bulk(enc.Buf)
	return true
}

func cmdArrindex(x *command.Call) {
	start, stop := int64(0), int64(0)
	ok := len(x.Args) <= 6
	if len(x.Args) > 6 {
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return
	}
	if len(x.Args) > 4 {
		start, ok = wire.ParseInt(x.Args[4])
	}
	if ok && len(x.Args) > 5 {
		stop, ok = wire.ParseInt(x.Args[5])
	}
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	q, ok := compile(x, x.Args[2])
	if !ok {
		return
	}
	wanted, ok := argument(x, x.Args[3])
	if !ok {
		return
	}
	k, ok := open(x)
	if !ok {
		return
	}
	if k.root == nil {
		x.Error(msgNoPath)
		return
	}
	found, ok := k.find(q)
	switch {
	case !ok:
		return
	case q.Legacy && len(found) == 0:
		x.Error(msgNoPath)
		return
	case q.Legacy && !isArray(found[0].Value):
		x.Error(expected("array"))
		return
	case q.Legacy:
		found = found[:1]
	}
	at, steps := len(x.Buf), k.stepsFor()
	replyEach(x, q, found, func(v *document.Value) {
		if isArray(v) {
			x.Int(indexOf(v, wanted, start, stop, steps.Take))
		} else {
			x.Null()
		}
	})
	if err := steps.Err(); err != nil {
		x.Buf = x.Buf[:at]
		fail(x, err)
	}
}

// indexOf returns the number of the first element that is as wanted, from start up to, not including, stop, or -1. The
// end is 0 for that of the array. It calls step with how many values it looks at, and ends when step returns false.
func indexOf(v, wanted *document.Value, start, stop int64, step func(n int64) bool) int64 {
	n := int64(v.Len())
	start = max(command.Numbered(start, n), 0)
	if stop == 0 {
		stop = math.MaxInt64
	}
	stop = min(command.Numbered(stop, n), n)
	start = min(start, max(n-1, 0))
	for i := start; i < stop && step(1); i++ {
		if v.At(int(i)).Equal(wanted, step) {
			return i
		}
	}
	return -1
}

// replyEach replies with an array of what each value gives, or of a legacy path with the first.
func replyEach(x *command.Call, q *path.Query, found []path.Match, each func(*document.Value)) {
	if !x.FitsReply(int64(len(found)) * command.ElementReply) {
		x.ReplyTooLarge()
		return
	}
	if q.Legacy {
		found = found[:1]
	} else {
		x.Array(len(found))
	}
	for _, m := range found {
		each(m.Value)
	}
}
