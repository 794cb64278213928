package streams

import (
	"bytes"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

const msgStreamID = "ERR Invalid stream ID specified as stream command argument"

// maxStreamID is how long the text of an ID may be.
const maxStreamID = 127

// parseStreamID reads an ID as Redis does: "ms-seq", or "ms" alone, whose seq is then missing.
func parseStreamID(b []byte, missing uint64) (id collection.ID, ok bool) {
	id, seqGiven, ok := parseNewID(b, missing)
	return id, ok && seqGiven
}

// parseNewID is parseStreamID where the seq may also be "*": then it is 0, and not given.
func parseNewID(b []byte, missing uint64) (id collection.ID, seqGiven, ok bool) {
	if len(b) > maxStreamID {
		return id, false, false
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i] // as where strings end with a zero byte
	}
	ms, seq, has := bytes.Cut(b, []byte{'-'})
	if id.Ms, ok = parseUint(ms); !ok {
		return id, false, false
	}
	switch {
	case !has:
		id.Seq = missing
	case len(seq) == 1 && seq[0] == '*':
		return id, false, true
	default:
		if id.Seq, ok = parseUint(seq); !ok {
			return id, false, false
		}
	}
	return id, true, true
}

// parseAnyID is parseStreamID where "-" and "+" stand for the first and the last of all.
func parseAnyID(b []byte, missing uint64) (collection.ID, bool) {
	if len(b) == 1 || len(b) > 1 && b[1] == 0 {
		switch b[0] {
		case '-':
			return collection.ID{}, true
		case '+':
			return collection.MaxID, true
		}
	}
	return parseStreamID(b, missing)
}

// parseUint reads a number of 64 bits as C's strtoull does, but for a minus sign before what
// is a plain number.
func parseUint(b []byte) (uint64, bool) {
	if n, ok := wire.ParseInt(b); ok {
		return uint64(n), n >= 0
	}
	for len(b) > 0 && (b[0] == ' ' || b[0] >= '\t' && b[0] <= '\r') {
		b = b[1:]
	}
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	n := uint64(0)
	for _, c := range b {
		if c < '0' || c > '9' || n > math.MaxUint64/10 || n*10 > math.MaxUint64-uint64(c-'0') {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, len(b) > 0
}

// interval reads the two ends of a range of IDs, which "(" excludes. It has replied, and
// returns false, if they are none.
func interval(x *command.Call, from, to []byte) (first, last collection.ID, ok bool) {
	if first, ok = intervalStart(x, from); ok {
		last, ok = intervalEnd(x, to)
	}
	return first, last, ok
}

func intervalStart(x *command.Call, b []byte) (id collection.ID, ok bool) {
	id, excluded, ok := parseIDBound(b, 0)
	if !ok {
		x.Error(msgStreamID)
		return id, false
	}
	if excluded {
		if id, ok = id.Next(); !ok {
			x.Error("ERR invalid start ID for the interval")
		}
	}
	return id, ok
}

func intervalEnd(x *command.Call, b []byte) (id collection.ID, ok bool) {
	id, excluded, ok := parseIDBound(b, math.MaxUint64)
	if !ok {
		x.Error(msgStreamID)
		return id, false
	}
	if excluded {
		if id, ok = id.Prev(); !ok {
			x.Error("ERR invalid end ID for the interval")
		}
	}
	return id, ok
}

func parseIDBound(b []byte, missing uint64) (id collection.ID, excluded, ok bool) {
	if len(b) > 1 && b[0] == '(' {
		id, ok = parseStreamID(b[1:], missing)
		return id, true, ok
	}
	id, ok = parseAnyID(b, missing)
	return id, false, ok
}

// streamIDs reads args, which are all IDs. It has replied, and returns false, if one is none.
func streamIDs(x *command.Call, args [][]byte) (ids []collection.ID, ok bool) {
	ids = make([]collection.ID, len(args))
	for i, arg := range args {
		if ids[i], ok = parseStreamID(arg, 0); !ok {
			x.Error(msgStreamID)
			return nil, false
		}
	}
	return ids, true
}

// streamID replies with an ID.
func streamID(r *wire.Writer, id collection.ID) {
	var text [41]byte
	b, _ := id.AppendText(text[:0])
	r.Bulk(b)
}
