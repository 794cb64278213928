package resp

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// FuzzScanCursor: any cursor that SCAN hands out is understood, and nothing that is
// no number is.
func FuzzScanCursor(f *testing.F) {
	for _, text := range []string{"", "a", "1a", " 1", "1 ", "0x1", "1.0", "1e1", "+1", "+", "++1", "0010", "18446744073709551615", "18446744073709551616", "-1", "--1", "-+1", "-0"} {
		f.Add([]byte(text), uint64(len(text)))
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint64) {
		if c, ok := command.ParseCursor(b); ok {
			b = bytes.TrimLeft(b, " \t\n\v\f\r")
			if bytes.HasPrefix(b, []byte("-")) {
				c = -c
			}
			digits := string(bytes.TrimLeft(b, "+-0"))
			if want := strconv.FormatUint(uint64(c), 10); digits != want && (digits != "" || c != 0) {
				t.Errorf("%q: %d", b, c)
			}
		}
		if c, ok := command.ParseCursor(strconv.AppendUint(nil, n, 10)); !ok || c != store.Cursor(n) {
			t.Errorf("%d: %d, %t", n, c, ok)
		}
	})
}
