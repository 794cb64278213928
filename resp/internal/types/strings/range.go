package strings

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// The commands that read and write parts of a string.

func cmdStrlen(x *command.Call) {
	if v, ok := x.GetString(x.Args[1]); ok {
		x.Int(v.Size)
	}
}

func cmdGetrange(x *command.Call) {
	start, ok1 := wire.ParseInt(x.Args[2])
	end, ok2 := wire.ParseInt(x.Args[3])
	if !ok1 || !ok2 {
		x.Error(command.MsgNotInteger)
		return
	}
	v, ok := x.GetString(x.Args[1])
	if !ok {
		return
	}
	first, last, ok := span(start, end, v.Size)
	if !ok {
		x.Bulk(nil)
		return
	}
	x.StringRange(x.Args[1], v, first, last-first+1)
}

func cmdSubstr(x *command.Call) { cmdGetrange(x) }

// span resolves a range of positions, negative ones counted from the end, in
// something of the given size. Both ends are part of it; false means that it is
// empty. An end in front of the beginning counts as the beginning, as in Redis,
// unless both are negative and the wrong way round.
func span(start, end, size int64) (first, last int64, ok bool) {
	if start < 0 && end < 0 && start > end {
		return 0, 0, false
	}
	first, last = FromEnd(start, size), min(FromEnd(end, size), size-1)
	return first, last, first <= last
}

// FromEnd resolves one position.
func FromEnd(pos, size int64) int64 {
	if pos < 0 {
		return max(pos+size, 0)
	}
	return pos
}

func cmdAppend(x *command.Call) {
	key, data := x.Args[1], x.Args[2]
	v, ok := x.GetString(key)
	if !ok {
		return
	}
	if !Fits(x, v.Size, int64(len(data))) {
		x.Error(command.MsgTooLong)
		return
	}
	size := int64(len(data))
	var err error
	if v.Exists() {
		size, err = x.Unit.WriteRange(key, v, v.Size, data)
	} else {
		err = x.Unit.PutString(key, v, data, 0, false)
	}
	if err != nil {
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventString, "append", key)
	x.Int(size)
}

func cmdSetrange(x *command.Call) {
	key, data := x.Args[1], x.Args[3]
	off, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	if off < 0 {
		x.Error(command.MsgOffset)
		return
	}
	v, ok := x.GetString(key)
	switch {
	case !ok:
		return
	case len(data) == 0:
		x.Int(v.Size)
		return
	case !Fits(x, off, int64(len(data))):
		x.Error(command.MsgTooLong)
		return
	}
	size, err := x.Unit.WriteRange(key, v, off, data)
	if err != nil {
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventString, "setrange", key)
	x.Int(size)
}

// Fits reports whether a string of size + more bytes may exist.
func Fits(x *command.Call, size, more int64) bool {
	limit := x.Limits.MaxValue.Load()
	return size <= limit && more <= limit-size
}
