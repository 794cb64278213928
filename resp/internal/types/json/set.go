package json

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
	"github.com/ringside-kv/ringside/resp/internal/types/json/path"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// setOptions are the options of JSON.SET.
type setOptions struct{ nx, xx bool }

// parseSet reads the options of JSON.SET. msg is an error reply.
func parseSet(args [][]byte) (o setOptions, msg string) {
	for ; len(args) > 0; args = args[1:] {
		switch {
		case wire.EqualFold(args[0], "nx") && !o.nx && !o.xx:
			o.nx = true
		case wire.EqualFold(args[0], "xx") && !o.nx && !o.xx:
			o.xx = true
		case wire.EqualFold(args[0], "format") && len(args) > 1:
			if msg := jsonFormat(args[1]); msg != "" {
				return o, msg
			}
			args = args[1:]
		default:
			return o, command.MsgSyntax
		}
	}
	return o, ""
}

// jsonFormat reads the argument of FORMAT for a value that is to be set: JSON and nothing else. msg is an error reply.
func jsonFormat(arg []byte) (msg string) {
	if wire.EqualFold(arg, "json") {
		return ""
	}
	return "ERR wrong format"
}

func cmdSet(x *command.Call) {
	o, msg := parseSet(x.Args[4:])
	if msg != "" {
		x.Error(msg)
		return
	}
	q, ok := compile(x, x.Args[2])
	if !ok {
		return
	}
	k := &key{x: x, name: x.Args[1]}
	if k.v, ok = get(x, k.name); !ok {
		return
	}
	value, ok := argument(x, x.Args[3])
	if !ok {
		return
	}
	exists := k.v.Exists()
	switch {
	case !exists && o.xx, exists && o.nx && q.IsRoot():
		x.Null()
		return
	case !exists && !q.IsRoot():
		x.Error(msgNewAtRoot)
		return
	case q.IsRoot():
		k.root = value
	default:
		var err error
		if k.root, err = parse(x, k.name, k.v); err != nil {
			fail(x, err)
			return
		}
		if changed, msg := k.set(q, value, o); msg != "" {
			x.Error(msg)
			return
		} else if !changed {
			if !k.failed {
				x.Null()
			}
			return
		}
	}
	if k.put("json.set") {
		x.OK()
	}
}

// set changes what a path finds in a value, or adds the member that it names. With neither a change nor a message
// nothing is as the options demand, or set has replied.
func (k *key) set(q *path.Query, value *document.Value, o setOptions) (changed bool, msg string) {
	if !o.nx {
		found, ok := k.find(q)
		if !ok {
			return false, ""
		}
		for _, m := range found {
			fresh := value
			if k.apart {
				var err error
				if fresh, err = value.Clone(k.x.Take); err != nil {
					k.fail(err)
					return false, ""
				}
			}
			m.Set(fresh)
		}
		if len(found) > 0 || o.xx {
			return len(found) > 0, ""
		}
	}
	return k.add(q, func() (*document.Value, error) { return value, nil })
}

// add adds a member to the object that a path names but for its last step, unless it is there.
func (k *key) add(q *path.Query, value func() (*document.Value, error)) (changed bool, msg string) {
	parent, last, ok := q.Parent()
	if !ok {
		return false, "ERR wrong static path"
	}
	if last.IsIndex {
		if found, ok := k.find(q); ok && len(found) == 0 {
			return false, "ERR array index out of range"
		}
		return false, ""
	}
	found, ok := k.find(parent)
	if !ok || len(found) == 0 || found[0].Kind() != document.Object || found[0].Find(last.Name) >= 0 {
		return false, ""
	}
	v, err := value()
	if err != nil {
		k.fail(err)
		return false, ""
	}
	found[0].Add(last.Name, v)
	return true, ""
}

func cmdMerge(x *command.Call) {
	if len(x.Args) > 4 {
		if len(x.Args) != 6 || !wire.EqualFold(x.Args[4], "format") {
			x.Error(command.MsgSyntax)
			return
		}
		if msg := jsonFormat(x.Args[5]); msg != "" {
			x.Error(msg)
			return
		}
	}
	q, ok := compile(x, x.Args[2])
	if !ok {
		return
	}
	k, ok := open(x)
	if !ok {
		return
	}
	patch, ok := argument(x, x.Args[3])
	if !ok {
		return
	}
	if k.root == nil {
		if !q.IsRoot() {
			x.Error(msgNewAtRoot)
			return
		}
		k.root = new(document.Value)
	}
	changed, msg := k.merge(q, patch)
	switch {
	case msg != "":
		x.Error(msg)
	case !changed:
		if !k.failed {
			x.Null()
		}
	case k.put("json.merge"):
		x.OK()
	}
}

// merge merges a patch into what a path finds, or adds the member that it names; the results are as with set.
func (k *key) merge(q *path.Query, patch *document.Value) (changed bool, msg string) {
	found, ok := k.find(q)
	if !ok {
		return false, ""
	}
	if len(found) == 0 {
		return k.add(q, func() (*document.Value, error) {
			v := new(document.Value)
			return v, v.Merge(patch, k.x.Take)
		})
	}
	for _, m := range found {
		if err := m.Merge(patch, k.x.Take); err != nil {
			k.fail(err)
			return false, ""
		}
	}
	return true, ""
}

// remove removes what a path has found, and returns how many values are gone: those within others do not count.
func (k *key) remove(found []path.Match) int {
	gone := make(map[*document.Value]struct{}, len(found))
	for _, m := range found {
		gone[m.Value] = struct{}{}
	}
	return k.root.Remove(func(v *document.Value) bool {
		_, ok := gone[v]
		return ok
	})
}

// cmdMset sets all keys, or none of them.
func cmdMset(x *command.Call) {
	if len(x.Args)%3 != 1 {
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return
	}
	// The trees of all keys are there before the first is written.
	var keys []*key
	byName := map[string]*key{}
	all := true
	for i := 1; i < len(x.Args); i += 3 {
		q, ok := compile(x, x.Args[i+1])
		if !ok {
			return
		}
		k := byName[string(x.Args[i])]
		if k == nil {
			k = &key{x: x, name: x.Args[i], queries: len(x.Args) / 3, apart: true}
			if k.v, ok = get(x, k.name); !ok {
				return
			}
			if k.v.Exists() {
				var err error
				if k.root, err = parse(x, k.name, k.v); err != nil {
					fail(x, err)
					return
				}
			}
			byName[string(k.name)], keys = k, append(keys, k)
		}
		value, ok := argument(x, x.Args[i+2])
		if !ok {
			return
		}
		switch {
		case q.IsRoot():
			k.root, k.changed = value, true
		case k.root == nil:
			x.Error(msgNewAtRoot)
			return
		default:
			changed, msg := k.set(q, value, setOptions{})
			if msg != "" {
				x.Error(msg)
				return
			}
			if k.failed {
				return
			}
			k.changed, all = k.changed || changed, all && changed
		}
	}
	putAll(x, keys, all)
}

// putAll writes what has changed of several keys, or nothing, and replies.
func putAll(x *command.Call, keys []*key, all bool) {
	texts := make([][]byte, len(keys))
	err := error(nil)
	for i, k := range keys {
		if k.changed && err == nil {
			texts[i], err = encode(x, k.root)
		}
	}
	if err == nil {
		err = x.OpenTypes(x.MayWait)
	}
	if err != nil {
		fail(x, err)
		return
	}
	for i, k := range keys {
		if !k.changed {
			continue
		}
		if err := x.Unit.PutBytes(k.name, k.v, store.JSON, texts[i], k.v.Expiry, false); err != nil {
			x.Abort(err) // some may be written
			return
		}
		x.Unit.Note(store.EventModule, "json.mset", k.name)
	}
	if all {
		x.OK()
	} else {
		x.Null()
	}
}

func cmdDel(x *command.Call) {
	q, ok := pathArg(x, 2)
	if !ok {
		return
	}
	k := &key{x: x, name: x.Args[1]}
	if k.v, ok = get(x, k.name); !ok {
		return
	}
	if !k.v.Exists() {
		x.Int(0)
		return
	}
	removed := 1
	if !q.IsRoot() {
		var err error
		if k.root, err = parse(x, k.name, k.v); err != nil {
			fail(x, err)
			return
		}
		found, ok := k.find(q)
		if !ok {
			return
		}
		if removed = k.remove(found); removed == 0 {
			x.Int(0)
			return
		}
	}
	// A value that has lost its last element goes, too.
	if q.IsRoot() || k.root.Len() == 0 {
		x.Unit.Delete(k.name, k.v)
		x.Unit.Note(store.EventModule, "json.del", k.name)
	} else if !k.put("json.del") {
		return
	}
	x.Int(int64(removed))
}

func cmdClear(x *command.Call) {
	q, ok := pathArg(x, 2)
	if !ok {
		return
	}
	k, found, ok := openFound(x, q)
	if !ok {
		return
	}
	cleared := int64(0)
	for _, m := range found {
		switch {
		case m.IsContainer() && m.Len() > 0:
			m.Clear()
		case m.IsNumber() && m.Float() != 0:
			m.Set(document.NewInt(0))
		default:
			continue
		}
		cleared++
	}
	if cleared == 0 || k.put("json.clear") {
		x.Int(cleared)
	}
}
