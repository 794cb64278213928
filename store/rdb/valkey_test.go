package rdb

import (
	"encoding/binary"
	"maps"
	"math"
	"testing"
)

// valkeyHash is a payload of Valkey 9 with one field of an expiry.
func valkeyHash(expiry int64, behind ...byte) []byte {
	b := append([]byte{typeValkeyHash, 1}, "\x01f\x01v"...)
	return sealAs(append(binary.LittleEndian.AppendUint64(b, uint64(expiry)), behind...), ValkeyVersion)
}

// The form is written from the source of Valkey 9.0: no server of that version is at hand.
func TestHashesOfValkeyAreRead(t *testing.T) {
	want := map[string]int64{"a": 0, "b": 5, "c": math.MaxInt64}
	b := BeginValkeyHash([]byte("x"), int64(len(want)))
	for field, expiry := range want {
		b = AppendValkeyExpiry(AppendElement(AppendElement(b, []byte(field)), []byte("v")), expiry)
	}
	v, err := Decode(SealAs(b, 1, ValkeyVersion)[1:], 100)
	if err != nil || !v.Timed() || v.Type != Hash {
		t.Fatalf("%v, %v", v, err)
	}
	got := map[string]int64{}
	err = v.EachExpiring(func(field, value []byte, expiry int64) error {
		got[string(field)] = expiry
		return nil
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, c := range []struct {
		name    string
		payload []byte
		expiry  int64
		err     error
	}{
		{"none", valkeyHash(-1), 0, nil},
		{"in 1970", valkeyHash(0), 1, nil},
		{"before 1970", valkeyHash(-2), 0, ErrFormat},
		{"long before 1970", valkeyHash(math.MinInt64), 0, ErrFormat},
		{"a byte behind", valkeyHash(3, 1), 3, ErrFormat},
		{"no field", sealAs([]byte{typeValkeyHash, 0}, ValkeyVersion), 0, ErrFormat},
		{"a short time", sealAs([]byte("\x16\x01\x01f\x01v1234567"), ValkeyVersion), 0, ErrFormat},
		{"a field alone", sealAs([]byte("\x16\x01\x01f"), ValkeyVersion), 0, ErrFormat},
		{"more fields than there are", sealAs([]byte("\x16\x81\xff\xff\xff\xff\xff\xff\xff\xff"), ValkeyVersion), 0, ErrFormat},
	} {
		v, err := Decode(c.payload, 100)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := int64(0)
		err = v.EachExpiring(func(_, _ []byte, expiry int64) error {
			got = expiry
			return nil
		})
		if got != c.expiry || c.err == nil && err != nil || c.err != nil && !isOnly(err, c.err) {
			t.Errorf("%s: expires at %d, %v; want %d, %v", c.name, got, err, c.expiry, c.err)
		}
	}
	preview := append([]byte{typeTimedPreview, 1, 0}, "\x01f\x01v"...)
	if v, err := Decode(sealAs(preview, TimedVersion), 100); err != nil || v.Each(func(_, _ []byte) error { return nil }) != nil {
		t.Errorf("the same type of a preview of Redis 7.4: %v", err)
	}
}
