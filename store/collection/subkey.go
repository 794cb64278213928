package collection

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// The element of a field lies under
//
//	'f' | order 4 B BE | field
//
// where order is a hash of the field: so that a scan needs no state but a number that any
// client can keep, and whoever wants any element finds one near a number drawn at random.
const (
	kindField = 'f'
	orderSize = 4
	fieldAt   = 1 + orderSize
)

func orderOf(field []byte) uint32 { return uint32(xxhash.Sum64(field) >> 32) }

// appendSubKey appends the sub key of a field.
func appendSubKey(dst, field []byte) []byte {
	return append(appendOrder(dst, orderOf(field)), field...)
}

// appendOrder appends what the sub keys of all fields with an order begin with.
func appendOrder(dst []byte, order uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, kindField), order)
}

// splitSubKey undoes appendSubKey.
func splitSubKey(sub []byte) (order uint32, field []byte, ok bool) {
	if len(sub) < fieldAt || sub[0] != kindField {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(sub[1:]), sub[fieldAt:], true
}

// randomOrder returns where to look for any element.
func randomOrder() uint32 { return rand.Uint32() }
