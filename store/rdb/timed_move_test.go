package rdb

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestMoveExpiry moves the expiry of fields in both forms, and leaves all else as it is.
func TestMoveExpiry(t *testing.T) {
	field := func(dst []byte, name string) []byte {
		return AppendElement(AppendElement(dst, []byte(name)), []byte("v"+name))
	}
	redis := SealAs(field(AppendExpiry(field(AppendExpiry(field(AppendExpiry(BeginTimedHash(nil, 3, 1000), 1000, 5000), "a"), 1000, 0), "b"), 1000, 1000), "c"), 0, TimedVersion)
	valkey := SealAs(AppendValkeyExpiry(field(AppendValkeyExpiry(field(BeginValkeyHash(nil, 2), "a"), 5000), "b"), 0), 0, ValkeyVersion)
	far := SealAs(field(AppendExpiry(BeginTimedHash(nil, 1, math.MaxInt64-1), math.MaxInt64-1, math.MaxInt64-1), "a"), 0, TimedVersion)
	for _, test := range []struct {
		payload []byte
		by      int64
		want    string
	}{
		{redis, 700, "a=va@5700 b=vb@0 c=vc@1700"}, {redis, -4000, "a=va@1000 b=vb@0 c=vc@1"},
		{valkey, 700, "a=va@5700 b=vb@0"}, {far, 10, fmt.Sprint("a=va@", int64(math.MaxInt64))},
	} {
		moved, err := MoveExpiry(test.payload, 1000, test.by)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Decode(moved, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = v.EachExpiring(func(field, value []byte, expiry int64) error {
			got = append(got, fmt.Sprintf("%s=%s@%d", field, value, expiry))
			return nil
		})
		if strings.Join(got, " ") != test.want || err != nil {
			t.Errorf("%q by %d: %q, %v, want %q", test.payload, test.by, got, err, test.want)
		}
	}
	never := SealAs(field(AppendExpiry(BeginTimedHash(nil, 1, 0), 0, 0), "a"), 0, TimedVersion)
	hash := Seal(field(BeginHash(nil, 1), "a"), 0)
	for _, payload := range [][]byte{nil, hash, never} {
		if moved, err := MoveExpiry(payload, 1000, 5); err != nil || !bytes.Equal(moved, payload) {
			t.Errorf("%q became %q, %v", payload, moved, err)
		}
	}
	if _, err := MoveExpiry(redis[:len(redis)-1], 1000, 5); err == nil {
		t.Error("a payload that is cut off has no error")
	}
	if _, err := MoveExpiry(redis, 3, 5); err == nil {
		t.Error("a payload larger than allowed has no error")
	}
}
