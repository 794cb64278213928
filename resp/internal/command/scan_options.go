package command

import (
	"bytes"
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

// ParseScanOptions parses the options of the scan of a collection of a type, or of SCAN if that is None. It returns
// the error reply to the first wrong option, or "".
func ParseScanOptions(args [][]byte, of store.Type) (o ScanOptions, msg string) {
	o.Pattern, o.Count = []byte("*"), 10
	for taken := 0; len(args) > 0; args = args[taken:] {
		if taken = 1; wire.EqualFold(args[0], "novalues") {
			if of != store.Hash {
				return o, msgNoValues
			}
			o.NoValues = true
			continue
		}
		if taken = 2; len(args) == 1 {
			return o, MsgSyntax
		}
		switch {
		case wire.EqualFold(args[0], "match"):
			o.Pattern = args[1]
		case of == store.None && wire.EqualFold(args[0], "type"):
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

// ParseCursor reads a cursor as Redis does since 7.2: a number from 0 on. Spaces, a sign and leading zeros may be in
// front, as C's strtoul takes them; what is negative behind a space counts back from 2^64.
func ParseCursor(b []byte) (store.Cursor, bool) {
	digits := bytes.TrimLeft(b, " \t\n\v\f\r")
	negative := len(digits) > 0 && digits[0] == '-'
	if negative || len(digits) > 0 && digits[0] == '+' {
		digits = digits[1:]
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if i, isInt := wire.ParseInt(b); err != nil || isInt && i < 0 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return store.Cursor(n), true
}
