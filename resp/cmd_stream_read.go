package resp

import (
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
	keys, ids       [][]byte
}

func cmdXread(x *Call) {
	r, msg := x.parseStreamRead(false)
	if msg != "" {
		x.Error(msg)
		return
	}
	after, ok := x.readAfter(r)
	if !ok {
		return
	}
	at, n := len(x.Buf), 0
	for i, key := range r.keys {
		served, err := x.readStream(key, after[i], r.count)
		if err != nil {
			x.endReply(err)
			return
		}
		if served {
			n++
		}
	}
	if n == 0 {
		if r.blocks {
			x.awaitEntries(r, after)
		} else {
			x.NullArray()
		}
		return
	}
	x.insertStreams(at, n)
	x.endReply(nil)
}

// insertStreams puts the length before n streams: a map in RESP3.
func (x *Call) insertStreams(at, n int) {
	if x.Proto == 3 {
		insertLength(x.Writer, at, '%', n)
	} else {
		insertLength(x.Writer, at, '*', n)
	}
}

// streamName begins what is said of one stream.
func (x *Call) streamName(key []byte) {
	if x.Proto != 3 {
		x.Array(2)
	}
	x.Bulk(key)
}

// parseStreamRead reads the arguments of XREAD or XREADGROUP, or returns an error reply.
func (x *Call) parseStreamRead(grouped bool) (r *streamRead, msg string) {
	r = &streamRead{}
	args := x.args[1:]
	for r.keys == nil {
		if len(args) == 0 {
			return nil, msgSyntax
		}
		word, more := args[0], args[1:]
		used, ok := 1, true
		switch {
		case wire.EqualFold(word, "block") && len(more) > 0:
			if x.scripted {
				return nil, "ERR " + x.cmd.name + " command is not allowed with BLOCK option from scripts"
			}
			r.blocks, used = true, 2
			if r.timeout, msg = blockTimeout(more[0]); msg != "" {
				return nil, msg
			}
		case wire.EqualFold(word, "count") && len(more) > 0:
			used = 2
			if r.count, ok = wire.ParseInt(more[0]); !ok {
				return nil, msgNotInteger
			}
			r.count = max(r.count, 0)
		case wire.EqualFold(word, "streams") && len(more) > 0:
			if len(more)%2 != 0 {
				return nil, "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
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
		default:
			return nil, msgSyntax
		}
		args = args[used:]
	}
	if grouped && r.group == nil {
		return nil, "ERR Missing GROUP option for XREADGROUP"
	}
	// Where the command's keys were looked for, the word STREAMS may be a name or a number:
	// then others than these are latched.
	refs, err := x.cmd.keysOf(x.args, nil)
	if err != nil || len(refs) != len(r.keys) || refs[0].pos != len(x.args)-2*len(r.keys) {
		return nil, msgSyntax
	}
	return r, ""
}

// blockTimeout reads for how long a client waits, in ms.
func blockTimeout(b []byte) (ms int64, msg string) {
	ms, ok := wire.ParseInt(b)
	switch {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case ms < 0:
		return 0, "ERR timeout is negative"
	}
	return ms, ""
}

// readAfter tells behind which IDs XREAD reads. It has replied, and returns false, if
// something is wrong with them or with a key.
func (x *Call) readAfter(r *streamRead) (after []collection.ID, ok bool) {
	after = make([]collection.ID, len(r.keys))
	for i, word := range r.ids {
		s := &x.stream
		if !x.openStream(s, r.keys[i]) {
			return nil, false
		}
		switch string(word) {
		case "$":
			if after[i], ok = x.remembered(i); !ok {
				after[i] = s.Last
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

// readStream replies with a stream's name and the entries behind an ID, if there are any.
func (x *Call) readStream(key []byte, after collection.ID, count int64) (served bool, err error) {
	s := &x.stream
	// The head, which is in memory, tells most clients that there is nothing new.
	if err := s.Open(x.unit, key); err != nil {
		return false, err
	}
	if x.saw(key, s.Value()); s.Len() == 0 || after.Compare(s.Last) >= 0 {
		return false, nil
	}
	from, ok := after.Next()
	if !ok {
		return false, nil
	}
	if err := s.OpenWhole(x.unit, key); err != nil {
		return false, err
	}
	at := len(x.Buf)
	x.streamName(key)
	n, err := x.entriesIn(s, from, collection.MaxID, count, false, nil)
	if err == nil && n == 0 {
		x.Buf = x.Buf[:at]
	}
	return n > 0, err
}
