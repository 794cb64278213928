package command

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// ScanOptions are the options of SCAN.
type ScanOptions struct {
	Pattern  []byte
	Count    int64
	TypeName []byte // nil: any
	NoValues bool
}

const msgNoValues = "ERR NOVALUES option can only be used in HSCAN"

// ParseScanOptions returns an error reply, or "".
func ParseScanOptions(args [][]byte) (o ScanOptions, msg string) {
	if o, msg = parseScanOptions(args); msg == "" && o.NoValues {
		msg = msgNoValues
	}
	return o, msg
}

// parseScanOptions is ParseScanOptions with those of HSCAN.
func parseScanOptions(args [][]byte) (o ScanOptions, msg string) {
	o.Pattern, o.Count = []byte("*"), 10
	for taken := 0; len(args) > 0; args = args[taken:] {
		if taken = 1; wire.EqualFold(args[0], "novalues") {
			o.NoValues = true
			continue
		}
		if taken = 2; len(args) == 1 {
			return o, MsgSyntax
		}
		switch {
		case wire.EqualFold(args[0], "match"):
			o.Pattern = args[1]
		case wire.EqualFold(args[0], "type"):
			o.TypeName = args[1]
		case wire.EqualFold(args[0], "count"):
			var ok bool
			if o.Count, ok = wire.ParseInt(args[1]); !ok {
				return o, MsgNotInteger
			}
			if o.Count < 1 {
				return o, MsgSyntax
			}
		default:
			return o, MsgSyntax
		}
	}
	return o, ""
}

// ParseCursor reads a cursor as Redis does with C's strtoul: a sign and leading zeros may be
// there, a negative number counts back from 2^64, and no digits at all are 0.
func ParseCursor(b []byte) (store.Cursor, bool) {
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
