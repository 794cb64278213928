package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Types of hashes whose fields may expire. Those of the previews of Redis 7.4 lack the time of the
// first expiry at their beginning.
const (
	typeTimedPreview       = 22
	typeTimedPackedPreview = 23
	typeTimed              = 24
	typeTimedPacked        = 25
)

// typeValkeyHash is a hash of Valkey 9 whose fields may expire, in a payload of [ValkeyVersion]. Redis
// has used the number for another form, so that a [Value] has readsValkeyHash instead.
const (
	typeValkeyHash  = 22
	readsValkeyHash = 255
)

// TimedVersion is the RDB version that a payload of a hash needs of which fields expire: that of
// Redis 7.4.
const TimedVersion = 12

// BeginTimedHash is BeginHash for a hash the first of whose fields to expire does so at a time in
// ms since 1970. [AppendExpiry] comes before each field.
func BeginTimedHash(dst []byte, n, first int64) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, typeTimed), uint64(first))
	return appendLen(dst, uint64(n))
}

// AppendExpiry appends the expiry of a field, in ms since 1970, which is not before first; 0: it
// has none.
func AppendExpiry(dst []byte, first, expiry int64) []byte {
	if expiry != 0 {
		expiry += 1 - first
	}
	return appendLen(dst, uint64(expiry))
}

// BeginValkeyHash is BeginHash for a hash of fields that may expire in a payload of [ValkeyVersion].
// [AppendValkeyExpiry] comes behind each value.
func BeginValkeyHash(dst []byte, n int64) []byte {
	return appendLen(append(dst, typeValkeyHash), uint64(n))
}

// AppendValkeyExpiry appends the expiry of a field, in ms since 1970; 0: it has none.
func AppendValkeyExpiry(dst []byte, expiry int64) []byte {
	if expiry == 0 {
		expiry = valkeyNever
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(expiry))
}

// valkeyNever is the expiry in Valkey's form of a field that has none.
const valkeyNever = -1

// Timed reports whether it is a hash whose fields may expire, for [Value.EachExpiring].
func (v *Value) Timed() bool {
	return v.enc >= typeTimedPreview && v.enc <= typeTimedPacked || v.enc == readsValkeyHash
}

// EachExpiring is Each with the expiry of each field, in ms since 1970; 0 for none.
func (v *Value) EachExpiring(yield func(field, value []byte, expiry int64) error) error {
	if err := v.eachExpiring(yield); err != nil {
		return fmt.Errorf("decode %s: %w", v.Type, err)
	}
	return nil
}

func (v *Value) eachExpiring(yield func(field, value []byte, expiry int64) error) error {
	next, err := timedFields(v.enc, v.body, v.most)
	if err != nil {
		return err
	}
	total, n := int64(0), 0
	for ; ; n++ {
		f, ok, err := next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		for _, b := range [][]byte{f.field, f.value} {
			if err := checkLen(uint64(len(b)), v.most); err != nil {
				return err
			}
			total += int64(len(b))
		}
		if total > v.most.bytes {
			return fmt.Errorf("%w: more than %d bytes in all", ErrTooLarge, v.most.bytes)
		}
		if err := yield(f.field, f.value, f.expiry); err != nil {
			return err
		}
	}
	if n == 0 {
		return fmt.Errorf("%w: it has no elements", ErrFormat)
	}
	return nil
}

type timedField struct {
	field, value []byte
	expiry       int64
}

// timedFields returns a reader for the value of a type byte: of each field in turn, valid until the
// next one is read.
func timedFields(enc byte, body []byte, most limit) (next func() (timedField, bool, error), err error) {
	first := uint64(1) // with which an expiry counts from 1 on
	if enc == typeTimed || enc == typeTimedPacked {
		if len(body) < 8 {
			return nil, errShort("time")
		}
		first, body = binary.LittleEndian.Uint64(body), body[8:] // 0 where no field has an expiry
		if first > math.MaxInt64 {
			return nil, fmt.Errorf("%w: first expiry %d", ErrFormat, first)
		}
	}
	if enc == typeTimedPacked || enc == typeTimedPackedPreview {
		return timedListpack(body, most)
	}
	n, p, err := readPlainLen(body)
	if err != nil {
		return nil, err
	}
	return func() (f timedField, ok bool, err error) {
		if n == 0 {
			err = CheckEnd(p)
			return f, false, err
		}
		n--
		if enc == readsValkeyHash {
			f, p, err = valkeyField(p, most)
			return f, err == nil, err
		}
		after := uint64(0)
		if after, p, err = readPlainLen(p); err != nil {
			return f, false, err
		}
		if after != 0 {
			if after-1 > math.MaxInt64-first || first+after == 1 {
				return f, false, fmt.Errorf("%w: expiry %d behind %d", ErrFormat, after, first)
			}
			f.expiry = int64(first + after - 1)
		}
		if f.field, p, err = readString(p, most); err == nil {
			f.value, p, err = readString(p, most)
		}
		return f, err == nil, err
	}, nil
}

// valkeyField reads a field, its value and its expiry, and returns what follows them.
func valkeyField(p []byte, most limit) (f timedField, rest []byte, err error) {
	if f.field, p, err = readString(p, most); err != nil {
		return f, nil, err
	}
	if f.value, p, err = readString(p, most); err != nil {
		return f, nil, err
	}
	if len(p) < 8 {
		return f, nil, errShort("time")
	}
	switch expiry := int64(binary.LittleEndian.Uint64(p)); {
	case expiry < valkeyNever:
		return f, nil, fmt.Errorf("%w: expiry %d", ErrFormat, expiry)
	case expiry != valkeyNever:
		f.expiry = max(expiry, 1) // 0 is for none here, and 1970 for both
	}
	return f, p[8:], nil
}

// timedListpack reads a listpack of fields, each with its value and its expiry.
func timedListpack(body []byte, most limit) (next func() (timedField, bool, error), err error) {
	blob, rest, err := readString(body, most)
	if err != nil {
		return nil, err
	}
	if err := CheckEnd(rest); err != nil {
		return nil, err
	}
	elements, err := listpack(blob)
	if err != nil {
		return nil, err
	}
	var parts [3][]byte
	return func() (f timedField, ok bool, err error) {
		for i := range parts {
			element, ok, err := elements()
			if err == nil && !ok && i > 0 {
				err = fmt.Errorf("%w: a field without a value, or an expiry", ErrFormat)
			}
			if err != nil || !ok {
				return f, false, err
			}
			parts[i] = append(parts[i][:0], element...)
		}
		expiry, err := strconv.ParseUint(string(parts[2]), 10, 63)
		if err != nil {
			return f, false, fmt.Errorf("%w: expiry of a field: %w", ErrFormat, err)
		}
		return timedField{parts[0], parts[1], int64(expiry)}, true, nil
	}, nil
}
