package json

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
	"github.com/ringside-kv/ringside/resp/internal/types/json/path"
)

// A measure is a command that tells something of the values of one kind.
type measure struct {
	fits func(*document.Value) bool
	// noKey is the error for a path of JSONPath in a key that does not exist. A legacy path gets null.
	noKey string
	// nothing is the error for a legacy path that finds nothing, "" for null; other if it finds another kind.
	nothing, other string
	reply          func(*document.Value)
}

func (m *measure) run(x *command.Call) {
	q, ok := pathArg(x, 2)
	if !ok {
		return
	}
	k, ok := open(x)
	if !ok {
		return
	}
	if k.root == nil {
		if q.Legacy {
			x.Null()
		} else {
			x.Error(m.noKey)
		}
		return
	}
	found, ok := k.find(q)
	if !ok {
		return
	}
	if q.Legacy {
		switch {
		case len(found) > 0 && !m.fits(found[0].Value):
			x.Error(m.other)
			return
		case len(found) == 0 && m.nothing == "":
			x.Null()
			return
		case len(found) == 0:
			x.Error(m.nothing)
			return
		}
	}
	replyEach(x, q, found, func(v *document.Value) {
		if m.fits(v) {
			m.reply(v)
		} else {
			x.Null()
		}
	})
}

func isObject(v *document.Value) bool { return v.Kind() == document.Object }

func cmdStrlen(x *command.Call) {
	m := measure{fits: isString, noKey: msgNoKey, nothing: msgNoPath, other: expected("string")}
	m.reply = func(v *document.Value) { x.Int(int64(len(v.Text()))) }
	m.run(x)
}

func cmdArrlen(x *command.Call) {
	m := measure{fits: isArray, noKey: msgNoKey, nothing: msgNoPath, other: noPathOr("not an array")}
	m.reply = func(v *document.Value) { x.Int(int64(v.Len())) }
	m.run(x)
}

func cmdObjlen(x *command.Call) {
	m := measure{fits: isObject, noKey: noPathOr("not an object"), other: expected("object")}
	m.reply = func(v *document.Value) { x.Int(int64(v.Len())) }
	m.run(x)
}

func cmdObjkeys(x *command.Call) {
	q, ok := pathArg(x, 2)
	if !ok {
		return
	}
	k, ok := open(x)
	if !ok {
		return
	}
	if k.root == nil {
		if q.Legacy {
			x.Null()
		} else {
			x.Error(msgNoKey)
		}
		return
	}
	found, ok := k.find(q)
	switch {
	case !ok:
		return
	case q.Legacy && len(found) == 0:
		x.Null()
		return
	case q.Legacy && !isObject(found[0].Value):
		x.Error(noPathOr("not an object"))
		return
	}
	k.replyKeys(q, found)
}

func (k *key) replyKeys(q *path.Query, found []path.Match) {
	x, at := k.x, len(k.x.Buf)
	if q.Legacy {
		found = found[:1]
	} else {
		x.Array(len(found))
	}
	for _, m := range found {
		if !isObject(m.Value) {
			x.Null()
			continue
		}
		x.Array(m.Len())
		for i := range m.Len() {
			if !x.FitsReply(int64(len(m.Key(i))) + command.ElementReply) {
				x.Buf = x.Buf[:at]
				x.ReplyTooLarge()
				return
			}
			x.BulkString(m.Key(i))
		}
	}
}
