package layout

import "encoding/binary"

// The index of expiry times: one empty entry for each key with an expiry, under
//
//	kind | expiry 8 B BE, ms since 1970 | place | length of user key | user key
//
// in order of time. So have hashes, under the time before which none of their fields expires. The
// header decides; an index entry whose header says otherwise (a range that was dropped whole leaves
// such) is only removed.

// AppendExpiryKey appends the key of an entry of the index.
func AppendExpiryKey(dst []byte, at int64, p Place, key []byte) []byte {
	dst = append(dst, KindExpiry)
	dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	return AppendPlacedKey(dst, p, key)
}

// SplitExpiryKey undoes AppendExpiryKey.
func SplitExpiryKey(b []byte) (at int64, p Place, key []byte, err error) {
	if len(b) < 9 {
		return 0, 0, nil, ErrKey
	}
	p, key, _, err = SplitPlacedKey(b[9:])
	return int64(binary.BigEndian.Uint64(b[1:])), p, key, err
}
