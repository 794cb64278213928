package resp

import (
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// The commands that read and write parts of a string.

func cmdStrlen(x *Call) {
	if v, ok := x.getString(x.args[1]); ok {
		x.Int(v.Size)
	}
}

func cmdGetrange(x *Call) {
	start, ok1 := wire.ParseInt(x.args[2])
	end, ok2 := wire.ParseInt(x.args[3])
	if !ok1 || !ok2 {
		x.Error(msgNotInteger)
		return
	}
	v, ok := x.getString(x.args[1])
	if !ok {
		return
	}
	first, last, ok := span(start, end, v.Size)
	if !ok {
		x.Bulk(nil)
		return
	}
	x.stringRange(x.args[1], v, first, last-first+1)
}

func cmdSubstr(x *Call) { cmdGetrange(x) }

// span resolves a range of positions, negative ones counted from the end, in
// something of the given size. Both ends are part of it; false means that it is
// empty. An end in front of the beginning counts as the beginning, as in Redis,
// unless both are negative and the wrong way round.
func span(start, end, size int64) (first, last int64, ok bool) {
	if start < 0 && end < 0 && start > end {
		return 0, 0, false
	}
	first, last = fromEnd(start, size), min(fromEnd(end, size), size-1)
	return first, last, first <= last
}

// fromEnd resolves one position.
func fromEnd(pos, size int64) int64 {
	if pos < 0 {
		return max(pos+size, 0)
	}
	return pos
}

func cmdAppend(x *Call) {
	key, data := x.args[1], x.args[2]
	v, ok := x.getString(key)
	if !ok {
		return
	}
	if !x.fits(v.Size, int64(len(data))) {
		x.Error(msgTooLong)
		return
	}
	size := int64(len(data))
	var err error
	if v.Exists() {
		size, err = x.unit.WriteRange(key, v, v.Size, data)
	} else {
		err = x.unit.PutString(key, v, data, 0, false)
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventString, "append", key)
	x.Int(size)
}

func cmdSetrange(x *Call) {
	key, data := x.args[1], x.args[3]
	off, ok := wire.ParseInt(x.args[2])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	if off < 0 {
		x.Error(msgOffset)
		return
	}
	v, ok := x.getString(key)
	switch {
	case !ok:
		return
	case len(data) == 0:
		x.Int(v.Size)
		return
	case !x.fits(off, int64(len(data))):
		x.Error(msgTooLong)
		return
	}
	size, err := x.unit.WriteRange(key, v, off, data)
	if err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventString, "setrange", key)
	x.Int(size)
}

// fits reports whether a string of size + more bytes may exist.
func (x *Call) fits(size, more int64) bool {
	limit := x.limits.maxValue.Load()
	return size <= limit && more <= limit-size
}
