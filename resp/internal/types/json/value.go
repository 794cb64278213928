package json

import (
	"errors"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
	"github.com/ringside-kv/ringside/resp/internal/types/json/path"
	"github.com/ringside-kv/ringside/store"
)

// Errors in RedisJSON's words.
const (
	msgNoKey     = "ERR could not perform this operation on a key that doesn't exist"
	msgNoPath    = "ERR Path does not exist"
	msgNewAtRoot = "ERR new objects must be created at the root"
	msgDepth     = "ERR recursion limit exceeded"
	msgTooLong   = "ERR the JSON value exceeds the maximum allowed size (proto-max-bulk-len)"
	msgUTF8      = "ERR Couldn't parse as UTF-8 string"
)

// noPathOr is the error of a legacy path that finds nothing, or nothing of the type that a command needs.
func noPathOr(other string) string { return msgNoPath + " or " + other }

// expected is the error of a legacy path that finds a value of another type.
func expected(typ string) string { return "WRONGTYPE wrong type of path value - expected " + typ }

// A key is a value that a command works on.
type key struct {
	x    *command.Call
	name []byte
	v    store.Value
	// root is nil if there is no such key.
	root *document.Value
	// changed: root is not what the store has.
	changed bool
	// failed: the command has replied with an error.
	failed bool
	// queries is how many paths the command has for this key; 0: one.
	queries int
	steps   *path.Steps // of these
	stepsOf *document.Value
	// apart: what is set at several places is to be a copy at each, since the command may change one of them later.
	apart bool
}

// stepsFor returns the steps of the paths in the tree as it is.
func (k *key) stepsFor() *path.Steps {
	if k.steps == nil || k.stepsOf != k.root {
		k.steps, k.stepsOf = path.NewSteps(k.root, k.queries), k.root
	}
	return k.steps
}

// fail replies with an error.
func (k *key) fail(err error) {
	fail(k.x, err)
	k.failed = true
}

// fail replies with an error.
func fail(x *command.Call, err error) {
	switch {
	case errors.Is(err, document.ErrMemory), errors.Is(err, path.ErrMemory):
		x.RefuseByLimit(command.MsgNoMemory)
	case errors.Is(err, document.ErrTooLarge):
		x.RefuseByLimit(msgTooLong)
	case errors.Is(err, document.ErrDepth):
		x.Error(msgDepth)
	case errors.Is(err, document.ErrUTF8):
		x.Error(msgUTF8)
	default:
		x.Fail(err)
	}
}

// get returns what the store has at a key. It has replied, and returns false, if that cannot be read or is no JSON.
func get(x *command.Call, name []byte) (v store.Value, ok bool) {
	v, err := x.Unit.Get(name)
	if err != nil {
		x.Fail(err)
		return v, false
	}
	x.CountRead(name, &v)
	if v.Exists() && v.Type != store.JSON {
		x.Error(command.MsgWrongType)
		return v, false
	}
	return v, true
}

// parse reads the text of a value into a tree.
func parse(x *command.Call, name []byte, v store.Value) (*document.Value, error) {
	if !v.Whole() && !x.Take(v.Size) {
		return nil, document.ErrMemory
	}
	text, err := x.Unit.Bytes(name, v)
	if err != nil {
		return nil, err
	}
	return document.Parse(text, x.Take)
}

// open reads the value at args[1]. It has replied, and returns false, if that is not possible; or will reply in another
// run.
func open(x *command.Call) (*key, bool) {
	k := &key{x: x, name: x.Args[1]}
	var ok bool
	if k.v, ok = get(x, k.name); !ok {
		return nil, false
	}
	if !k.v.Exists() {
		return k, true
	}
	if x.Row.Flags&command.FlagReadonly != 0 && k.v.Size > command.LargeReply && x.RunAgainApart() {
		return nil, false
	}
	var err error
	if k.root, err = parse(x, k.name, k.v); err != nil {
		fail(x, err)
		return nil, false
	}
	return k, true
}

// compile reads a path. It has replied if it returns false.
func compile(x *command.Call, text []byte) (*path.Query, bool) {
	q, err := path.Compile(string(text), x.Take)
	if err != nil {
		fail(x, err)
		return nil, false
	}
	return q, true
}

// legacyRoot is the path of commands without one.
var legacyRoot = []byte(".")

// pathArg returns the path at args[i], or the legacy one of the whole value. It has replied if it returns false.
func pathArg(x *command.Call, i int) (*path.Query, bool) {
	text := legacyRoot
	if i < len(x.Args) {
		text = x.Args[i]
	}
	return compile(x, text)
}

// argument reads a JSON argument. It has replied if it returns false.
func argument(x *command.Call, text []byte) (*document.Value, bool) {
	v, err := document.Parse(text, x.Take)
	if err != nil {
		fail(x, err)
		return nil, false
	}
	return v, true
}

// arguments reads JSON arguments. It has replied if it returns false.
func arguments(x *command.Call, texts [][]byte) (values []*document.Value, ok bool) {
	for _, text := range texts {
		v, ok := argument(x, text)
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// find returns what a path finds in a value that exists. It has replied if it returns false.
func (k *key) find(q *path.Query) ([]path.Match, bool) {
	found, err := q.SelectWithin(k.stepsFor(), k.x.Take)
	if err != nil {
		k.fail(err)
		return nil, false
	}
	return found, true
}

// put makes the tree the value of the key and notes an event. It has replied if it returns false, and nothing has
// changed then.
func (k *key) put(event string) bool {
	if err := put(k.x, k.name, k.v, k.root, k.v.Expiry); err != nil {
		fail(k.x, err)
		return false
	}
	k.x.Unit.Note(store.EventModule, event, k.name)
	return true
}

func put(x *command.Call, name []byte, v store.Value, root *document.Value, expiry int64) error {
	text, err := encode(x, root)
	if err == nil {
		err = x.OpenTypes(x.MayWait)
	}
	if err != nil {
		return err
	}
	return x.Unit.PutBytes(name, v, store.JSON, text, expiry, false)
}

// encode returns the text of a tree as it is kept.
func encode(x *command.Call, root *document.Value) ([]byte, error) {
	e := document.Encoder{Limit: x.Limits.MaxValue.Load(), Grow: x.Take}
	e.Value(root, 0)
	if e.Err() == nil && int64(len(e.Buf)) > e.Limit {
		return nil, document.ErrTooLarge
	}
	return e.Buf, e.Err()
}

// Restore makes a JSON text the value of a key, which was old.
func Restore(x *command.Call, name []byte, old store.Value, text []byte, expiry int64) error {
	root, err := document.Parse(text, x.Take)
	if err != nil {
		return err
	}
	return put(x, name, old, root, expiry)
}
