package keyevent

import (
	"bytes"
	"testing"
)

func FuzzEach(f *testing.F) {
	f.Add(Append(Append(nil, Class(1), "new", []byte("key")), Class(2), "set", nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		err := Each(b, func(c Class, name, key []byte) { again = Append(again, c, string(name), key) })
		if err == nil && len(again) == len(b) && !bytes.Equal(again, b) {
			t.Errorf("%x is read as %x", b, again)
		}
	})
}
