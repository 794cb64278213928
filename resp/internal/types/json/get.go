package json

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
	"github.com/ringside-kv/ringside/resp/internal/types/json/path"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// A replyForm is what FORMAT chooses.
type replyForm int

const (
	formString  replyForm = iota // text
	formExpand1                  // an array of values, containers as text
	formExpand                   // an array of values
)

// seenBytes is what it takes to remember a path.
const seenBytes = 64

// getOptions are what JSON.GET is called with.
type getOptions struct {
	document.Format
	form  replyForm
	paths [][]byte
}

// parseGet reads the options and paths of JSON.GET. msg is an error reply.
func parseGet(args [][]byte, proto int) (o getOptions, msg string) {
	for ; len(args) > 0; args = args[1:] {
		var to *string
		switch {
		case wire.EqualFold(args[0], "indent"):
			to = &o.Indent
		case wire.EqualFold(args[0], "newline"):
			to = &o.Newline
		case wire.EqualFold(args[0], "space"):
			to = &o.Space
		case wire.EqualFold(args[0], "noescape"): // of RedisJSON 1: it changes nothing
			continue
		case wire.EqualFold(args[0], "format"):
			if len(args) == 1 {
				return o, command.MsgSyntax
			}
			if o.form, msg = parseForm(args[1], proto); msg != "" {
				return o, msg
			}
			args = args[1:]
			continue
		default:
			o.paths = append(o.paths, args[0])
			continue
		}
		if len(args) == 1 {
			return o, command.MsgSyntax
		}
		*to = string(args[1])
		args = args[1:]
	}
	if len(o.paths) == 0 {
		o.paths = append(o.paths, legacyRoot)
	}
	return o, ""
}

// parseForm reads the argument of FORMAT. msg is an error reply.
func parseForm(arg []byte, proto int) (form replyForm, msg string) {
	switch {
	case proto < 3:
		return 0, "ERR FORMAT argument is not supported on RESP2"
	case wire.EqualFold(arg, "expand"):
		return formExpand, ""
	case wire.EqualFold(arg, "expand1"):
		return formExpand1, ""
	case wire.EqualFold(arg, "string"):
		return formString, ""
	}
	return 0, "ERR wrong reply format"
}

func cmdGet(x *command.Call) {
	o, msg := parseGet(x.Args[2:], x.Proto)
	if msg != "" {
		x.Error(msg)
		return
	}
	v, ok := get(x, x.Args[1])
	if !ok {
		return
	}
	if !v.Exists() {
		x.Null()
		return
	}
	queries, legacy := make([]*path.Query, len(o.paths)), true
	for i, text := range o.paths {
		if queries[i], ok = compile(x, text); !ok {
			return
		}
		legacy = legacy && queries[i].Legacy
	}
	if o.form == formString && len(queries) == 1 && legacy && queries[0].IsRoot() && o.Format == (document.Format{}) {
		x.StringRange(x.Args[1], v, 0, v.Size) // the text as it is kept
		return
	}
	if v.Size > command.LargeReply && x.RunAgainApart() {
		return
	}
	root, err := parse(x, x.Args[1], v)
	if err != nil {
		fail(x, err)
		return
	}
	k := &key{x: x, name: x.Args[1], v: v, root: root, queries: len(queries)}
	if o.form != formString {
		k.expand(&o, queries)
		return
	}
	text, msg := k.text(o.Format, o.paths, queries, legacy)
	if msg != "" {
		x.Error(msg)
	} else if text != nil && !x.RunApart(int64(len(text))) {
		x.Bulk(text)
	}
}

// text returns what paths find as one text. With nothing, and no message, it has replied.
func (k *key) text(f document.Format, names [][]byte, queries []*path.Query, legacy bool) (text []byte, msg string) {
	e := document.Encoder{Format: f, Limit: k.x.Limits.OutputBuffer.Load(), Grow: k.x.Take, Around: 2}
	several := len(queries) > 1
	depth := 0
	if several {
		e.Open('{', 0)
		depth = 1
	}
	written := 0
	if several && !k.x.Take(int64(len(names))*seenBytes) {
		fail(k.x, document.ErrMemory)
		return nil, ""
	}
	seen := make(map[string]struct{}, len(names))
	for i, q := range queries {
		if _, ok := seen[string(names[i])]; ok {
			continue
		}
		seen[string(names[i])] = struct{}{}
		found, err := q.SelectWithin(k.stepsFor(), k.x.Take)
		if err != nil {
			fail(k.x, err)
			return nil, ""
		}
		if legacy && len(found) == 0 {
			return nil, msgNoPath
		}
		if several {
			e.Member(written, string(names[i]), 0)
		}
		if written++; legacy {
			e.Value(found[0].Value, depth)
		} else {
			list(&e, found, depth)
		}
	}
	if several {
		e.Close('}', written, 0)
	}
	if err := e.Err(); err != nil {
		if err == document.ErrTooLarge {
			k.x.RefuseByLimit(command.MsgReplyTooLarge)
		} else {
			fail(k.x, err)
		}
		return nil, ""
	}
	return e.Buf, ""
}

// list writes values as an array.
func list(e *document.Encoder, found []path.Match, depth int) {
	e.Open('[', depth)
	for i := range found {
		e.Element(i, depth)
		e.Value(found[i].Value, depth+1)
	}
	e.Close(']', len(found), depth)
}

// expand replies with what paths find, an array for each.
func (k *key) expand(o *getOptions, queries []*path.Query) {
	x, at := k.x, len(k.x.Buf)
	x.Array(len(queries))
	for _, q := range queries {
		found, ok := k.findFor(q, at)
		if !ok {
			return
		}
		x.Array(len(found))
		for _, m := range found {
			if !reply(x, m.Value, o.form, o.Format) {
				x.Buf = x.Buf[:at]
				x.ReplyTooLarge()
				return
			}
		}
	}
}

// findFor is find behind a part of a reply, which it takes back if it returns false.
func (k *key) findFor(q *path.Query, at int) ([]path.Match, bool) {
	found, err := q.SelectWithin(k.stepsFor(), k.x.Take)
	if err != nil {
		k.x.Buf = k.x.Buf[:at]
		fail(k.x, err)
		return nil, false
	}
	return found, true
}

// reply replies with a value of RESP3, and returns false if there is no room for it.
func reply(x *command.Call, v *document.Value, form replyForm, f document.Format) bool {
	if !x.FitsReply(int64(len(v.Text())) + command.ElementReply) {
		return false
	}
	switch v.Kind() {
	case document.Null:
		x.Null()
	case document.True, document.False:
		replyBool(x, v.Kind() == document.True)
	case document.Integer, document.Double:
		replyNumber(x, v)
	case document.String:
		x.BulkString(v.Text())
	default:
		switch {
		case form == formExpand1:
			e := document.Encoder{Format: f, Limit: x.Limits.OutputBuffer.Load(), Grow: x.Take}
			if e.Value(v, 0); e.Err() != nil || !x.FitsReply(int64(len(e.Buf))+command.ElementReply) {
				return false
			}
			x.Bulk(e.Buf)
			return true
		case v.Kind() == document.Object:
			x.Map(v.Len())
		default:
			x.Array(v.Len())
		}
		for i := range v.Len() {
			if v.Kind() == document.Object {
				if !x.FitsReply(int64(len(v.Key(i))) + command.ElementReply) {
					return false
				}
				x.BulkString(v.Key(i))
			}
			if !reply(x, v.At(i), form, f) {
				return false
			}
		}
	}
	return true
}

// replyBool replies with a boolean of RESP3.
func replyBool(x *command.Call, b bool) {
	if b {
		x.Buf = append(x.Buf, "#t\r\n"...)
	} else {
		x.Buf = append(x.Buf, "#f\r\n"...)
	}
}

// replyNumber replies with a number in RESP's own form.
func replyNumber(x *command.Call, v *document.Value) {
	if n, ok := v.Int(); ok {
		x.Int(n)
	} else {
		x.Double(v.Float())
	}
}

func cmdMget(x *command.Call) {
	q, ok := compile(x, x.Args[len(x.Args)-1])
	if !ok {
		return
	}
	keys, at := x.Args[1:len(x.Args)-1], len(x.Buf)
	x.Array(len(keys))
	for _, name := range keys {
		text, err := mget(x, name, q)
		if err == nil && !x.FitsReply(int64(len(text))+command.ElementReply) {
			err = x.TooLarge()
		}
		switch {
		case err != nil:
			x.Buf = x.Buf[:at]
			fail(x, err)
			return
		case text == nil:
			x.Null()
		default:
			x.Bulk(text)
		}
	}
}

// mget returns what a path finds in one of several values; nil if there is nothing, or no JSON at the key.
func mget(x *command.Call, name []byte, q *path.Query) ([]byte, error) {
	v, err := x.Unit.Get(name)
	if err != nil {
		return nil, err
	}
	x.CountRead(name, &v)
	if v.Type != store.JSON {
		return nil, nil
	}
	root, err := parse(x, name, v)
	if err != nil {
		return nil, err
	}
	found, err := q.Select(root, x.Take)
	if err != nil {
		return nil, err
	}
	e := document.Encoder{Limit: x.Limits.OutputBuffer.Load(), Grow: x.Take, Around: 1}
	switch {
	case !q.Legacy:
		list(&e, found, 0)
	case len(found) == 0:
		return nil, nil
	default:
		e.Value(found[0].Value, 0)
	}
	if err := e.Err(); err == document.ErrTooLarge {
		return nil, command.LimitError(command.MsgReplyTooLarge)
	}
	return e.Buf, e.Err()
}

func cmdType(x *command.Call) {
	q, ok := pathArg(x, 2)
	if !ok {
		return
	}
	k, ok := open(x)
	if !ok {
		return
	}
	var found []path.Match
	if k.root != nil {
		if found, ok = k.find(q); !ok {
			return
		}
	}
	if x.Proto >= 3 {
		x.Array(1)
	}
	switch {
	case k.root == nil, q.Legacy && len(found) == 0:
		x.Null()
	case q.Legacy:
		x.BulkString(found[0].TypeName())
	default:
		x.Array(len(found))
		for _, m := range found {
			x.BulkString(m.TypeName())
		}
	}
}

// cmdResp is JSON.RESP, which replies with values in the types of RESP2.
func cmdResp(x *command.Call) {
	q, ok := pathArg(x, 2)
	if !ok {
		return
	}
	k, ok := open(x)
	if !ok {
		return
	}
	if k.root == nil {
		x.Null()
		return
	}
	found, ok := k.find(q)
	if !ok {
		return
	}
	at := len(x.Buf)
	switch {
	case q.Legacy && len(found) == 0:
		x.Error(msgNoPath)
		return
	case q.Legacy:
		found = found[:1]
	default:
		x.Array(len(found))
	}
	for _, m := range found {
		if !respOf(x, m.Value) {
			x.Buf = x.Buf[:at]
			x.ReplyTooLarge()
			return
		}
	}
}

// respOf replies with a value as JSON.RESP does, and returns false if there is no room for it.
func respOf(x *command.Call, v *document.Value) bool {
	if !x.FitsReply(int64(len(v.Text())) + command.ElementReply) {
		return false
	}
	switch v.Kind() {
	case document.Null:
		x.Null()
	case document.True:
		x.Simple("true")
	case document.False:
		x.Simple("false")
	case document.Integer, document.Double:
		replyNumber(x, v)
	case document.String:
		x.BulkString(v.Text())
	case document.Array:
		x.Array(1 + v.Len())
		x.Simple("[")
		for i := range v.Len() {
			if !respOf(x, v.At(i)) {
				return false
			}
		}
	default:
		x.Array(1 + 2*v.Len())
		x.Simple("{")
		for i := range v.Len() {
			if !x.FitsReply(int64(len(v.Key(i))) + command.ElementReply) {
				return false
			}
			x.BulkString(v.Key(i))
			if !respOf(x, v.At(i)) {
				return false
			}
		}
	}
	return true
}
