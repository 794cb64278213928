// Package cleaner writes dirty lines of the cache to Pebble.
//
// Headers of whole values, and removals of such keys, go to the log and to the cache, as dirty lines; see
// package cache. A cleaner writes dirty lines to Pebble later, in the order of their places: that costs a
// memtable a third of what the same keys do one by one, and a key that was changed often is written once.
//
// Invariants:
//
//   - Units of single keys read from the cache first, so they need not know. Whoever reads headers of a range
//     from Pebble has its dirty lines cleaned before: see NewIter, and dropLatched and Freeze of store.
//   - The header that Pebble has of a key with a dirty line is of a whole value, or there is none. A header that
//     names entries is written to Pebble in one batch with these, and so is what replaces it. So an iterator
//     over the entries of a value sees the header that belongs to them.
//   - A line becomes dirty while commits is held for reading, and is cleaned while it is held for writing. So
//     nothing changes between what is read of the lines and what Pebble gets.
//   - The log is not cut before all that was dirty then is clean: see flushTables of store.
package cleaner
