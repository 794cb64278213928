package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
)

// Changes returns a line for each range that is not as it was, nil for none before, in the form of RING
// PLACEMENT TEXT, though buckets go by their hashmask. It is empty if there is none.
func Changes(old, now *ring.Placement) string {
	table, err := buckets.TableOf(now)
	isBuckets := err == nil
	var b strings.Builder
	for row := range now.Rows() {
		if old != nil && sameRow(old.Lookup(row.Range.Start), row) {
			continue
		}
		if isBuckets {
			b.WriteString(table.Lookup(row.Range.Start).Hashmask.String())
		} else {
			b.WriteString(row.Range.String())
		}
		fmt.Fprintf(&b, " epoch=%d", row.Epoch)
		if row.Primary != "" {
			b.WriteString(" primary=" + row.Primary)
		}
		if len(row.Backups) > 0 {
			b.WriteString(" backups=" + strings.Join(row.Backups, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sameRow compares what clients are told.
func sameRow(a, b *ring.Row) bool {
	return a.Range == b.Range && a.Epoch == b.Epoch && a.Primary == b.Primary && slices.Equal(a.Backups, b.Backups)
}
