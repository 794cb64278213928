package collection

import (
	"cmp"
	"encoding/binary"
	"math"
	"strconv"
)

// An ID names an entry of a stream: a time in ms since 1970, usually, and a number that
// tells those of one moment apart.
type ID struct{ Ms, Seq uint64 }

// idSize is the length of an ID in sub keys and records: both halves big-endian, so that
// bytes are in the order of IDs.
const idSize = 16

// MaxID is the last of all.
var MaxID = ID{math.MaxUint64, math.MaxUint64}

// Compare returns -1, 0 or 1 as a is before, the same as, or behind b.
func (a ID) Compare(b ID) int {
	return cmp.Or(cmp.Compare(a.Ms, b.Ms), cmp.Compare(a.Seq, b.Seq))
}

// IsZero reports whether it is 0-0, which no entry has.
func (a ID) IsZero() bool { return a == ID{} }

// Next returns the one behind a; false if a is the last of all.
func (a ID) Next() (ID, bool) {
	switch {
	case a == MaxID:
		return ID{}, false
	case a.Seq == math.MaxUint64:
		return ID{a.Ms + 1, 0}, true
	}
	return ID{a.Ms, a.Seq + 1}, true
}

// Prev returns the one before a; false if a is the first of all.
func (a ID) Prev() (ID, bool) {
	switch {
	case a.IsZero():
		return MaxID, false
	case a.Seq == 0:
		return ID{a.Ms - 1, math.MaxUint64}, true
	}
	return ID{a.Ms, a.Seq - 1}, true
}

// AppendText appends an ID as clients write it: "1526919030474-55".
func (a ID) AppendText(dst []byte) ([]byte, error) {
	dst = strconv.AppendUint(dst, a.Ms, 10)
	return strconv.AppendUint(append(dst, '-'), a.Seq, 10), nil
}

func (a ID) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, a.Ms), a.Seq)
}

// idOf reads what append wrote; b is long enough.
func idOf(b []byte) ID {
	return ID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}
