package rdbfile

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/store/rdb"
)

// Type bytes whose values have a shape of their own. All others are in table shapes.
const (
	typeString      = 0
	typeList        = 1
	typeSet         = 2
	typeZSetText    = 3
	typeHash        = 4
	typeZSet        = 5
	typeModuleOld   = 6
	typeModule      = 7
	typeQuicklist   = 14
	typeStream1     = 15
	typeQuicklist2  = 18
	typeStream2     = 19
	typeSetListpack = 20
	typeStream3     = 21
	typeStream4     = 26
	typeStream5     = 27
	typeHashExpiry  = 22 // of Valkey 9; in Redis' preview of 7.4 something else
	typeHashTimed   = 24
)

// Of a shape: what is counted in it. An element of a collection is so many pieces.
type shape int

const (
	shapeUnknown shape = iota
	shapeBlob          // one string
	shapeStrings       // n strings
	shapePairs         // n times two strings
	shapeTexts         // n times a string and a score as text
	shapeScores        // n times a string and a score of eight bytes
	shapeNodes         // n times the kind of a node, and a string
	shapeStream
	shapeModule
	shapeHashExpiry  // n times a time, relative to a first one, and two strings
	shapeHashPreview // the same with absolute times
	shapeHashPacked  // a first time, and a string: a blob for those who do not look into it
	shapeHashValkey  // n times two strings and a time
)

var shapes = [...]shape{
	typeString: shapeBlob, typeList: shapeStrings, typeSet: shapeStrings, typeZSetText: shapeTexts, typeHash: shapePairs,
	typeZSet: shapeScores, typeModule: shapeModule, 9: shapeBlob, 10: shapeBlob, 11: shapeBlob, 12: shapeBlob, 13: shapeBlob,
	typeQuicklist: shapeStrings, typeStream1: shapeStream, 16: shapeBlob, 17: shapeBlob, typeQuicklist2: shapeNodes,
	typeStream2: shapeStream, typeSetListpack: shapeBlob, typeStream3: shapeStream,
	typeHashExpiry: shapeHashPreview, 23: shapeBlob, 24: shapeHashExpiry, 25: shapeHashPacked,
	typeStream4: shapeStream, typeStream5: shapeStream,
}

// versionOf is the RDB version that a payload of a type needs.
func versionOf(typ byte) int {
	switch {
	case typ >= typeStream4:
		return rdb.ReleasedVersion
	case typ >= typeHashExpiry:
		return rdb.TimedVersion
	case typ >= typeSetListpack:
		return 11
	}
	return 10
}

// A valueReader reads one value as one payload or several.
type valueReader struct {
	*scanner
	typ     byte
	shape   shape
	maxPart int
	within  string
	left    uint64 // elements of a collection that have not been read
	payload []byte
	first   [8]byte // the first expiry of a hash's fields
	room    []byte
}

// shapeOf returns the shape of a type's values; shapeUnknown for a byte that is no type.
func shapeOf(typ byte, valkey bool) shape {
	switch {
	case valkey && typ == typeHashExpiry:
		return shapeHashValkey
	case int(typ) >= len(shapes) || valkey && typ > typeHashExpiry:
		return shapeUnknown
	}
	return shapes[typ]
}

// begin begins with the value of a type byte.
func (v *valueReader) begin(typ byte, valkey bool, within string) error {
	v.typ, v.within, v.left, v.shape = typ, within, 0, shapeOf(typ, valkey)
	switch v.shape {
	case shapeUnknown:
		return v.failf(within, ErrUnknown, "type %d", typ)
	case shapeHashExpiry:
		v.keep()
		err := v.skip(8, within)
		copy(v.first[:], v.since())
		v.release()
		if err != nil {
			return err
		}
	case shapeHashValkey:
		v.first = [8]byte{1} // with which an expiry is as it is
	}
	switch v.shape {
	case shapeStrings, shapePairs, shapeTexts, shapeScores, shapeNodes, shapeHashExpiry, shapeHashPreview, shapeHashValkey:
		n, err := v.length(within)
		if err == nil && n == 0 {
			err = v.failf(within, ErrFormat, "a collection without elements")
		}
		v.left = n
		return err
	}
	return nil
}

// next reads the value, or the next part of it. Payload or reason is empty. more says that there is
// another part.
func (v *valueReader) next() (payload []byte, reason string, more bool, err error) {
	switch v.shape {
	case shapeModule:
		return v.module()
	}
	v.keep()
	defer v.release()
	v.payload, v.room = append(v.payload[:0], v.typ), v.room[:0]
	switch v.shape {
	case shapeHashPacked:
		if err = v.skip(8, v.within); err == nil {
			err = v.skipString(v.within)
		}
	case shapeBlob:
		err = v.skipString(v.within)
	case shapeStream:
		err = v.stream()
	default:
		n := uint64(0)
		for ; v.left > 0 && (n == 0 || v.pos-v.kept < v.maxPart); n++ {
			if err := v.element(); err != nil {
				return nil, "", false, err
			}
			v.left--
		}
		if v.shape == shapeHashExpiry || v.shape == shapeHashValkey {
			v.payload = append(append(v.payload[:0], typeHashTimed), v.first[:]...)
		}
		v.payload = rdb.AppendLen(v.payload, n)
	}
	if err != nil {
		return nil, "", false, err
	}
	body := v.since()
	if v.shape == shapeHashValkey {
		body = v.room
	}
	v.payload = rdb.SealAs(append(v.payload, body...), 0, versionOf(v.typ))
	return v.payload, "", v.left > 0, nil
}

func (v *valueReader) element() error {
	switch v.shape {
	case shapePairs:
		return v.skipStrings(2, v.within)
	case shapeHashExpiry, shapeHashPreview:
		if _, err := v.length(v.within); err != nil {
			return err
		}
		return v.skipStrings(2, v.within)
	case shapeHashValkey:
		return v.valkeyField()
	case shapeNodes:
		kind, err := v.length(v.within)
		if err == nil && kind != 1 && kind != 2 {
			err = v.failf(v.within, ErrFormat, "node of kind %d", kind)
		}
		if err != nil {
			return err
		}
	}
	if err := v.skipString(v.within); err != nil {
		return err
	}
	switch v.shape {
	case shapeScores:
		return v.skip(8, v.within)
	case shapeTexts:
		size, err := v.byte(v.within)
		if err != nil || size >= 253 { // not a number, and the infinite ones
			return err
		}
		return v.skip(int64(size), v.within)
	}
	return nil
}

// valkeyField keeps a field with its value and its expiry, -1 for none, in the form of Redis.
func (v *valueReader) valkeyField() error {
	start := v.pos - v.kept
	if err := v.skipStrings(2, v.within); err != nil {
		return err
	}
	end := v.pos - v.kept
	if err := v.skip(8, v.within); err != nil {
		return err
	}
	element := v.since()[start:]
	expiry := int64(binary.LittleEndian.Uint64(element[end-start:]))
	if expiry < 0 {
		expiry = 0
	}
	v.room = append(rdb.AppendExpiry(v.room, 1, expiry), element[:end-start]...)
	return nil
}

// stream reads a stream: nodes, what it knows of itself, and its groups with their consumers.
func (v *valueReader) stream() error {
	nodes, err := v.length(v.within)
	if err != nil {
		return err
	}
	if nodes > 1<<62 {
		return v.failf(v.within, ErrFormat, "%d nodes", nodes)
	}
	if err := v.skipStrings(2*nodes, v.within); err != nil {
		return err
	}
	facts := 3 // length, last ID
	if v.typ != typeStream1 {
		facts += 5 // first ID, greatest deleted ID, entries added
	}
	if err := v.lengths(facts, v.within); err != nil {
		return err
	}
	groups, err := v.length(v.within)
	for ; groups > 0 && err == nil; groups-- {
		err = v.streamGroup()
	}
	if err == nil && v.typ >= typeStream4 {
		err = v.streamProducers()
	}
	return err
}

// streamProducers reads what a stream knows of idempotent producers. Who they are is not read.
func (v *valueReader) streamProducers() error {
	if err := v.lengths(2, v.within); err != nil {
		return err
	}
	n, err := v.length(v.within)
	if err == nil && n > 0 {
		err = v.failf(v.within, ErrUnknown, "stream with idempotent producers")
	}
	if err != nil {
		return err
	}
	return v.lengths(2, v.within)
}

func (v *valueReader) streamGroup() error {
	if err := v.skipString(v.within); err != nil {
		return err
	}
	facts := 2 // last ID
	if v.typ != typeStream1 {
		facts++ // entries read
	}
	if err := v.lengths(facts, v.within); err != nil {
		return err
	}
	pending, err := v.length(v.within)
	for ; pending > 0 && err == nil; pending-- {
		if err = v.skip(16+8, v.within); err == nil {
			_, err = v.length(v.within)
		}
	}
	if err != nil {
		return err
	}
	consumers, err := v.length(v.within)
	for ; consumers > 0 && err == nil; consumers-- {
		err = v.streamConsumer()
	}
	if err != nil || v.typ < typeStream5 {
		return err
	}
	released, err := v.length(v.within)
	for ; released > 0 && err == nil; released-- {
		err = v.skip(16, v.within)
	}
	return err
}

func (v *valueReader) streamConsumer() error {
	if err := v.skipString(v.within); err != nil {
		return err
	}
	times := int64(1)
	if v.typ >= typeStream3 {
		times++
	}
	if err := v.skip(8*times, v.within); err != nil {
		return err
	}
	owned, err := v.length(v.within)
	for ; owned > 0 && err == nil; owned-- {
		err = v.skip(16, v.within)
	}
	return err
}

// module reads a value of a module as a payload or, unless its type is known, as a reason.
func (v *valueReader) module() (payload []byte, reason string, more bool, err error) {
	v.keep()
	defer v.release()
	id, err := v.length("value of a module")
	if err != nil {
		return nil, "", false, err
	}
	m := rdb.ModuleTypeOf(id)
	reason = "value of module " + m.String()
	if !m.IsKnown() {
		v.release()
		return nil, reason, false, v.modulePieces(reason)
	}
	if err := v.modulePieces(reason); err != nil {
		return nil, "", false, err
	}
	v.payload = append(append(v.payload[:0], v.typ), v.since()...)
	v.payload = rdb.SealAs(v.payload, 0, versionOf(v.typ))
	return v.payload, "", false, nil
}

// modulePieces reads the pieces that a module has written, up to the mark behind them.
func (s *scanner) modulePieces(within string) error {
	for {
		kind, err := s.length(within)
		if err != nil {
			return err
		}
		switch kind {
		case 0:
			return nil
		case 1, 2: // integers
			_, err = s.length(within)
		case 3: // float
			err = s.skip(4, within)
		case 4: // double
			err = s.skip(8, within)
		case 5:
			err = s.skipString(within)
		default:
			err = s.failf(within, ErrFormat, "piece of kind %d", kind)
		}
		if err != nil {
			return err
		}
	}
}
