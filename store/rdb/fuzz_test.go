package rdb

import (
	"bytes"
	"testing"
)

// FuzzDecode gives the bytes to Decode as they are, as a body with a right footer,
// and as a value.
func FuzzDecode(f *testing.F) {
	for _, v := range borders() {
		if len(v) <= 300 {
			f.Add(v)
			f.Add(AppendString(nil, v))
			f.Add(appendString([]byte{typeString}, v))
		}
	}
	f.Add([]byte{typeValkeyHash, 1, 1, 'f', 1, 'v', 255, 255, 255, 255, 255, 255, 255, 255})
	f.Add([]byte{typeTimed, 1, 0, 0, 0, 0, 0, 0, 0, 1, 3, 1, 'f', 1, 'v'})
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(payload []byte) {
			v, err := Decode(payload, limit)
			if err != nil {
				if !isOnly(err, ErrPayload) && !isOnly(err, ErrFormat) && !isOnly(err, ErrType) && !isOnly(err, ErrTooLarge) {
					t.Errorf("not one of the sentinels: %v", err)
				}
				return
			}
			if v.Timed() {
				err := v.EachExpiring(func(_, _ []byte, expiry int64) error {
					if expiry < 0 {
						t.Errorf("a field expires at %d", expiry)
					}
					return nil
				})
				if err != nil && !isOnly(err, ErrFormat) && !isOnly(err, ErrTooLarge) {
					t.Errorf("not one of the sentinels: %v", err)
				}
			}
			if len(v.Bytes) > limit {
				t.Errorf("%d bytes", len(v.Bytes))
			}
			// What was read may have been written less tightly.
			if again, err := Decode(AppendString(nil, v.Bytes), limit); err != nil || !bytes.Equal(again.Bytes, v.Bytes) {
				t.Errorf("%s becomes %s, %v", show(v.Bytes), show(again.Bytes), err)
			}
		}
		check(b)
		check(sealAs(bytes.Clone(b), Version))
		check(sealAs(bytes.Clone(b), ValkeyVersion))

		payload := AppendString(nil, b)
		v, err := Decode(payload, int64(len(b)))
		if err != nil || !bytes.Equal(v.Bytes, b) {
			t.Fatalf("%s becomes %s, %v", show(b), show(v.Bytes), err)
		}
		if len(b) > 0 {
			payload[int(b[0])%len(payload)] ^= 1 + b[len(b)-1]%255
			if _, err := Decode(payload, int64(len(b))); !isOnly(err, ErrPayload) {
				t.Errorf("one byte of %s is wrong: %v", show(b), err)
			}
		}
	})
}
