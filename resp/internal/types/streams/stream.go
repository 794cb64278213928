package streams

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// openStream opens the stream at a key to change it, or for what its head says. It has
// replied, and returns false, if that cannot be.
func openStream(x *command.Call, s *collection.Stream, key []byte) bool {
	return x.Opened(key, s.Value(), s.Open(x.Unit, key))
}

// openWholeStream is openStream for commands that look at what is in it.
func openWholeStream(x *command.Call, s *collection.Stream, key []byte) bool {
	return x.Opened(key, s.Value(), s.OpenWhole(x.Unit, key))
}

// streamAt opens the stream at args[1].
func streamAt(x *command.Call) (*collection.Stream, bool) {
	return &x.Stream, openStream(x, &x.Stream, x.Args[1])
}

func cmdXadd(x *command.Call) {
	o, fields, msg := parseAddOptions(x.Args[2:], true, x.Limits.Encodings.StreamNode.Load())
	switch {
	case msg != "":
		x.Error(msg)
		return
	case len(fields) < 2 || len(fields)%2 == 1:
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return
	case o.idGiven && o.seqGiven && o.id.IsZero():
		x.Error("ERR The ID specified in XADD must be greater than 0-0")
		return
	}
	s, ok := streamAt(x)
	if !ok {
		return
	}
	if o.onlyIfThere && !s.Value().Exists() {
		x.Null()
		return
	}
	id, msg := newID(s, &o, x.Unit.Now())
	if msg != "" {
		x.Error(msg)
		return
	}
	if err := s.Add(id, fields); err != nil {
		x.Fail(err)
		return
	}
	noteStream(x, "xadd", x.Args[1])
	if o.trims && !trimStream(x, s, &o, true) {
		return
	}
	streamID(x.Writer, id)
}

const msgSmallID = "ERR The ID specified in XADD is equal or smaller than the target stream top item"

// newID is the ID of the next entry, or an error reply. It is behind all that there were,
// whatever time it is.
func newID(s *collection.Stream, o *addOptions, now int64) (id collection.ID, msg string) {
	next, ok := s.Last.Next()
	if !ok {
		return id, "ERR The stream has exhausted the last possible ID, unable to add more items"
	}
	switch {
	case !o.idGiven && uint64(now) > s.Last.Ms:
		return collection.ID{Ms: uint64(now)}, ""
	case !o.idGiven:
		return next, ""
	case o.seqGiven || o.id.Ms != s.Last.Ms:
		id = o.id
	case next.Ms == s.Last.Ms:
		id = next
	default:
		return id, msgSmallID
	}
	if id.Compare(s.Last) <= 0 {
		return id, msgSmallID
	}
	return id, ""
}

func cmdXlen(x *command.Call) {
	if s, ok := streamAt(x); ok {
		x.Int(s.Len())
	}
}

func cmdXdel(x *command.Call) {
	s, ok := streamAt(x)
	if !ok {
		return
	}
	if !s.Value().Exists() {
		x.Int(0)
		return
	}
	ids, ok := streamIDs(x, x.Args[2:])
	if !ok {
		return
	}
	n, err := s.Delete(ids)
	if err != nil {
		x.FailPart(n > 0, err)
		return
	}
	if n > 0 {
		noteStream(x, "xdel", x.Args[1])
	}
	x.Int(n)
}

func cmdXtrim(x *command.Call) {
	o, _, msg := parseAddOptions(x.Args[2:], false, x.Limits.Encodings.StreamNode.Load())
	if msg != "" {
		x.Error(msg)
		return
	}
	s, ok := streamAt(x)
	if !ok {
		return
	}
	length := s.Len()
	if trimStream(x, s, &o, false) {
		x.Int(length - s.Len())
	}
}

// trimStream trims the stream at args[1], after part of the command's changes if some is done.
// It has replied if it returns false.
func trimStream(x *command.Call, s *collection.Stream, o *addOptions, some bool) bool {
	var n int64
	var err error
	if o.refs == keepRefs || s.Groups == 0 {
		n, err = s.Trim(o.trim)
	} else {
		n, err = trimRefs(s, o.trim, o.refs)
		some = true
	}
	if err != nil {
		x.FailPart(some, err)
		return false
	}
	if n > 0 {
		noteStream(x, "xtrim", x.Args[1])
	}
	return true
}

// noteStream notes an event of a stream.
func noteStream(x *command.Call, name string, key []byte) { x.Unit.Note(store.EventStream, name, key) }

func cmdXsetid(x *command.Call) {
	last, ok := parseStreamID(x.Args[2], 0)
	if !ok {
		x.Error(msgStreamID)
		return
	}
	added, deleted := int64(-1), collection.ID{}
	for args := x.Args[3:]; len(args) > 0; args = args[2:] {
		switch {
		case len(args) > 1 && wire.EqualFold(args[0], "entriesadded"):
			if added, ok = wire.ParseInt(args[1]); !ok {
				x.Error(command.MsgNotInteger)
				return
			}
			if added < 0 {
				x.Error("ERR entries_added must be positive")
				return
			}
		case len(args) > 1 && wire.EqualFold(args[0], "maxdeletedid"):
			if deleted, ok = parseStreamID(args[1], 0); !ok {
				x.Error(msgStreamID)
				return
			}
			if last.Compare(deleted) < 0 {
				x.Error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
				return
			}
		default:
			x.Error(command.MsgSyntax)
			return
		}
	}
	s, ok := streamAt(x)
	if !ok {
		return
	}
	if !s.Value().Exists() {
		x.Error(command.MsgNoKey)
		return
	}
	if last.Compare(s.MaxDeleted) < 0 {
		x.Error("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id")
		return
	}
	if s.Len() > 0 {
		top, err := s.LastEntry()
		switch {
		case err != nil:
			x.Fail(err)
			return
		case last.Compare(top) < 0:
			x.Error("ERR The ID specified in XSETID is smaller than the target stream top item")
			return
		case added >= 0 && added < s.Len():
			x.Error("ERR The entries_added specified in XSETID is smaller than the target stream length")
			return
		}
	}
	s.SetLast(last, added, deleted)
	noteStream(x, "xsetid", x.Args[1])
	x.OK()
}

// streamFound opens the stream at args[2], for a subcommand; if there is none it replies so.
func streamFound(x *command.Call) (*collection.Stream, bool) {
	s := &x.Stream
	if !openWholeStream(x, s, x.Args[2]) {
		return nil, false
	}
	if !s.Value().Exists() {
		x.Error(command.MsgNoKey)
		return nil, false
	}
	return s, true
}
