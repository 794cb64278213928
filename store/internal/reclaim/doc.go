// Package reclaim merges tables to free space.
//
// What is removed gives its space back when the tables that hold it are merged, which Pebble does when that
// pays for reads and writes. On a disk that has too little free space, writes would be refused until then.
// So as long as the disk is short, the parts of the data from which most was removed are merged, one after
// the other, and only where the result has room.
package reclaim
