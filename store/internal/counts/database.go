package counts

import (
	"slices"
	"sync/atomic"
)

// A databaseCount is what one database from 1 on holds. Slices come in pages, made when something is
// counted in them: most databases hold few keys.
type databaseCount struct {
	number uint16
	total  sliceCount
	// passiveBytes are the bytes in passive slices.
	passiveBytes atomic.Int64
	pages        [256]atomic.Pointer[[256]sliceCount]
}

// database returns the counts of database n, which is at least 1.
func (c *Counts) database(n uint16) *databaseCount {
	p := &c.databases[n]
	if db := p.Load(); db != nil {
		return db
	}
	c.growing.Lock()
	defer c.growing.Unlock()
	db := p.Load()
	if db == nil {
		db = &databaseCount{number: n}
		all := append(slices.Clone(c.countedDatabases()), db)
		c.counted.Store(&all)
		p.Store(db)
	}
	return db
}

// countedDatabases returns those from 1 on of which anything was ever counted, in any order. It must
// not be changed.
func (c *Counts) countedDatabases() []*databaseCount {
	if all := c.counted.Load(); all != nil {
		return *all
	}
	return nil
}

func (db *databaseCount) add(slice uint16, l Load, sign int64, passive bool) {
	p := &db.pages[slice>>8]
	page := p.Load()
	if page == nil {
		p.CompareAndSwap(nil, new([256]sliceCount))
		page = p.Load()
	}
	page[slice&0xff].add(l, sign)
	db.total.add(l, sign)
	if passive {
		db.passiveBytes.Add(sign * l.Bytes)
	}
}

func (db *databaseCount) of(slice uint16) Load {
	if page := db.pages[slice>>8].Load(); page != nil {
		return page[slice&0xff].load()
	}
	return Load{}
}

func (db *databaseCount) each(visit func(slice uint16, l Load)) {
	for i := range db.pages {
		if page := db.pages[i].Load(); page != nil {
			for j := range page {
				visit(uint16(i<<8|j), page[j].load())
			}
		}
	}
}

func (db *databaseCount) reset() {
	db.total.reset()
	db.passiveBytes.Store(0)
	for i := range db.pages {
		if page := db.pages[i].Load(); page != nil {
			for j := range page {
				page[j].reset()
			}
		}
	}
}

// Each calls visit with what each database from 1 on has in a slice, if it has anything.
func (c *Counts) Each(slice uint16, visit func(database uint16, l Load)) {
	for _, db := range c.countedDatabases() {
		if l := db.of(slice); l != (Load{}) {
			visit(db.number, l)
		}
	}
}

// TotalOf returns what one database holds; of database 0 what no other one holds.
func (c *Counts) TotalOf(database int) Load {
	if database != 0 {
		if db := c.databases[database].Load(); db != nil {
			return db.total.load()
		}
		return Load{}
	}
	l := c.Total()
	for _, db := range c.countedDatabases() {
		l.Subtract(db.total.load())
	}
	return l
}

// EachTotal calls visit with what each database holds, if it was ever counted.
func (c *Counts) EachTotal(visit func(database int, l Load)) {
	visit(0, c.TotalOf(0))
	for _, db := range c.countedDatabases() {
		visit(int(db.number), db.total.load())
	}
}

// InSlice returns what one database has in a slice.
func (c *Counts) InSlice(database int, slice uint16) Load {
	if database != 0 {
		if db := c.databases[database].Load(); db != nil {
			return db.of(slice)
		}
		return Load{}
	}
	l := c.Of(slice)
	c.Each(slice, func(_ uint16, other Load) { l.Subtract(other) })
	return l
}
