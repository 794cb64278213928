package collection

import "encoding/binary"

// appendFields appends an entry's value: how many strings there are, then each behind its
// length.
func appendFields(dst []byte, fields [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(fields)))
	for _, f := range fields {
		dst = append(binary.AppendUvarint(dst, uint64(len(f))), f...)
	}
	return dst
}

// Fields are those of an entry, each followed by its value.
type Fields struct {
	n    int
	rest []byte
	size int64 // of the entry
}

func fieldsOf(value []byte) (Fields, error) {
	n, w := binary.Uvarint(value)
	if w <= 0 || n > uint64(len(value)) {
		return Fields{}, errStream
	}
	return Fields{int(n), value[w:], entrySize(value)}, nil
}

// Len is how many strings there are.
func (f Fields) Len() int { return f.n }

// Each calls yield for each string. It fails if they are not what they should be.
func (f Fields) Each(yield func([]byte)) error {
	for range f.n {
		var one []byte
		var ok bool
		if one, f.rest, ok = cut(f.rest); !ok {
			return errStream
		}
		yield(one)
	}
	if len(f.rest) > 0 {
		return errStream
	}
	return nil
}
