package streams

import (
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// A streamRead is what XREAD and XREADGROUP ask for.
type streamRead struct {
	count int64 // 0: all
	// blocks: the client would wait for an entry, for so many ms, or without end if it is 0.
	blocks          bool
	timeout         int64
	group, consumer []byte // nil in XREAD
	noAck           bool
	// claims: pending entries that were delivered idle ms ago, or earlier, come before new ones.
	claims    bool
	idle      int64
	keys, ids [][]byte
}

func cmdXread(x *command.Call) {
	r, msg := parseStreamRead(x, false)
	if msg != "" {
		x.Error(msg)
		return
	}
	after, ok := readAfter(x, r)
	if !ok {
		return
	}
	at, n := len(x.Buf), 0
	for i, key := range r.keys {
		served, err := readStream(x, key, after[i], r.count)
		if err != nil {
			endReply(x, err)
			return
		}
		if served {
			n++
		}
	}
	if n == 0 {
		if r.blocks {
			awaitEntries(x, r, after)
		} else {
			x.NullArray()
		}
		return
	}
	insertStreams(x, at, n)
	endReply(x, nil)
}

// insertStreams puts the length before n streams: a map in RESP3.
func insertStreams(x *command.Call, at, n int) {
	if x.Proto == 3 {
		insertLength(x.Writer, at, '%', n)
	} else {
		insertLength(x.Writer, at, '*', n)
	}
}

// streamName begins what is said of one stream.
func streamName(x *command.Call, key []byte) {
	if x.Proto != 3 {
		x.Array(2)
	}
	x.Bulk(database.Name(key))
}

// parseStreamRead reads the arguments of XREAD or XREADGROUP, or returns an error reply.
func parseStreamRead(x *command.Call, grouped bool) (r *streamRead, msg string) {
	r = &streamRead{}
	args := x.Args[1:]
	for r.keys == nil {
		if len(args) == 0 {
			return nil, command.MsgSyntax
		}
		word, more := args[0], args[1:]
		used, ok := 1, true
		switch {
		case wire.EqualFold(word, "block") && len(more) > 0:
			r.blocks, used = true, 2
			if r.timeout, msg = command.ParseMilliseconds(more[0]); msg != "" {
				return nil, msg
			}
		case wire.EqualFold(word, "count") && len(more) > 0:
			used = 2
			if r.count, ok = wire.ParseInt(more[0]); !ok {
				return nil, command.MsgNotInteger
			}
			r.count = max(r.count, 0)
		case wire.EqualFold(word, "streams") && len(more) > 0:
			if len(more)%2 != 0 {
				return nil, msgUnbalanced[grouped]
			}
			r.keys, r.ids = more[:len(more)/2], more[len(more)/2:]
		case wire.EqualFold(word, "group") && len(more) > 1:
			if !grouped {
				return nil, "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
			}
			r.group, r.consumer, used = more[0], more[1], 3
		case wire.EqualFold(word, "noack"):
			if !grouped {
				return nil, "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
			}
			r.noAck = true
		case wire.EqualFold(word, "claim") && len(more) > 0:
			if !grouped {
				return nil, "ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead."
			}
			r.claims, used = true, 2
			if r.idle, ok = wire.ParseInt(more[0]); !ok {
				return nil, "ERR min-idle-time is not an integer or out of range"
			}
			if r.idle < 0 {
				return nil, "ERR min-idle-time must be a positive integer"
			}
		default:
			return nil, command.MsgSyntax
		}
		args = args[used:]
	}
	if grouped && r.group == nil {
		return nil, "ERR Missing GROUP option for XREADGROUP"
	}
	// The keys that are latched must be these.
	refs, err := x.Row.KeysOf(x.Args, nil)
	if err != nil || len(refs) != len(r.keys) || refs[0].Pos != len(x.Args)-2*len(r.keys) {
		return nil, command.MsgSyntax
	}
	return r, ""
}

// msgUnbalanced is the error where there is not an ID for each stream; true is that of XREADGROUP.
var msgUnbalanced = map[bool]string{
	false: "ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified.",
	true:  "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified.",
}

// readAfter tells behind which IDs XREAD reads. It has replied, and returns false, if
// something is wrong with them or with a key.
func readAfter(x *command.Call, r *streamRead) (after []collection.ID, ok bool) {
	after = make([]collection.ID, len(r.keys))
	for i, word := range r.ids {
		s := &x.Stream
		if !openStream(x, s, r.keys[i]) {
			return nil, false
		}
		switch string(word) {
		case "$":
			if after[i], ok = remembered(x, i); !ok {
				after[i] = s.Last
			}
		case "+": // after a wait, too
			var err error
			if after[i], err = beforeNewest(x, s, r.keys[i]); err != nil {
				x.Fail(err)
				return nil, false
			}
		case ">":
			x.Error("ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.")
			return nil, false
		default:
			if after[i], ok = parseStreamID(word, 0); !ok {
				x.Error(msgStreamID)
				return nil, false
			}
		}
	}
	return after, true
}

// beforeNewest returns the ID behind which only the newest entry of an open stream lies; the last ID if there is none.
func beforeNewest(x *command.Call, s *collection.Stream, key []byte) (id collection.ID, err error) {
	if id = s.Last; s.Len() == 0 {
		return id, nil
	}
	if err = s.OpenWhole(x.Unit, key); err != nil {
		return id, err
	}
	err = s.Range(collection.ID{}, collection.MaxID, true, func(newest collection.ID, _ collection.Fields) bool {
		id, _ = newest.Prev() // no entry has the first ID
		return false
	})
	return id, err
}

// readStream replies with a stream's name and the entries behind an ID, if there are any.
func readStream(x *command.Call, key []byte, after collection.ID, count int64) (served bool, err error) {
	s := &x.Stream
	// The head, which is in memory, tells most clients that there is nothing new.
	if err := s.Open(x.Unit, key); err != nil {
		return false, err
	}
	if x.CountRead(key, s.Value()); s.Len() == 0 || after.Compare(s.Last) >= 0 {
		return false, nil
	}
	from, ok := after.Next()
	if !ok {
		return false, nil
	}
	if err := s.OpenWhole(x.Unit, key); err != nil {
		return false, err
	}
	at := len(x.Buf)
	streamName(x, key)
	n, err := entriesIn(x, s, from, collection.MaxID, count, false, nil)
	if err == nil && n == 0 {
		x.Buf = x.Buf[:at]
	}
	return n > 0, err
}
