package strings

import (
	"bytes"

	"github.com/zeebo/xxh3"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// A condition is what SET and DELEX want of the string that is at the key.
type condition struct {
	kind conditionKind
	with []byte // the value, or the digest, to compare with
}

// A conditionKind is the option that a condition was given by.
type conditionKind uint8

const (
	noCondition conditionKind = iota
	ifEqual                   // IFEQ value
	ifNotEqual                // IFNE value
	ifDigest                  // IFDEQ digest
	ifNotDigest               // IFDNE digest
)

// conditionOf returns the kind of condition that an option names.
func conditionOf(arg []byte) conditionKind {
	switch {
	case wire.EqualFold(arg, "ifeq"):
		return ifEqual
	case wire.EqualFold(arg, "ifne"):
		return ifNotEqual
	case wire.EqualFold(arg, "ifdeq"):
		return ifDigest
	case wire.EqualFold(arg, "ifdne"):
		return ifNotDigest
	}
	return noCondition
}

// digestLength is the length of a digest: 64 bits in hexadecimal.
const digestLength = 16

// compareBytes is how many bytes of a long string are compared, or hashed, at a time.
const compareBytes = 64 << 10

// holds reports whether the condition holds for the string at key, which exists. It has replied
// if ok is false.
func (c *condition) holds(x *command.Call, key []byte, v store.Value) (holds, ok bool) {
	var err error
	switch c.kind {
	case ifEqual, ifNotEqual:
		holds, err = equalString(x, key, v, c.with)
	default:
		if len(c.with) != digestLength {
			x.Error("ERR must be exactly 16 hexadecimal characters")
			return false, false
		}
		var digest uint64
		digest, err = digestOf(x, key, v)
		var text [digestLength]byte
		appendDigest(text[:0], digest)
		holds = bytes.EqualFold(text[:], c.with)
	}
	if err != nil {
		x.Fail(err)
		return false, false
	}
	return holds == (c.kind == ifEqual || c.kind == ifDigest), true
}

// allows is holds for SET, whose key need not exist: then only the conditions that something is
// not so hold.
func (c *condition) allows(x *command.Call, key []byte, v store.Value) (holds, ok bool) {
	if !v.Exists() {
		return c.kind == ifNotEqual || c.kind == ifNotDigest, true
	}
	return c.holds(x, key, v)
}

// equalString reports whether the string at key is want.
func equalString(x *command.Call, key []byte, v store.Value, want []byte) (bool, error) {
	if v.Size != int64(len(want)) {
		return false, nil
	}
	equal := true
	err := eachPart(x, key, v, func(part []byte) bool {
		equal = bytes.Equal(part, want[:len(part)])
		want = want[len(part):]
		return equal
	})
	return equal, err
}

// digestOf returns the XXH3 hash of the string at key.
func digestOf(x *command.Call, key []byte, v store.Value) (uint64, error) {
	if v.Whole() {
		return xxh3.Hash(v.Inline), nil
	}
	h := xxh3.New()
	err := eachPart(x, key, v, func(part []byte) bool {
		_, _ = h.Write(part) // a hash takes everything
		return true
	})
	return h.Sum64(), err
}

// eachPart calls f with the parts of the string at key, in order, until f returns false.
func eachPart(x *command.Call, key []byte, v store.Value, f func(part []byte) bool) error {
	if v.Whole() {
		f(v.Inline)
		return nil
	}
	var buf []byte
	for off := int64(0); off < v.Size; off += compareBytes {
		var err error
		if buf, err = x.Unit.ReadRange(key, v, off, min(compareBytes, v.Size-off), buf[:0]); err != nil {
			return err
		}
		if !f(buf) {
			break
		}
	}
	return nil
}

// appendDigest appends a digest as DIGEST shows it: 16 digits, in lower case.
func appendDigest(dst []byte, digest uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[digest>>shift&15])
	}
	return dst
}

func cmdDigest(x *command.Call) {
	v, ok := x.GetString(x.Args[1])
	if !ok {
		return
	}
	if !v.Exists() {
		x.Null()
		return
	}
	digest, err := digestOf(x, x.Args[1], v)
	if err != nil {
		x.Fail(err)
		return
	}
	var text [digestLength]byte
	x.Bulk(appendDigest(text[:0], digest))
}

// cmdDelex looks at its condition only if the key exists, as Redis does.
func cmdDelex(x *command.Call) {
	key := x.Args[1]
	read := x.Unit.Get
	switch len(x.Args) {
	case 2:
		read = x.Unit.Head
	case 4:
	default:
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return
	}
	v, err := read(key)
	switch {
	case err != nil:
		x.Fail(err)
		return
	case !v.Exists():
		x.Bool(false)
		return
	case len(x.Args) == 2:
		deleteKey(x, key, v)
		return
	case v.Type != store.String:
		x.Error("ERR Key should be of string type if conditions are specified")
		return
	}
	c := condition{kind: conditionOf(x.Args[2]), with: x.Args[3]}
	if c.kind == noCondition {
		x.Error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE")
		return
	}
	deleteIf(x, key, v, &c)
}

// cmdDelifeq is a command of Valkey.
func cmdDelifeq(x *command.Call) {
	v, ok := x.GetString(x.Args[1])
	switch {
	case !ok:
	case !v.Exists():
		x.Bool(false)
	default:
		deleteIf(x, x.Args[1], v, &condition{kind: ifEqual, with: x.Args[2]})
	}
}

func deleteIf(x *command.Call, key []byte, v store.Value, c *condition) {
	holds, ok := c.holds(x, key, v)
	switch {
	case !ok:
	case holds:
		deleteKey(x, key, v)
	default:
		x.Bool(false)
	}
}

func deleteKey(x *command.Call, key []byte, v store.Value) {
	x.Unit.Delete(key, v)
	x.Unit.Note(store.EventGeneric, "del", key)
	x.Bool(true)
}

// delexKeyFlags: without a condition, DELEX does not look at the value.
func delexKeyFlags(args [][]byte) string {
	if len(args) == 2 {
		return "RM delete"
	}
	return "RW delete"
}
