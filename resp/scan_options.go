package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// scanOptions are the options of SCAN.
type scanOptions struct {
	pattern  []byte
	count    int64
	typeName []byte // nil: any
}

// parseScanOptions returns an error reply, or "".
func parseScanOptions(args [][]byte) (o scanOptions, msg string) {
	o.pattern, o.count = []byte("*"), 10
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return o, msgSyntax
		}
		switch {
		case wire.EqualFold(args[0], "match"):
			o.pattern = args[1]
		case wire.EqualFold(args[0], "type"):
			o.typeName = args[1]
		case wire.EqualFold(args[0], "count"):
			var ok bool
			if o.count, ok = wire.ParseInt(args[1]); !ok {
				return o, msgNotInteger
			}
			if o.count < 1 {
				return o, msgSyntax
			}
		default:
			return o, msgSyntax
		}
	}
	return o, ""
}

// parseCursor reads a cursor as Redis does with C's strtoul: a sign and leading zeros may be
// there, a negative number counts back from 2^64, and no digits at all are 0.
func parseCursor(b []byte) (store.Cursor, bool) {
	if len(b) == 0 {
		return 0, true
	}
	negative := b[0] == '-'
	if negative || b[0] == '+' {
		b = b[1:]
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	if negative {
		n = -n
	}
	return store.Cursor(n), err == nil
}
