package node

import "strconv"

// Sizes are counted in binary units, as redis.conf counts kb, mb and gb.
const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
	tib = 1 << 40
)

// formatSize writes a size as settings are written: in the largest of tb, gb,
// mb and kb (of 1024) that holds it whole, or in bytes.
func formatSize(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"tb", tib}, {"gb", gib}, {"mb", mib}, {"kb", kib}} {
		if n != 0 && n%unit.size == 0 {
			return strconv.FormatInt(n/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}
