package counts

import (
	"sync/atomic"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// passive are the slices in which the store follows other stores. What they hold is counted with each
// change, so that what the store holds as a primary is a subtraction. A slice that the end of a range
// cuts belongs to the range of its middle.
//
// A change that is counted while the set of slices changes may be counted wrong; Recount puts that
// right.
type passive struct {
	slices atomic.Pointer[sliceSet] // nil: none
	bytes  atomic.Int64             // of all databases together
}

type sliceSet [1 << 16 / 64]uint64

func (ss *sliceSet) has(slice uint16) bool { return ss[slice/64]&(1<<(slice%64)) != 0 }

// isPassive reports whether a slice is passive.
func (p *passive) isPassive(slice uint16) bool {
	set := p.slices.Load()
	return set != nil && set.has(slice)
}

// SetPassive says in which intervals the store follows others from now on. One caller at a time.
func (c *Counts) SetPassive(sts []layout.Interval) {
	var set *sliceSet
	for _, st := range sts {
		const middle = layout.Place(1) << 47
		for slice := int(layout.SliceOf(st.First)); slice <= int(layout.SliceOf(st.Last)); slice++ {
			at := layout.Place(slice)<<48 | middle
			if at < st.First || at > st.Last {
				continue
			}
			if set == nil {
				set = new(sliceSet)
			}
			set[slice/64] |= 1 << (slice % 64)
		}
	}
	c.passive.slices.Store(set)
	c.Recount()
}

// Recount counts anew what the passive slices hold.
func (c *Counts) Recount() {
	set := c.passive.slices.Load()
	sum := int64(0)
	if set != nil {
		for i := range c.slices {
			if set.has(uint16(i)) {
				sum += c.slices[i].bytes.Load()
			}
		}
	}
	c.passive.bytes.Store(sum)
	for _, db := range c.countedDatabases() {
		sum := int64(0)
		if set != nil {
			db.each(func(slice uint16, l Load) {
				if set.has(slice) {
					sum += l.Bytes
				}
			})
		}
		db.passiveBytes.Store(sum)
	}
}

// ActiveBytes returns the bytes of all databases in slices that are not passive.
func (c *Counts) ActiveBytes() int64 { return c.total.bytes.Load() - c.passive.bytes.Load() }

// ActiveBytesOf is ActiveBytes of one database.
func (c *Counts) ActiveBytesOf(database int) int64 {
	if database != 0 {
		if db := c.databases[database].Load(); db != nil {
			return db.total.bytes.Load() - db.passiveBytes.Load()
		}
		return 0
	}
	sum := c.ActiveBytes()
	for _, db := range c.countedDatabases() {
		sum -= db.total.bytes.Load() - db.passiveBytes.Load()
	}
	return sum
}
